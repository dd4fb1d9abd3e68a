/** Readers of publishers' formats, on small invented lists. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGazetteer } from '../../src/ingest/rates/gazetteer.js';
import { brief, COUNTIES, PLACES, read, STATE } from '../support/listed-rates.js';

test('cdtfa: state floor, county-wide part, city and remainder', () => {
  const list = [
    'Location,Rate,Rate_Percent,County,Type,Notes',
    'Arden,0.0725,7.25,Alpha,City,',
    'St. Boswell,0.09,9.0,Alpha,City,',
    'Alpha County,0,0,County,Please see the rows below.,',
    'Alpha County Unincorporated Area,0.08,8.0,Alpha,County,"A note, with a comma"',
    'Beta County,0.0775,7.75,Beta County,County,',
  ].join('\n');
  const { rows, members, report } = read('cdtfa', list, { floor: '7.25', from: '2026-01-01' });
  assert.deepEqual(brief(rows), [
    'county 99001   own 0 20260101 99991231',
    'city  9900010  own 0 20260101 99991231',
    'city  9900020  own 0.0175 20260101 99991231',
    'district 99001  ~99001 own 0.0075 20260101 99991231',
    'county 99002   own 0.005 20260101 99991231',
  ]);
  assert.deepEqual(
    members.map((member) => [member.scope, member.county]),
    [['remainder', '99001']],
  );
  assert.deepEqual([report.read, report.joined, report.dropped.length], [5, 4, 1]);
  const tabs =
    'location\ttype\tcounty\trate\nArden\tCity\tAlpha\t0.08\nAlpha County\tCounty\tAlpha\t0.08\n';
  const older = read('cdtfa', tabs, { floor: '7.25', from: '2026-01-01', to: '2026-03-31' });
  assert.deepEqual(brief(older.rows), [
    'county 99001   own 0.0075 20260101 20260331',
    'city  9900010  own 0 20260101 20260331',
  ]);
});

test('wa-dor: variants become districts and a gap, the last quarter stays open', () => {
  const list = [
    'location_code\tlocation\tstate_rate\tlocal_rate\trta_rate\ttotal_rate\t' +
      'effective_from\teffective_to',
    '100\tALPHA COUNTY NON-RTA\t0.065\t0.02\t0\t0.085\t20260101\t20260331',
    '101\tALPHA COUNTY RTA\t0.065\t0.034\t0\t0.099\t20260101\t20260331',
    '102\tCARROW/BETA\t0.065\t0.03\t0\t0.095\t20260101\t20260331',
    '103\tSOME TRIBE - ALPHA COUNTY\t0.065\t0.02\t0\t0.085\t20260101\t20260331',
  ].join('\n');
  const { rows, report } = read('wa-dor', list);
  assert.deepEqual(brief(rows), [
    'county 99001   own 0.02 20260101 99991231',
    'district   0101 own 0.014 20260101 99991231',
    'district 99001   unknown ? 20260101 99991231',
    'city 99002 9900030  total 0.095 20260101 99991231',
  ]);
  assert.equal(report.dropped.length, 1);
});

test('combined: the silent places of a county have its rate, means are none, parts stay parts', () => {
  const list = [
    'state\tlevel\tname\tfips\tcounty\trate\tkind\teffective_from\teffective_to\tsource',
    'XX\tcounty\tAlpha County\t99001\tAlpha County\t0.085\texact\t2026-07-01\t\ts',
    'XX\tcounty\tBeta County\t99002\tBeta County\t0.0843\tmean\t2026-07-01\t\ts',
    'XX\tcity\tArden\t9900010\tAlpha County\t0.09\texact\t2026-10-01\t\ts',
    'XX\tcity\tArden\t9900010\tAlpha County\t0.089\texact\t2022-01-01\t2026-09-30\ts',
    'XX\tcity\tSt. Boswell\t9900020\tAlpha County\t0.086\texact\t2026-07-01\t\ts',
    'XX\tcity\tSt. Boswell\t9900020\tBeta County\t0.088\texact\t2026-07-01\t\ts',
    'XX\tcity\tNowhere\t9900099\tBeta County\t0.088\texact\t2026-07-01\t\ts',
  ].join('\n');
  const { rows, report } = read('combined', list, { after: '2026-06-30' });
  assert.deepEqual(brief(rows), [
    'county 99001   total 0.085 20260701 99991231',
    // Carrow is silent.
    'city 99001 9900040  total 0.085 20260701 99991231',
    'city 99001 9900020  total 0.086 20260701 99991231',
    'city 99002 9900020  total 0.088 20260701 99991231',
    'city  9900010  total 0.09 20261001 99991231',
  ]);
  assert.deepEqual(report.dropped, [
    'Beta County: a mean of several rates',
    'Arden from 2022-01-01: held in another list',
  ]);
  assert.deepEqual(
    report.unplaced.map(({ name, county }) => [name, county]),
    [['Nowhere', '99002']],
  );
});

test('authority: parents, county parts, placeholder zeros and dates', () => {
  const list = [
    'state\tlevel\tname\trate_pct\teffective_from\teffective_to\tparent',
    'XX\tcounty\tAlpha County\t0.000\t1990-01-01\t\tXland',
    'XX\tcounty\tBeta city\t1.5\t1990-01-01\t\tXland',
    'XX\tcity\tCarrow\t2.000\t1990-01-01\t\tAlpha County',
    'XX\tcity\tSt. Boswell\t1.000\t1990-01-01\t\tAlpha County',
    'XX\tcity\tSt. Boswell (Beta)\t1.250\t1990-01-01\t\tBeta County',
    'XX\tdistrict\tMetro District\t0.375\t1990-01-01\t\tXland',
    'XX\tcity\tNowhere\t1.000\t1990-01-01\t\tAlpha County',
    'YY\tcity\tArden\t9.000\t1990-01-01\t\tAlpha County',
  ].join('\n');
  const { rows, report } = read('authority', list, {
    levels: ['county', 'city', 'district'],
    from: '2026-05-01',
    skipZero: ['county'],
    sole: ['city'],
  });
  assert.deepEqual(brief(rows), [
    'county 99003   own 0.015 20260501 99991231',
    'city  9900040  sole 0.02 20260501 99991231',
    'city 99001 9900020  sole 0.01 20260501 99991231',
    'city 99002 9900020  sole 0.0125 20260501 99991231',
    'district   ~M own 0.00375 20260501 99991231',
  ]);
  assert.deepEqual(
    report.unplaced.map((city) => city.name),
    ['Nowhere'],
  );
  assert.equal(report.dropped.length, 1);
});

test('illinois: legal totals by county part, varying and divided places unknown', () => {
  const list = [
    'state\tlevel\tname\tcode\tfips\tcombined_pct\tlocal_pct\teffective_from\tas_of\tsource',
    'XX\tcounty\tAlpha County\t1\t99001\t7\t\t2015-07-01\t2026-01-01\ts',
    'XX\tcity\tArden (Alpha)\t2\t\t8.25\t\t2016-01-01\t2026-01-01\ts',
    'XX\tcity\tCarrow (Beta)\t3\t\t\t\t2016-01-01\t2026-01-01\ts',
    'XX\tcity\tSt. Boswell (Alpha)\t4\t\t7.6\t\t2016-01-01\t2026-01-01\ts',
    'XX\tcity\tSt. Boswell (Alpha) (lower-rate part)\t5\t\t6.6\t\t2016-01-01\t2026-01-01\ts',
    'XX\tcity\tO Dell (Beta)\t6\t\t7\t\t2016-01-01\t2026-01-01\ts',
    'XX\tcity\tDewitt (Beta)\t7\t\t7\t\t2016-01-01\t2026-01-01\ts',
  ].join('\n');
  assert.deepEqual(brief(read('illinois', list).rows), [
    'county 99001   total 0.07 20150701 99991231',
    'city 99001 9900010  total 0.0825 20160101 99991231',
    'city 99002 9900030  unknown ? 10101 99991231',
    'city 99001 9900020  unknown ? 10101 99991231',
    'city 99002 9900050  total 0.07 20160101 99991231',
    'city 99002 9900060  total 0.07 20160101 99991231',
  ]);
});

test('texas: even areas give members, uneven ones gaps, stray districts open remainders', () => {
  const list = [
    'state\tlevel\tname\tcode\tfips\tcombined_pct\tlocal_pct\teffective_from\tas_of\tsource',
    'XX\tcity\tArden\t2001011\t\t8.25\t1\t\t2024-08-30\ts',
    'XX\tcity\tArden\t2001011\t\t8.25\t1.5\t2025-01-01\t2025-01-01\ts',
    'XX\tcity\tSt. Boswell\t2001022\t\t8.25\t1.5\t\t2024-08-30\ts',
    'XX\tcounty\tAlpha County\t4001001\t\t\t0.5\t\t2024-08-30\ts',
    'XX\tdistrict\tMetro\t3001999\t\t\t0.5\t\t2024-08-30\ts',
    'XX\tdistrict\tESD 1\t5002500\t\t\t1\t\t2024-08-30\ts',
    'XX\tdistrict\tSt. Boswell/ESD 9\t6001600\t\t\t1\t\t2024-08-30\ts',
  ].join('\n');
  const areas = [
    'area\tcounty\tcity_code\tcounty_code\tspd_codes\ttransit_codes\tcombined_pct\tas_of',
    'Arden\tAlpha\t2001011\t4001001\t\t3001999\t8.25\t2024-08-30',
    'St. Boswell\tAlpha\t2001022\t4001001\t\t\t8.25\t2024-08-30',
    'St. Boswell/ESD 9\tAlpha\t6001600\t4001001\t\t\t7.75\t2024-08-30',
    'Hamlet\tAlpha\t\t4001001\t\t\t6.75\t2024-08-30',
  ].join('\n');
  const { rows, members } = read('texas', list, {}, [], { areas });
  assert.deepEqual(brief(rows), [
    'city  9900010 2001011 own 0.01 20240830 99991231',
    'city  9900020 2001022 own 0.015 20240830 99991231',
    'county 99001   own 0.005 20240830 99991231',
    'district   3001999 own 0.005 20240830 99991231',
    'district   5002500 own 0.01 20240830 99991231',
    'city  9900010 2001011 own 0.015 20250101 99991231',
    'district 99002   unknown ? 10101 99991231',
    'district 99002 9900030  unknown ? 10101 99991231',
    'district 99002 9900050  unknown ? 10101 99991231',
    'district 99002 9900060  unknown ? 10101 99991231',
    'district 99001 9900020  unknown ? 10101 99991231',
  ]);
  assert.deepEqual(
    members.map((member) => [member.code, member.place, member.county]),
    [['3001999', '9900010', '99001']],
  );
});

test('colorado: districts named after a county are gaps there unless the city has them all', () => {
  const list = [
    'state\tlevel\tname\tcode\tfips\tcombined_pct\tlocal_pct\teffective_from\tas_of\tsource',
    'XX\tcounty\tAlpha County\t\t99001\t\t0.5\t\t2025-07-12\ts',
    'XX\tcity\tSt. Boswell (Alpha County part)\t\t\t\t3\t\t2025-07-12\ts',
    'XX\tdistrict\tMetro District - Alpha County\t\t99001\t\t1\t\t2025-07-12\ts',
    'XX\tdistrict\tMetro District - Arden\t\t\t\t1\t\t2025-07-12\ts',
  ].join('\n');
  const history = [
    'state\tlevel\tname\tlocal_pct\tas_of',
    'XX\tcounty\tAlpha County\t0.25\t2024-07-01',
  ].join('\n');
  const { rows, members } = read('colorado', list, { decided: ['9900040@99001'] }, [], { history });
  assert.deepEqual(brief(rows), [
    'district 99001   unknown ? 10101 99991231',
    'district 99001 9900020  unknown ? 10101 99991231',
    'county 99001   own 0.0025 20240701 20241231',
    'county 99001   unknown ? 20250101 20250630',
    'county 99001   own 0.005 20250712 99991231',
    'city 99001 9900020  own 0.03 20250712 99991231',
    'district   ~M own 0.01 20250712 99991231',
    'district   ~M own 0.01 20250712 99991231',
  ]);
  assert.deepEqual(
    members.map((member) => member.place),
    ['9900010'],
  );
});

test('colorado: a district of another name refuses its county, and is told where nothing has it', () => {
  const district = (where: string): string =>
    `XX\tdistrict\tHealth - ${where}\t\t\t\t1\t\t2025-07-12\ts`;
  const list = [
    'state\tlevel\tname\tcode\tfips\tcombined_pct\tlocal_pct\teffective_from\tas_of\tsource',
    ...['Far Pass/Alpha', 'Plateau', 'Resort', 'Nowhere'].map(district),
  ].join('\n');
  const options = { decided: ['9900010@99001'], within: ['Plateau@99002'], boxed: ['Resort'] };
  const { rows, report } = read('colorado', list, options);
  assert.deepEqual(
    brief(rows).filter((row) => row.includes('unknown')),
    [
      'district 99001   unknown ? 10101 99991231',
      'district 99001 9900020  unknown ? 10101 99991231',
      'district 99001 9900040  unknown ? 10101 99991231',
      'district 99002   unknown ? 10101 99991231',
      ...['20', '30', '50', '60'].map(
        (end) => `district 99002 99000${end}  unknown ? 10101 99991231`,
      ),
    ],
  );
  assert.deepEqual(report.unmatched, ['Health - Nowhere']);
});

test('coded, town-option, state-rates, provinces, estimated', () => {
  const coded = [
    'state\tlevel\tname\tcode\tfips\tcombined_pct\tlocal_pct\teffective_from\tas_of\tsource',
    'XX\tcity\tArden\t01-100\t\t7.875\t\t\t2022-01-01\ts',
    'XX\tdistrict\tFort\t02\t\t7\t\t\t2022-01-01\ts',
  ].join('\n');
  assert.deepEqual(brief(read('coded', coded, { basis: 'total', to: '2022-06-30' }).rows), [
    'city  9900010  total 0.07875 20220101 20220630',
  ]);
  const towns = 'town\trate_pct\teffective_from\tevidence\nARDEN CITY\t1.0\t\tz\nLOST\t1.0\t\tz';
  assert.deepEqual(brief(read('town-option', towns).rows), [
    'city  9900010  unknown ? 10101 20251231',
    'city  9900010  own 0.01 20260101 99991231',
  ]);
  const states = [
    'state\tfips\tname\teffective_from\teffective_to\tsales_rate_pct\tuse_rate_pct\tnote',
    'XX\t99\tXland\t\t2016-05-31\t4\t4\t',
    'XX\t99\tXland\t2016-06-01\t\t4.5\t4.25\t',
    'YY\t98\tYland\t\t\t0\t0\t',
  ].join('\n');
  const stateRows = read('state-rates', states).rows;
  assert.deepEqual(
    stateRows.map((row) => [row.state, row.sales, row.use, row.from]),
    [
      ['YY', 0, 0, 10101],
      ['XX', 45_000_000, 42_500_000, 20160601],
    ],
  );
  const provinces = [
    'province\tname\tfederal_tax\tfederal_pct\tprovincial_tax\tprovincial_pct\t' +
      'effective_from\teffective_to\tcombined_pct',
    'MB\tManitoba\tGST\t5\tRST\t7\t2019-07-01\t\t12',
  ].join('\n');
  assert.deepEqual(
    read('provinces', provinces).rows.map((row) => [row.state, row.code]),
    [
      ['CA-MB', 'GST'],
      ['CA-MB', 'PST'],
    ],
  );
  const estimated = 'state\tcounty_fips\tcounty_rate\tzips\nXX\t99001\t0.01\t5';
  assert.equal(
    brief(read('estimated', estimated).rows)[0],
    'county 99001   own 0.01 20260101 99991231',
  );
});

test('a malformed figure is an error of the file, never a zero', () => {
  assert.throws(() => read('sst', '99,00,001,abc,0,0,0,20110101,29991231'), RangeError);
  assert.throws(() => read('sst', '99,00,001,0.01,0,0,0,20110231,29991231'), RangeError);
});

test('names join by name, county and incorporation, never by name alone', () => {
  const { city, county } = createGazetteer([STATE], COUNTIES, PLACES, []);
  assert.deepEqual(city('XX', 'Carrow', ''), { kind: 'unmatched' });
  assert.deepEqual(city('XX', 'Carrow', '99001'), {
    kind: 'code',
    code: '9900040',
    county: '99001',
  });
  assert.deepEqual(city('XX', 'Saint Boswell', ''), { kind: 'code', code: '9900020', county: '' });
  assert.deepEqual(county('XX', 'Beta'), { kind: 'unmatched' });
  assert.deepEqual(county('XX', 'Beta city'), { kind: 'code', code: '99003', county: '' });
});
