/** The rate files of the streamlined states, and the list derived from them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NameAlias } from '../../src/ingest/rates/gazetteer.js';
import { brief, read } from '../support/listed-rates.js';

test('sst: levels by type code, open ends, codes of city parts by alias', () => {
  const alias: NameAlias = {
    state: 'XX',
    level: 'city',
    listed: '#77777',
    county: '',
    code: '9900020@99002',
    why: 'part',
  };
  const list = [
    '99,45,99,0.05,0.05,0,0,19800101,29991231',
    '99,00,001,0.01,0.01,0,0,20110101,99991231',
    '99,01,00010,0.005,0.005,0,0,20110101,20201231',
    '99,01,77777,0.02,0.02,0,0,20110101,29991231',
    '99,63,80001,0.0075,0.0075,0,0,20231001,29991231',
    '99,01,12345,0,0,0,0,19800101,29991231',
    '99,01,54321,0.01,0.01,0,0,19800101,29991231',
  ].join('\r\n');
  const { rows, report } = read('sst', list, {}, [alias]);
  assert.deepEqual(brief(rows), [
    'state    own 0.05 19800101 99991231',
    'county 99001   own 0.01 20110101 99991231',
    'city  9900010  own 0.005 20110101 20201231',
    'city 99002 9900020  own 0.02 20110101 99991231',
    'district   80001 own 0.0075 20231001 99991231',
  ]);
  assert.deepEqual([report.dropped.length, report.unmatched.length], [1, 1]);
});

test('sst: another layout is refused, no row of it is guessed at', () => {
  const row = '99,45,99,0.05,0.05,0,0,19800101,20991231';
  assert.deepEqual(brief(read('sst', `${row},\r\n99,0,001, ,,,,20110101,20991231`).rows), [
    'state    own 0.05 19800101 99991231',
  ]);
  for (const text of [
    '',
    'PK,\u0003',
    row.slice(3),
    `${row},extra`,
    row.replace('0.05', 'Rate'),
    'state,type,code,a,b,c,d,from,to',
    row.replaceAll(',', ';'),
  ]) {
    assert.throws(() => read('sst', text), /row 1 is none of a rate file|has no rows/, text);
  }
});

test("sst: types by state, and cities whose rate stands in the place of their county's", () => {
  const of = (...rows: readonly string[]): string =>
    rows.map((row) => `99,${row},0,0,20250101,29991231`).join('\n');
  const kansas = of(
    '45,99,0.065,0.065',
    '00,001,0.01,0.01',
    '01,00010,0.0125,0.0125',
    '63,98001,0.02,0.02',
    '79,11KAN,0.0875,0.0875',
    '79,ALIOL,0.095,0.095',
  );
  assert.deepEqual(brief(read('sst', kansas).rows), [
    'state    own 0.065 20250101 99991231',
    'county 99001   own 0.01 20250101 99991231',
    'city  9900010  own 0.0125 20250101 99991231',
    'district   98001 own 0.02 20250101 99991231',
  ]);
  assert.equal(read('sst', kansas).report.dropped.length, 2);
  // Iowa: counties and cities are zero, the local option is in districts; 199 is no county.
  const iowa = read('sst', of('00,001,0,0', '00,199,0,0', '01,00010,0,0', '63,98201,0.01,0.01'));
  assert.deepEqual([iowa.rows.length, iowa.report.unmatched], [3, ['county 199']]);
  // Oklahoma keeps the zeros of cities; Utah has counties and cities that add up.
  assert.deepEqual(brief(read('sst', of('00,001,0.0035,0.0035', '01,00020,0,0')).rows), [
    'county 99001   own 0.0035 20250101 99991231',
    'city  9900020  own 0 20250101 99991231',
  ]);
  const tennessee = read('sst', of('00,001,0.0225,0.0225', '01,00010,0.0275,0.0275'), {
    cities: 'sole',
  });
  assert.deepEqual(
    tennessee.rows.map(({ level, basis }) => [level, basis]),
    [
      ['county', 'own'],
      ['city', 'sole'],
    ],
  );
  assert.deepEqual(brief(read('sst', of('26,98119,0.01,0.01'), { districts: ['26'] }).rows), [
    'district   98119 own 0.01 20250101 99991231',
  ]);
  assert.deepEqual(read('sst', of('63,20001,0.08375,0.08375'), { without: ['63'] }).rows, []);
});

test('sst-derived: settlements open the remainder, districts hold county-wide or by facts', () => {
  const list = [
    'state\tlevel\tname\tfips\tcombined_pct\tlocal_pct\teffective_from\tas_of\tsource\t' +
      'county_fips\tlocal_total_pct\tnote',
    'XX\tcounty\tAlpha County\t99001\t6\t1\t2022-01-01\t2026-10-01\ts\t99001\t1\t',
    'XX\tcounty\tBeta County\t99002\t7\t\t2022-01-01\t2026-10-01\ts\t99002\t1\t',
    'XX\tcity\tArden\t9900010\t7.5\t1.5\t2022-01-01\t2026-10-01\ts\t99001\t2.5\t',
    'XX\tcity\tCarrow\t9900040\t7.0012\t\t2022-01-01\t2026-10-01\ts\t99001\t\t',
    'XX\tdistrict\tSpringfield\t9900099\t8\t2\t2022-01-01\t2026-10-01\ts\t99001\t3\t',
    'XX\tdistrict\tMetro District\t99001\t6.5\t0.5\t2025-01-01\t2026-10-01\ts\t99001\t1\t' +
      'countywide transit',
    'XX\tdistrict\tMetro District\t99002\t6.5\t0.5\t2025-01-01\t2026-10-01\ts\t99002\t1\t' +
      'part of the county only',
  ].join('\n');
  const { rows, members } = read('sst-derived', list, { basis: 'own' });
  assert.deepEqual(
    [...brief(rows)].sort(),
    [
      'city 99001 9900010  own 0.015 20220101 99991231',
      'city 99001 9900040  unknown ? 10101 99991231',
      'county 99001   own 0.01 20220101 99991231',
      'county 99002   total 0.07 20220101 99991231',
      'district   ~M own 0.005 20250101 99991231',
      'district   ~M own 0.005 20250101 99991231',
      'district 99001   unknown ? 10101 99991231',
    ].sort(),
  );
  assert.deepEqual(
    members.map((member) => [member.code, member.county]),
    [['~M', '99001']],
  );
  assert.equal(read('sst-derived', list, { after: '2024-01-01' }).rows.length, 2);
  // St. Boswell lies in both counties and is named in one.
  const divided =
    `${list}\nXX\tcity\tSt. Boswell\t9900020\t7\t1\t2022-01-01\t2026-10-01\ts\t99001` + '\t2\t';
  const parts = read('sst-derived', divided, { basis: 'own', gapUnlisted: 'parts' });
  assert.deepEqual(
    brief(parts.rows).filter((row) => row.includes('9900020')),
    [
      'city 99002 9900020  unknown ? 10101 99991231',
      'city 99001 9900020  own 0.01 20220101 99991231',
    ],
  );
});
