import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { XMLParser } from 'fast-xml-parser';
import { metricsMembers, usagePercent } from '../../src/api/account/handler.js';
import { API_VERSIONS } from '../../src/wire/tree.js';
import { currentText } from '../../src/wire/response-code.js';

const METRICS = {
  used: { core: 15_595, geo: 4_215, merchant: 120 },
  limits: { core: 1_000_000, geo: 100_000, merchant: 5_000 },
  geoEnabled: true,
  active: true,
  message: 'Ask <us> & "them".',
};

const LEGACY = {
  core_request_count: 15_595,
  core_request_limit: 1_000_000,
  core_usage_percent: 1.5595,
  geo_request_count: 4_215,
  geo_request_limit: 100_000,
  geo_usage_percent: 4.215,
  geo_enabled: true,
  is_active: true,
  message: METRICS.message,
};

const CURRENT = {
  request_count: 15_595,
  request_limit: 1_000_000,
  usage_percent: 1.5595,
  is_active: true,
  message: METRICS.message,
};

function parsed(version: Parameters<typeof metricsMembers>[0]): unknown {
  return JSON.parse(currentText(metricsMembers(version, METRICS), 'json'));
}

test('v60 has its five members, versions before their nine, the plain path all', () => {
  assert.deepEqual(parsed(60), CURRENT);
  for (const version of API_VERSIONS) {
    if (version !== 60) assert.deepEqual(parsed(version), LEGACY);
  }
  assert.deepEqual(parsed(null), {
    ...CURRENT,
    ...LEGACY,
    merchant_request_count: 120,
    merchant_request_limit: 5_000,
    merchant_usage_percent: 2.4,
  });
});

test('XML has the same members in the same order', () => {
  const parser = new XMLParser({ parseTagValue: false, ignoreDeclaration: true });
  for (const version of [null, 40, 60] as const) {
    const xml = currentText(metricsMembers(version, METRICS), 'xml');
    assert.match(xml, /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<response>/);
    const { response } = parser.parse(xml) as { response: object };
    const json = parsed(version) as Readonly<Record<string, unknown>>;
    const texts = Object.entries(json).map(([name, value]) => [name, String(value)]);
    assert.deepEqual(Object.entries(response), texts);
  }
});

test('percentages are decimals, not doubles', () => {
  const cases: readonly (readonly [count: number, limit: number, percent: string])[] = [
    [0, 0, '0'],
    [5, 0, '0'],
    [0, 7, '0'],
    [7, 7, '100'],
    [15, 10, '150'],
    [4_215, 100_000, '4.215'],
    [15_595, 1_000_000, '1.5595'],
    [120, 5_000, '2.4'],
    [57, 1_000, '5.7'],
    [29, 100, '29'],
    [1, 1_000_000_000, '0.0000001'],
    [1, 3, '33.333333333333'],
    [2, 3, '66.666666666667'],
  ];
  for (const [count, limit, percent] of cases) {
    assert.equal(usagePercent(count, limit).decimal, percent);
  }
});

test('a percentage times its limit is the count', () => {
  const number = fc.integer({ min: 1, max: 999_999_999 });
  fc.assert(
    fc.property(number, number, (count, limit) => {
      const { decimal } = usagePercent(count, limit);
      assert.match(decimal, /^(?:0|[1-9]\d*)(?:\.\d{0,11}[1-9])?$/);
      const [whole = '', fraction = ''] = decimal.split('.');
      const scaled = BigInt(whole + fraction.padEnd(12, '0'));
      const off = scaled * BigInt(limit) - BigInt(count) * 100n * 10n ** 12n;
      // Half up at the last place: no further off than half of it.
      assert.ok(2n * off <= BigInt(limit) && 2n * off > -BigInt(limit));
    }),
  );
});
