/** What every store does, wherever its records lie. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { StoreKey } from '../../src/store/format.js';
import { keyBytes, keyOf } from '../../src/store/postgres/replica.js';
import { Store } from '../../src/store/store.js';
import { eventually } from '../support/http-eventually.js';
import { newVarDir } from '../support/http-var-dir.js';
import { newSchema } from '../support/postgres.js';

type Opening = (context: TestContext) => Promise<(() => Promise<Store>) | null>;

/** What opens another handle of the same store: on the same folder, or as another machine. */
const STORES: Readonly<Record<string, Opening>> = {
  'in a folder': async (context) => {
    const varDir = newVarDir(context);
    return () => Store.open(varDir, { url: null });
  },
  'in PostgreSQL': async (context) => {
    const found = await newSchema(context);
    return found === null ? null : () => Store.open(newVarDir(context), { url: found.url });
  },
};

const WORDS = ['', 'a', 'A', 'aa', 'b', 'é', '\uffee', '0', '00', '10', '2', '~', ' '];

/** Keys of several parts, as those of the service: words, digits, hashes, texts of callers. */
function randomKeys(count: number): readonly StoreKey[] {
  let state = 7;
  const next = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor(state / 65_536) % below;
  };
  return Array.from({ length: count }, (_, index) => [
    ['key', 'outbox', 'merchant'][next(3)]!,
    ...Array.from({ length: 1 + next(4) }, () =>
      Array.from({ length: 1 + next(3) }, () => WORDS[next(WORDS.length)]!).join(''),
    ),
    index.toString(36),
  ]);
}

test('bytes of keys are those keys again, in the order of their parts', () => {
  const keys = [
    ...randomKeys(2_000),
    ['a\0b', '\x01'],
    ['a\x01', '\x01\x01b'],
    ['\u{10000}'],
    ['a'],
  ];
  for (const key of keys) assert.deepEqual(keyOf(keyBytes(key)), key);
  const sorted = [
    ['a'],
    ['a', ''],
    ['a', '', 'x'],
    ['a', '\x01'],
    ['a', ' '],
    ['a', 'b'],
    ['a b'],
    ['ab'],
    ['b'],
  ];
  assert.deepEqual(
    [...sorted].reverse().sort((one, other) => Buffer.compare(keyBytes(one), keyBytes(other))),
    sorted,
  );
});

for (const [where, opening] of Object.entries(STORES)) {
  test(`a store ${where}: ranges, in one order`, async (context) => {
    const open = await opening(context);
    if (open === null) return;
    const store = await open();
    context.after(() => store.close());
    const keys = randomKeys(600);
    await store.write(({ put }) => {
      for (const key of keys) put(key, { v: 1, key });
    });
    await store.write(({ remove }) => {
      for (const key of keys.slice(500)) remove(key);
    });
    // LMDB's order, which is stated here: parts by their bytes, fewer before more.
    const held = keys
      .slice(0, 500)
      .map((key) => ({ key, name: keyBytes(key) }))
      .sort((one, other) => Buffer.compare(one.name, other.name))
      .map(({ key }) => key);
    const scanned = store
      .scan(['a'], 1_000)
      .map(({ key }) => key)
      .filter(([kind]) => kind !== 'meta');
    assert.deepEqual(scanned, held);
    for (const prefix of [['key'], ['outbox'], ['merchant'], ['key', 'a'], ['nothing']]) {
      const inside = held.filter((key) => prefix.every((part, at) => key[at] === part));
      assert.deepEqual(store.keys(prefix), inside);
      assert.deepEqual(
        store.list(prefix).map((record) => (record as { key: StoreKey }).key),
        inside,
      );
      assert.deepEqual((store.last(prefix) as { key: StoreKey } | undefined)?.key, inside.at(-1));
      assert.deepEqual(store.list(prefix, 3).length, Math.min(3, inside.length));
      if (inside.length > 2) {
        assert.deepEqual(store.keys(prefix, 1, inside[1]!), [inside[2]]);
      }
    }
    assert.equal(store.entries(), store.scan(null, 10_000).length);
  });

  test(`a store ${where}: a write sees the last, and is undone alone`, async (context) => {
    const open = await opening(context);
    if (open === null) return;
    const stores = [await open(), await open()];
    context.after(() => Promise.all(stores.map((store) => store.close())));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 120 }, (_, index) =>
        stores[index % 2]!.write((transaction) => {
          const count = transaction.get(['count', 'all']) as { n: number } | undefined;
          transaction.put(['count', 'all'], { n: (count?.n ?? 0) + 1 });
          transaction.put(['thing', String(index)], { index });
          assert.deepEqual(transaction.get(['thing', String(index)]), { index });
          if (index % 5 === 0) throw new Error(`no ${index}`);
          return (count?.n ?? 0) + 1;
        }),
      ),
    );
    const counts = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    assert.deepEqual(
      counts.sort((one, other) => one - other),
      Array.from({ length: 96 }, (_, index) => index + 1),
      'one after the other',
    );
    for (const store of stores) {
      await eventually(() => store.list(['thing']).length === 96);
      assert.deepEqual(store.get(['count', 'all']), { n: 96 });
    }
  });

  test(`a store ${where}: others are told, and what is stored stays`, async (context) => {
    const open = await opening(context);
    if (open === null) return;
    const [one, other] = [await open(), await open()];
    let told = 0;
    other.watch(() => {
      told += 1;
    });
    await one.write(({ put }) => put(['thing', 'a'], { v: 1 }));
    await eventually(() => told === 1 && other.get(['thing', 'a']) !== undefined);
    await one.write(({ remove, put }) => {
      remove(['thing', 'a']);
      put(['thing', 'b'], { v: 2 });
    });
    await eventually(() => other.get(['thing', 'a']) === undefined);
    await Promise.all([one.close(), other.close()]);
    const again = await open();
    context.after(() => again.close());
    assert.deepEqual(again.list(['thing']), [{ v: 2 }]);
  });
}
