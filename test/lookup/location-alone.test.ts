/** A location without other parameters, which is read in a shorter way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseParameters } from '../../src/api/lookup/query.js';
import { locationAlone, parseQuery } from '../../src/api/lookup/query-answer.js';
import { readParameters } from '../../src/api/lookup/query-string.js';
import { GRANT_ALL, GRANT_GEO } from '../../src/pool/types.js';

test('an address that comes alone is read as it is among other parameters', () => {
  const parts = [
    'a',
    'B1',
    '+',
    '%20',
    '%2C',
    '%2c',
    '%3',
    '%3Z',
    '%Z3',
    '%zz',
    '%00',
    '%7F',
    '%80',
  ];
  parts.push('%C3%A9', '\u00e9', '%09', '%0A', '=', '%', '%2', '%26', '&', '&address=x', ',', '"');
  const texts = parts.flatMap((one) =>
    parts.flatMap((two) => [one + two, `12${one}St${two}`, `${one}x${two}`]),
  );
  texts.push(
    '',
    '+',
    'a'.repeat(100),
    'a'.repeat(101),
    `${'a'.repeat(99)}+`,
    `${'%41'.repeat(100)}`,
  );
  texts.push('%41'.repeat(101), `+${'a'.repeat(100)}`);
  let alone = 0;
  for (const text of texts) {
    const query = `address=${text}`;
    for (const [version, grants] of [
      [60, GRANT_ALL],
      [10, GRANT_ALL],
      [60, GRANT_ALL & ~GRANT_GEO],
    ] as const) {
      const whole = parseParameters(readParameters(query), version, grants);
      assert.deepEqual(parseQuery(query, version, grants), whole, query);
    }
    if (locationAlone(query, 60)?.kind === 'address') alone += 1;
  }
  assert.ok(alone > 100, `${alone} alone`);
});

test('coordinates that come alone are read as they are among other parameters', () => {
  const figures = ['0', '-0', '1', '.5', '5.', '-.5', '-', '.', '', '1.2.3', '1e1', '+1', ' 1'];
  figures.push('%31', '90', '90.000001', '-90', '-90.1', '180', '-180', '180.0000001', '12a');
  figures.push('44.123456', '-73.9876543', '44.1234567890123', '000000000000044', '44=5', '1&x=2');
  let alone = 0;
  for (const lat of figures) {
    for (const lng of figures) {
      for (const query of [`lat=${lat}&lng=${lng}`, `lng=${lng}&lat=${lat}`, `lat=${lat}`]) {
        for (const [version, grants] of [
          [60, GRANT_ALL],
          [50, GRANT_ALL],
          [40, GRANT_ALL],
          [60, GRANT_ALL & ~GRANT_GEO],
        ] as const) {
          const whole = parseParameters(readParameters(query), version, grants);
          assert.deepEqual(parseQuery(query, version, grants), whole, query);
          if (locationAlone(query, version) !== null) alone += 1;
        }
      }
    }
  }
  assert.ok(alone > 100, `${alone} alone`);
});
