/** Many records below a key: all of them, none of the neighbours, and others get their turn. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gather, GATHER_BATCH } from '../../src/store/gather.js';
import { Store } from '../../src/store/store.js';
import { newVarDir } from '../support/http-var-dir.js';

test('every record below the key is read, and others are served meanwhile', async (context) => {
  const store = await Store.open(newVarDir(context));
  context.after(() => store.close());
  const count = GATHER_BATCH * 2 + 3;
  await store.write(({ put }) => {
    for (let index = 0; index < count; index += 1) {
      put(['x', 'a', String(index).padStart(5, '0')], { v: 1, index });
    }
    for (const account of ['', 'A', 'a\u0001', 'a ', 'aa', 'b']) put(['x', account, '0'], { v: 1 });
    put(['y', 'a', '0'], { v: 1 });
  });
  const read = (record: unknown): number | null => (record as { index: number }).index;
  let turns = 0;
  const counting = setImmediate(function turn() {
    turns += 1;
    setImmediate(turn).unref();
  });
  const found = await gather(store, ['x', 'a'], read);
  clearImmediate(counting);
  assert.deepEqual(
    found,
    Array.from({ length: count }, (_record, index) => index),
  );
  assert.ok(turns > 0);
  assert.deepEqual(await gather(store, ['x', 'none'], read), []);
  assert.equal(
    (
      await gather(store, ['x', 'a'], (record) =>
        (record as { index: number }).index % 2 === 0 ? record : null,
      )
    ).length,
    (count + 1) / 2,
  );
});
