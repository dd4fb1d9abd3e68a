/** A clock that is asked once in a turn of the event loop, where that is busy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TurnClock } from '../../src/base/turn-clock.js';
import { TurnEnd } from '../../src/base/turn-end.js';

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Sources that go on by so many milliseconds with each question. */
function sources(step: number): NonNullable<ConstructorParameters<typeof TurnClock>[0]> {
  let steady = 0;
  let wall = 1_000_000;
  return {
    steady: () => (steady += step),
    wall: () => (wall += 1),
    turnEnd: new TurnEnd(),
  };
}

test('what asks again at once has the time of before, until the turn ends', async () => {
  const clock = new TurnClock(sources(0.01));
  assert.deepEqual([clock.now(), clock.now(), clock.now()], [0.01, 0.02, 0.02]);
  const date = clock.date();
  assert.deepEqual([clock.date(), clock.now()], [date, 0.02]);
  await nextTurn();
  assert.equal(clock.now(), 0.03);
  assert.equal(clock.date(), date + 1, 'its date is that of the next turn');
  await nextTurn();
});

test('what asks rarely has the time of each question, and asks for no end of a turn', () => {
  const clock = new TurnClock({
    ...sources(0.06),
    turnEnd: { last: () => assert.fail('the end of a turn') },
  });
  const times = [clock.now(), clock.now(), clock.now()].map((time) => Math.round(time * 100));
  assert.deepEqual(times, [6, 12, 18]);
  assert.deepEqual([clock.date(), clock.date()], [1_000_001, 1_000_002]);
});

test('the time of a turn is never ahead of the system, and goes on with the next one', async () => {
  const clock = new TurnClock();
  let before = 0;
  for (let turn = 0; turn < 50; turn += 1) {
    const from = performance.now();
    const seen = Array.from({ length: 20 }, () => clock.now());
    const to = performance.now();
    assert.ok(seen.every((time, at) => time >= (seen[at - 1] ?? before) && time <= to));
    assert.ok(seen[0]! >= from, 'a turn begins with its own time');
    assert.ok(Math.abs(clock.date() - Date.now()) < 1_000);
    before = seen.at(-1)!;
    await nextTurn();
  }
});
