import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

const PROCESS = new URL('../../src/base/process.js', import.meta.url).href;

/** What has memory looked through many times, in a worker and beside it. */
const FILL = `let kept = [];
for (let round = 0; round < 60; round += 1) {
  kept.push(Array.from({ length: 30_000 }, (_, at) => ({ at })));
  if (kept.length > 20) kept.shift();
}`;

/** V8 says that it does not know an option, and a check of its own ends the process. */
test('threads may be told to look through their memory themselves while they do', () => {
  const program = `import { Worker } from 'node:worker_threads';
    import { markOnOwnThreads } from '${PROCESS}';
    ${FILL}
    markOnOwnThreads();
    new Worker(${JSON.stringify(FILL)}, { eval: true }).on('exit', (code) => {
      ${FILL.replaceAll('kept', 'again')}
      console.log('ended', code);
    });`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', program],
    { encoding: 'utf8' },
  );
  assert.deepEqual([status, stdout, stderr], [0, 'ended 0\n', '']);
});
