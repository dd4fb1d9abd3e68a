/** The way of an address, as docs/architecture.md tells it, held against the code. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector/promises';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readAnswers } from '../../src/pool/frame.js';
import { Lane } from '../../src/pool/lane.js';
import { serveLane, type ServeTask } from '../../src/pool/lane-server.js';
import { POOL_DEFAULTS } from '../../src/pool/threads.js';
import { GRANT_ALL } from '../../src/pool/types.js';
import { taskAnswerer } from '../../src/worker.js';
import { BASE_URL } from '../lookup/ask.js';
import { engineOf } from '../support/engine-of.js';
import { importsOf, packageRoot } from '../support/http-source-rules.js';
import { memoryDataset } from '../support/memory-dataset.js';

const ROOT = packageRoot(dirname(fileURLToPath(import.meta.url)));
/** Files of a worker that an address is handed on through, and files that are at work on it. */
const FILES_MAX = 13;
const AT_WORK_MAX = 14;

const TEXT = readFileSync(join(ROOT, 'docs', 'architecture.md'), 'utf8');
const SECTION = /## An address, from socket to bytes\n([\s\S]*?)\n## /.exec(TEXT)?.[1] ?? '';

function pathOf(name: string): string {
  return /^(?:workers|scripts)\//.test(name) ? name : `src/${name}`;
}

/** The numbered files, in order. */
const STEPS = [...SECTION.matchAll(/^\d+\. `([^`]+\.ts)`/gm)].map(([, name = '']) => pathOf(name));

function importedBy(path: string): readonly string[] {
  return importsOf(readFileSync(join(ROOT, path), 'utf8'))
    .filter((from) => from.startsWith('.'))
    .map((from) => normalize(join(dirname(path), from)).replace(/\.js$/, '.ts'));
}

test('an address goes through at most thirteen files, each imported by one before it', () => {
  assert.ok(STEPS.length > 5 && STEPS.length <= FILES_MAX, `${STEPS.length} files`);
  const reached = new Set(STEPS.slice(0, 1));
  for (const path of STEPS) {
    assert.ok(reached.has(path), `${path} is imported by none before it`);
    for (const next of importedBy(path)) reached.add(next);
  }
});

/** Source files of a worker in which a function was called. */
function filesIn({ result }: Profiler.TakePreciseCoverageReturnType): readonly string[] {
  return result.flatMap(({ url, functions }) => {
    const path = /\/((?:src|workers)\/.*)\.js$/.exec(url)?.[1];
    // A module is a function too, which runs when it is loaded.
    const called = functions.some(
      ({ ranges: [whole] }) => whole !== undefined && whole.startOffset > 0 && whole.count > 0,
    );
    return path !== undefined && called ? [`${path}.ts`] : [];
  });
}

/** Leaves the lane, which is served for ever. */
const SERVED = new Error('served');

/**
 * Sends addresses through the two ends of a lane, of which this thread is both, one after the other.
 * `told` runs when the worker tells of an answer, the next request being posted.
 */
function throughLane(addresses: readonly string[], told: () => void): readonly string[] {
  const release = { id: 'any', dir: 'any' };
  const answerTask = taskAnswerer({
    settings: { ...POOL_DEFAULTS.settings, baseUrl: BASE_URL },
    open: () => engineOf(memoryDataset()),
    report: (error) => assert.ifError(error),
  });
  const { requestBytes, answerBytes, tasksPerWorker: slots } = POOL_DEFAULTS;
  const attention = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const texts: string[] = [];
  let serveTask: ServeTask | null = null;
  const lane = new Lane({
    shape: { slots, requestBytes, answerBytes },
    attention,
    serve: (task) => {
      serveTask = task;
      return new Promise(() => undefined);
    },
    woken: () => undefined,
    answered: (_task, answers) =>
      readAnswers(answers, 1, (_, { body }) => texts.push(Buffer.from(body).toString())),
    failed: (_task, reason) => assert.fail(reason),
    ended: () => undefined,
  });
  lane.start();
  assert.ok(serveTask !== null);
  const task: ServeTask = serveTask;
  const waiting = [...addresses];
  const post = (): void => {
    new Int32Array(attention)[0] = 1;
    const asked = { kind: 'lookup', version: 60, grants: GRANT_ALL } as const;
    const payload = waiting.shift()!;
    const request = { ...asked, payload, answered: () => undefined, failed: () => undefined };
    lane.post({ requests: [request], release });
  };
  // What would wake the front end.
  task.port.postMessage = (): void => {
    const isLast = waiting.length === 0;
    if (!isLast) post();
    told();
    if (isLast) throw SERVED;
  };
  post();
  assert.throws(() => serveLane(task, answerTask), SERVED);
  lane.collect();
  lane.stop('served');
  return texts;
}

test('the section names every file that is at work on an address', async () => {
  const named = new Set(
    [...SECTION.matchAll(/`([^`]+\.ts)`/g)].map(([, name = '']) => pathOf(name)),
  );
  for (const path of named) assert.ok(existsSync(join(ROOT, path)), path);
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  // The engine is made with the first request; this is about those that follow. What is counted
  // is taken at once, and begins anew.
  let taken: Promise<Profiler.TakePreciseCoverageReturnType> | null = null;
  const [first = '', second = ''] = throughLane(
    [
      'address=7+Levee+Ln%2C+Fenway%2C+QZ+97002',
      'address=200+Spindle+Center+Dr%2C+Brookmere%2C+QZ+97001',
    ],
    () => {
      taken = session.post('Profiler.takePreciseCoverage');
    },
  );
  assert.ok(taken !== null);
  const files = filesIn(await taken);
  session.disconnect();
  assert.match(first, /"normalizedAddress":"7 Levee Ln/);
  assert.match(second, /"normalizedAddress":"200 Spindle Center Dr/);
  assert.ok(files.length > 12, 'nothing was recorded');
  assert.ok(files.includes('src/pool/lane-server.ts'));
  assert.ok(files.length <= AT_WORK_MAX, `${files.length} files are at work: ${files.join(' ')}`);
  assert.deepEqual(
    files.filter((path) => !named.has(path)),
    [],
  );
});
