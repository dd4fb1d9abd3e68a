/** Processes that are killed without warning while they count. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createKey, listKeys } from '../../src/store/keys.js';
import { Store } from '../../src/store/store.js';
import { listUsage } from '../../src/store/usage.js';
import { monthAt } from '../../src/store/usage-month.js';
import { newVarDir } from '../support/http-var-dir.js';

const COUNTER = fileURLToPath(new URL('../support/usage-counter.js', import.meta.url));
const RUN_MS = 1_900;

interface Said {
  readonly at: number;
  readonly counted: number;
}

interface Counter {
  readonly child: ChildProcess;
  readonly said: readonly Said[];
}

async function startCounter(varDir: string, id: string): Promise<Counter> {
  const child = spawn(process.execPath, [COUNTER, varDir, id], { stdio: ['ignore', 'pipe', 2] });
  const said: Said[] = [];
  child.stdout!.on('data', (text: Buffer) => {
    const last = text.toString().trim().split('\n').at(-1);
    said.push({ at: performance.now(), counted: Number(last) });
  });
  await once(child.stdout!, 'data');
  return { child, said };
}

/** Kills a counter; returns what it had counted in all, and a second before. */
async function kill({ child, said }: Counter): Promise<{ before: number; all: number }> {
  const at = performance.now();
  child.kill('SIGKILL');
  await once(child, 'close');
  const before = said.filter((each) => each.at <= at - 1_000).at(-1)?.counted ?? 0;
  return { before, all: (said.at(-1)?.counted ?? 0) + 10 };
}

test('a killed process loses the counts of one second at most, each time', async (context) => {
  const varDir = newVarDir(context);
  const store = await Store.open(varDir);
  context.after(() => store.close());
  const stored = (): number => listUsage(store, monthAt(Date.now()).name)[0]?.core ?? 0;
  for (let time = 0; time < 2; time += 1) {
    store.refresh();
    const from = stored();
    const counter = await startCounter(varDir, 'k');
    await new Promise((resolve) => setTimeout(resolve, RUN_MS));
    const { before, all } = await kill(counter);
    store.refresh();
    const kept = stored() - from;
    assert.ok(before > 0 && kept >= before && kept <= all, `${before} ≤ ${kept} ≤ ${all}`);
  }
});

test('processes that count and one that changes keys do not undo each other', async (context) => {
  const varDir = newVarDir(context);
  const store = await Store.open(varDir);
  context.after(() => store.close());
  const counters = [await startCounter(varDir, 'k'), await startCounter(varDir, 'k')];
  for (let index = 0; index < 20; index += 1) {
    await createKey(store, { text: `key-number-${index}`, plan: 'pro' });
    await new Promise((resolve) => setTimeout(resolve, RUN_MS / 20));
  }
  const ends = await Promise.all(counters.map(kill));
  store.refresh();
  const [record] = listUsage(store, monthAt(Date.now()).name);
  assert.ok(record);
  const [before, all] = [ends[0]!.before + ends[1]!.before, ends[0]!.all + ends[1]!.all];
  assert.ok(record.core >= before && record.core <= all, `${before} ≤ ${record.core} ≤ ${all}`);
  assert.equal(record.geo * 2, record.core);
  assert.equal(listKeys(store).length, 20);
});
