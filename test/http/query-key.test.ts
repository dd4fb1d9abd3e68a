/** A key in the query string is found however its name is written, and nothing else is touched. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { presentedKey, withoutKey, withoutSecrets } from '../../src/http/api-key.js';

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

test('what is logged of a query has no key, whatever its name and however that is written', () => {
  const address = 'echo&address=1+Turkey+Rd+%26+Key+St&postalcode=94105';
  assert.equal(withoutSecrets(address), address);
  assert.equal(withoutSecrets(''), '');
  const key = 'a-key-of-the-operator';
  for (const name of [
    ...['key', 'KEY', 'Key', 'apiKey', 'apikey', 'api_key', 'api-key', 'API.KEY', 'x-api-key'],
    ...['X_API_KEY', 'access_token', 'Authorization', 'client_secret', 'password', 'api%zzkey'],
    ...['%61piKey', 'api%4Bey', 'api%5Fkey', 'x%2Dapi%2dkey', '%4b%45%59', '+api+key'],
  ]) {
    assert.equal(withoutSecrets(`${name}=${key}&${address}`), address, name);
    assert.equal(withoutSecrets(`${address}&${name}=${key}%zz`), address, name);
    assert.equal(withoutSecrets(`city=x?${name}=${key}&${address}`), address, name);
    assert.equal(withoutSecrets(`${address}&city=x;${name}=${key}`), address, name);
    assert.equal(withoutSecrets(`city=x%26${name}%3D${key}&${address}`), address, name);
  }
  const made = 'situs_AZaz09-_AZaz09-_AZaz09-_AZaz09-_';
  assert.equal(withoutSecrets(`user=${made}&${address}&${made}`), address);
});
