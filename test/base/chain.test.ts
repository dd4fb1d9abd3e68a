/** Many that wait together. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Chain } from '../../src/base/chain.js';

function all<T>(chain: Chain<T>): readonly T[] {
  const items: T[] = [];
  for (let link = chain.first; link !== null; link = link.behind) items.push(link.item);
  return items;
}

test('they stand in the order they came, wherever one leaves', () => {
  for (const leaving of ['first', 'middle', 'last']) {
    const chain = new Chain<string>();
    const links = ['first', 'middle', 'last'].map((name) => chain.add(name));
    const link = links.find(({ item }) => item === leaving);
    link?.remove();
    // Once more changes nothing.
    link?.remove();
    chain.add('late');
    const rest = ['first', 'middle', 'last', 'late'].filter((name) => name !== leaving);
    assert.deepEqual(all(chain), rest);
  }
});

test('one that all have left begins anew', () => {
  const chain = new Chain<number>();
  const [one, two] = [chain.add(1), chain.add(2)];
  two.remove();
  one.remove();
  assert.equal(chain.first, null);
  chain.add(3);
  assert.deepEqual(all(chain), [3]);
});
