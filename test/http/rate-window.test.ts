import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createRateGate } from '../../src/http/rate-limit.js';
import { BucketWindow, ExactWindow, REFUSED, WINDOW_MS } from '../../src/http/rate-window.js';

/** The definition: what was admitted in the 60 s before now. */
class ListWindow {
  #times: number[] = [];

  take(now: number, limit: number): number {
    this.#times = this.#times.filter((at) => at > now - WINDOW_MS);
    if (this.#times.length >= limit) return REFUSED;
    this.#times.push(now);
    return limit - this.#times.length;
  }
}

const STEPS = fc.array(
  fc.record({
    wait: fc.integer({ min: 0, max: 20_000 }),
    limit: fc.constantFrom(1, 3, 70, 200),
  }),
  { maxLength: 300 },
);

test('both windows equal the definition', () => {
  fc.assert(
    fc.property(STEPS, (steps) => {
      const list = new ListWindow();
      const windows = [new ExactWindow(), new BucketWindow(0)];
      let now = 0;
      for (const { wait, limit } of steps) {
        now += wait;
        const expected = list.take(now, limit);
        for (const window of windows) assert.equal(window.take(now, limit), expected);
      }
    }),
  );
});

test('a limit used up at once is free again a minute later, not before', () => {
  const window = new ExactWindow();
  for (let index = 0; index < 10_000; index += 1) {
    assert.equal(window.take(30_000, 10_000), 9_999 - index);
  }
  assert.equal(window.take(30_000 + WINDOW_MS - 1, 10_000), REFUSED);
  assert.equal(window.take(30_000 + WINDOW_MS, 10_000), 9_999);
});

test('a key keeps its window when its rate crosses to buckets and back', () => {
  let now = 1_000.5;
  const gate = createRateGate(() => now);
  assert.equal(gate.take({ id: 'a', rate: 3 }), 2);
  now += 1;
  assert.equal(gate.take({ id: 'a', rate: 200_000 }), 199_998);
  now += 1;
  assert.equal(gate.take({ id: 'a', rate: 3 }), 0);
  assert.equal(gate.take({ id: 'a', rate: 3 }), REFUSED);
  assert.equal(gate.take({ id: 'b', rate: 3 }), 2, 'keys do not share a window');
  now += WINDOW_MS - 2;
  assert.equal(gate.take({ id: 'a', rate: 3 }), 0, 'only the oldest request has left');
});

test('keys in any order have a window each, also as other objects, in one slot, and after they stood empty', () => {
  const low = [
    { id: 'a', rate: 3 },
    { id: 'b', rate: 3 },
    { id: 'c', rate: 5 },
  ];
  const keys = [
    ...low,
    { id: 'a', rate: 5, slot: 0 },
    { id: 'b', rate: 200_000, slot: 7 },
    { ...low[2]!, slot: 7 },
    { ...low[0]!, slot: 8 },
  ];
  const steps = fc.array(
    fc.record({ wait: fc.integer({ min: 0, max: 25_000 }), key: fc.nat(keys.length - 1) }),
    { maxLength: 200 },
  );
  fc.assert(
    fc.property(steps, (asked) => {
      let now = 0;
      const gate = createRateGate(() => now);
      const lists = new Map<string, ListWindow>();
      for (const { wait, key: at } of asked) {
        now += wait;
        const key = keys[at]!;
        const list = lists.get(key.id) ?? new ListWindow();
        lists.set(key.id, list);
        assert.equal(gate.take(key), list.take(now, key.rate));
      }
    }),
  );
});
