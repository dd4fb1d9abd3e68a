/** A key in the query string is found however its name is written, and nothing else is touched. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { presentedKey, withoutKey } from '../../src/http/api-key.js';

/** What the sentence in the documentation says, part by part. */
function plainly(query: string): { readonly key: string; readonly query: string } {
  const named = (part: string): boolean => {
    const [name = ''] = part.split('=', 1);
    try {
      return decodeURIComponent(name.replaceAll('+', ' ')) === 'key';
    } catch {
      return false;
    }
  };
  const parts = query.split('&');
  const keys = parts.filter((part) => named(part) && part.includes('='));
  return {
    // An empty value counts as none.
    key: keys.map((part) => part.slice(part.indexOf('=') + 1)).find((text) => text !== '') ?? '',
    query: parts.filter((part) => !named(part)).join('&'),
  };
}

const piece = fc.constantFrom(
  ...['key', 'k', 'Key', 'keys', 'akey', 'address', '%6b', '%6B', 'ey', '%65', '%79', 'e', 'y'],
  ...['key=', '&key=', '=', '=', '&', '&', '12', 'Turkey', '%', '%zz', '+', 'q'],
);

test('the key of a query and what is left of it', () => {
  let found = 0;
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const query = pieces.join('');
      const wanted = plainly(query);
      const { key, query: left } = presentedKey({ query, header: () => '' });
      assert.equal(left, wanted.query);
      assert.equal(withoutKey(query), wanted.query);
      if (left !== query) found += 1;
      // Escapes in the value are decoded, which the plain reading leaves.
      if (!/[%+]/.test(wanted.key)) assert.equal(key, wanted.key);
    }),
    { numRuns: 5_000, examples: [[['%6b', '%65', '%79', '=', '12']], [['key', '=', '1']]] },
  );
  assert.ok(found > 100, `${found} had a key`);
});
