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
    // Else they help at the end of each look, while the thread itself stands still.
    ['--trace-concurrent-marking', '--no-parallel-marking', '--input-type=module', '-e', program],
    { encoding: 'utf8' },
  );
  assert.match(told, /^ended 0$/m);
  return told.match(/Starting (?:major )?concurrent/g)?.length ?? 0;
}

/** Where all processors are busy a thread may be done before the others begin. */
const TRIES = 10;

test('threads look through their memory themselves', () => {
  let shared = 0;
  for (let left = TRIES; left > 0 && shared === 0; left -= 1) shared = sharedMarks('');
  assert.ok(shared > 0);
  assert.equal(sharedMarks('markOnOwnThreads();'), 0);
});
