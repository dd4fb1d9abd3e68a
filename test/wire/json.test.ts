import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { jsonMembers, jsonValue, rateOf } from '../../src/wire/tree.js';
import { parseRate } from '../../src/tax/rate.js';

test('strings print as JSON.stringify prints them', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.equal(jsonValue(text), JSON.stringify(text));
    }),
  );
  assert.equal(jsonValue('\ud800 "\\\n'), JSON.stringify('\ud800 "\\\n'));
});

test('members keep their order, decimals their digits', () => {
  const rate = parseRate('0.0775');
  assert.ok(rate !== null);
  assert.equal(
    jsonMembers({ b: rateOf(rate), a: [{ x: null }, { y: true }], c: { d: 1 } }),
    '"b":0.0775,"a":[{"x":null},{"y":true}],"c":{"d":1}',
  );
  assert.equal(jsonValue([]), '[]');
});
