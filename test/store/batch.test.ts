/** What actions that share a transaction leave, against the same done one by one in a map. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Batch } from '../../src/store/batch.js';
import type { StoreKey } from '../../src/store/format.js';

/** A place to put records that refuses some keys, as LMDB does those that are too long. */
class Place {
  readonly records = new Map<string, string>();
  puts = 0;

  get(key: StoreKey): Buffer | undefined {
    const found = this.records.get(Place.#name(key));
    return found === undefined ? undefined : Buffer.from(found);
  }

  peek(key: StoreKey): Buffer | undefined {
    return this.get(key);
  }

  put(key: StoreKey, value: Buffer): void {
    this.puts += 1;
    this.records.set(Place.#name(key), String(value));
  }

  remove(key: StoreKey): void {
    this.records.delete(Place.#name(key));
  }

  static #name(key: StoreKey): string {
    if (key.join('').length > 1_900) throw new RangeError('too long');
    return JSON.stringify(key);
  }
}

test('random actions, of which some throw, leave what those that did not have done', () => {
  let state = 11;
  const next = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor(state / 65_536) % below;
  };
  for (let round = 0; round < 300; round += 1) {
    const place = new Place();
    let expected = new Map<string, string>();
    for (let key = 0; key < 6; key += 1) {
      place.records.set(JSON.stringify(['k', String(key)]), `was ${key}`);
      expected.set(JSON.stringify(['k', String(key)]), `was ${key}`);
    }
    const batch = new Batch(place);
    for (let action = 0; action < 12; action += 1) {
      const made = new Map(expected);
      const throws = next(3) === 0;
      const outcome = batch.run(() => {
        for (let step = next(6); step >= 0; step -= 1) {
          const key = ['k', String(next(9))];
          const name = JSON.stringify(key);
          const found = batch.get(key);
          assert.equal(found instanceof Buffer ? String(found) : found, made.get(name));
          if (next(4) === 0) batch.flush();
          if (next(3) === 0) {
            batch.change(key, null);
            made.delete(name);
          } else {
            batch.change(key, Buffer.from(`${action}.${step}`));
            made.set(name, `${action}.${step}`);
          }
        }
        if (next(5) === 0) batch.flush();
        if (throws) throw new Error(`no ${action}`);
        return action;
      });
      assert.deepEqual(
        outcome.kind === 'done' ? outcome.result : String(outcome.error),
        throws ? `Error: no ${action}` : action,
      );
      if (!throws) expected = made;
    }
    batch.flush();
    assert.deepEqual(new Map([...place.records].sort()), new Map([...expected].sort()));
  }
});

test('what each action changes is put once', () => {
  const place = new Place();
  const batch = new Batch(place);
  for (let count = 0; count < 50; count += 1) {
    batch.run(() => batch.change(['count'], Buffer.from(String(count))));
  }
  batch.flush();
  assert.deepEqual([place.puts, String(place.get(['count']))], [1, '49']);
});

test('an action is told of a key that the store does not take, and the others go on', () => {
  const place = new Place();
  const batch = new Batch(place);
  batch.run(() => batch.change(['a'], Buffer.from('1')));
  const outcome = batch.run(() => {
    batch.change(['a'], Buffer.from('2'));
    batch.change(['b'], Buffer.from('2'));
    batch.change(['x'.repeat(2_000)], Buffer.from('2'));
  });
  assert.equal(outcome.kind === 'threw' && String(outcome.error), 'RangeError: too long');
  batch.run(() => batch.change(['c'], Buffer.from('3')));
  batch.flush();
  assert.deepEqual(
    [...place.records],
    [
      ['["a"]', '1'],
      ['["c"]', '3'],
    ],
  );
});

test('what was given is at hand until it is put, as the last action left it', () => {
  const batch = new Batch(new Place());
  const key = ['list'];
  const first = Buffer.from('1');
  batch.run(() => batch.change(key, first));
  batch.run(() => {
    batch.change(key, Buffer.from('2'));
    throw new Error('no');
  });
  assert.equal(batch.unstored(key), first);
  batch.run(() => {
    batch.flush();
    batch.change(key, Buffer.from('3'));
    throw new Error('no');
  });
  assert.deepEqual([batch.unstored(key), String(batch.get(key))], [null, '1']);
});

test('keys whose parts run together otherwise are different keys', () => {
  const place = new Place();
  const batch = new Batch(place);
  const keys = [['a', 'b'], ['ab'], ['a\0b'], ['a', '1:b'], ['a1:b'], ['', 'ab']];
  for (const [index, key] of keys.entries()) {
    batch.run(() => batch.change(key, Buffer.from(String(index))));
  }
  assert.deepEqual(
    keys.map((key) => String(batch.get(key))),
    ['0', '1', '2', '3', '4', '5'],
  );
});
