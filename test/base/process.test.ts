import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

const PROCESS = new URL('../../src/base/process.js', import.meta.url).href;

/** Has a worker read more than is collected at once. */
const WORKER = `let kept = [];
for (let round = 0; round < 150; round += 1) {
  kept.push(Array.from({ length: 30_000 }, (_, at) => ({ at })));
  if (kept.length > 40) kept.shift();
}`;

/** How often V8's shared threads begin to look through the memory of a worker. */
function sharedMarks(first: string): number {
  const program = `import { Worker } from 'node:worker_threads';
    import { markOnOwnThreads } from '${PROCESS}';
    ${first}
    new Worker(${JSON.stringify(WORKER)}, { eval: true })
      .on('exit', (code) => console.log('ended', code));`;
  const told = execFileSync(
    process.execPath,
    ['--trace-concurrent-marking', '--input-type=module', '-e', program],
    { encoding: 'utf8' },
  );
  assert.match(told, /^ended 0$/m);
  return told.match(/Starting (?:major )?concurrent/g)?.length ?? 0;
}

/** Where all processors are busy a thread may be done before the others begin. */
const TRIES = 6;

test('threads look through their memory themselves', () => {
  let [own, shared] = [0, 0];
  for (let left = TRIES; left > 0; left -= 1) {
    // At the end of each look the shared threads help while the thread itself stands still.
    own += sharedMarks('markOnOwnThreads();');
    shared += sharedMarks('');
    if (own * 3 < shared) return;
  }
  assert.fail(`${own} times, ${shared} without`);
});
