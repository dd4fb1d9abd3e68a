import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { inOneGo, meanwhile, type Pieces } from '../../src/ingest/progress.js';

/** Takes about a millisecond a piece, and counts them. */
function* counted(pieces: number, done: number[]): Pieces<string> {
  for (let piece = 0; piece < pieces; piece += 1) {
    for (const until = performance.now() + 1; performance.now() < until; );
    done.push(piece);
    yield;
  }
  return 'counted';
}

test('work in pieces has its result in one go, and while something else is under way', async () => {
  assert.equal(inOneGo(counted(3, [])), 'counted');
  const done: number[] = [];
  assert.deepEqual(await meanwhile(Promise.resolve(7), counted(3, done)), [7, 'counted']);
  assert.deepEqual(done, [0, 1, 2]);
});

test('what is under way gets the thread between the pieces', async () => {
  const done: number[] = [];
  let seen = 0;
  const other = (async () => {
    for (let turn = 0; turn < 3; turn += 1) await setImmediate();
    seen = done.length;
  })();
  await meanwhile(other, counted(100, done));
  assert.ok(seen < 60, `it had to wait for ${seen} of 100 pieces`);
});

test('where what is under way fails the work is left, and where the work does it is waited for', async () => {
  const done: number[] = [];
  await assert.rejects(meanwhile(Promise.reject(new Error('torn')), counted(500, done)), /torn/);
  assert.ok(done.length < 100, `${done.length} pieces were done`);
  let ended = false;
  const other = (async () => {
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    ended = true;
  })();
  function* broken(): Pieces<never> {
    yield;
    throw new Error('broken');
  }
  await assert.rejects(meanwhile(other, broken()), /broken/);
  assert.ok(ended);
});
