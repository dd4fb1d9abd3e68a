/** Several processes at random paces on one Redis: what they admitted, judged by the moments alone. */
import assert from 'node:assert/strict';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { eventually } from '../support/http-eventually.js';
import type { NodeOrder } from '../support/limits-node.js';
import { startRedis } from '../support/redis-server.js';

const PROGRAM = fileURLToPath(new URL('../support/limits-node.js', import.meta.url));
const NODES = 4;
const WINDOW_MS = 2_000;
const RATE = 400;
const SECONDS = 8;

interface Answered {
  /** The earliest and the latest moment of the answer. */
  readonly from: number;
  readonly to: number;
  readonly admitted: boolean;
  /** Without a question. */
  readonly ahead: boolean;
}

function readAnswers(file: string): readonly Answered[] {
  // The last line of a process that was killed may be cut.
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const [from = 0, to = 0, admitted, ahead] = line.split(' ').map(Number);
      return { from, to, admitted: admitted === 1, ahead: ahead === 1 };
    });
}

/** The most requests that certainly were admitted within one window. */
function fullest(answers: readonly Answered[]): number {
  const admitted = answers.filter((one) => one.admitted).sort((one, other) => one.to - other.to);
  let most = 0;
  for (const [index, { to }] of admitted.entries()) {
    let count = 0;
    for (let at = index; at >= 0 && admitted[at]!.to > to - WINDOW_MS; at -= 1) {
      if (admitted[at]!.from > to - WINDOW_MS) count += 1;
    }
    most = Math.max(most, count);
  }
  return most;
}

test('over processes that come, stand still and are killed no window has more', async (context) => {
  const redis = await startRedis(context);
  if (redis === null) return;
  const dir = mkdtempSync(join(tmpdir(), 'situs-limits-'));
  const files: string[] = [];
  const start = (seconds: number): ChildProcess => {
    const file = join(dir, `node-${files.length}`);
    files.push(file);
    const order: NodeOrder = {
      url: `unix://${redis.socket}`,
      windowMs: WINDOW_MS,
      rate: RATE,
      seconds,
      file,
    };
    return fork(PROGRAM, [JSON.stringify(order)], { execArgv: [] });
  };
  const children = Array.from({ length: NODES }, () => start(SECONDS));
  context.after(() => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
  });
  const ended = children.slice(1).map((child) => once(child, 'exit'));
  // They have begun to ask.
  for (const file of files)
    await eventually(() => existsSync(file) && readAnswers(file).length > 9);
  await sleep(SECONDS * 250);
  children[0]!.kill('SIGKILL');
  children[1]!.kill('SIGSTOP');
  const next = start(SECONDS / 2);
  children.push(next);
  ended.push(once(next, 'exit'));
  // Longer than those who count wait for a word about what is held.
  await sleep(2_500);
  children[1]!.kill('SIGCONT');
  assert.deepEqual(
    await Promise.all(ended),
    ended.map(() => [0, null]),
  );
  const answers = files.flatMap(readAnswers);
  const had = answers.filter(({ admitted }) => admitted);
  const most = fullest(answers);
  const ahead = had.filter((one) => one.ahead).length;
  context.diagnostic(
    `${answers.length} requests, ${had.length} admitted, ${ahead} of them ahead; ` +
      `the fullest window ${most} of ${RATE}`,
  );
  assert.ok(most <= RATE, `${most} of ${RATE}`);
  assert.ok(ahead > had.length / 20, 'some were admitted from what was held');
  assert.ok(answers.length > had.length * 1.2, 'some were refused');
  const windows = (SECONDS * 1_000) / WINDOW_MS;
  assert.ok(had.length > 0.75 * RATE * windows, `${had.length} of ${RATE * windows}`);
});
