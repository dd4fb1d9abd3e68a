/** Border cells that are kept: each its own, the oldest lost, none where that does not pay. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeptLeaves } from '../../src/dataset/kept-leaves.js';

const lengthOf = (number: number): number => 20 + (number % 60);

/** Asks for a cell as the index does; whether it was kept. Its integers must be its own. */
function ask(kept: KeptLeaves, number: number, length = lengthOf(number)): boolean {
  const found = kept.find(number);
  if (!found) {
    const cell = Int32Array.from({ length }, (_, at) => number * 7 + at);
    kept.add(number, new Uint8Array(cell.buffer));
  }
  const { cells, from } = kept;
  for (let at = 0; at < length; at += 1) assert.equal(cells[from + at], number * 7 + at);
  return found;
}

test('a cell is found again, also number 0 and one whose integers are numbers of others', () => {
  const kept = new KeptLeaves();
  for (const number of [0, 1, 7, 8, 14, 131_072, 262_144 + 7]) {
    assert.equal(ask(kept, number), false, `${number} is new`);
    assert.equal(ask(kept, number), true, `${number} is kept`);
  }
  assert.equal(kept.find(2), false);
  assert.equal(kept.find(131_072 + 1), false);
});

test('of two that share a place the last one is found', () => {
  const kept = new KeptLeaves();
  ask(kept, 5);
  ask(kept, 5 + 131_072);
  assert.equal(kept.find(5 + 131_072), true);
  assert.equal(kept.find(5), false);
});

test('of more than there is room for, the oldest are lost and none becomes another', () => {
  const kept = new KeptLeaves();
  const count = 100_000;
  let passed = 0;
  for (let number = 0; number < count; number += 1) {
    assert.equal(ask(kept, number), false);
    if (!ask(kept, number)) passed += 1;
  }
  assert.ok(passed < 10, `${passed} met a generation that was full`);
  let found = 0;
  for (let number = 0; number < count; number += 1) if (kept.find(number)) found += 1;
  assert.ok(found > 20_000 && found < 45_000, `${found} of ${count} are kept`);
  for (let number = count - 1_000; number < count; number += 1) assert.ok(ask(kept, number));
});

test('none is kept for a while where hardly one is asked for again', () => {
  const kept = new KeptLeaves();
  for (let number = 0; number < 22_000; number += 1) ask(kept, number);
  assert.equal(ask(kept, 1), false);
  assert.equal(ask(kept, 1), false);
  for (let asked = 0; asked < 1_000_000; asked += 1) kept.find(2);
  assert.equal(ask(kept, 3), false);
  assert.equal(ask(kept, 3), true);
});

test('a cell that is as large as many is handed out, and not kept', () => {
  const kept = new KeptLeaves();
  assert.equal(ask(kept, 9, 70_000), false);
  assert.equal(ask(kept, 9, 70_000), false);
  assert.equal(ask(kept, 10), false);
  assert.equal(ask(kept, 10), true);
});
