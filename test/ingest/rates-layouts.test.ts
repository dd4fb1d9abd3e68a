/** Lists of invented states, laid out as docs/datasets.md describes the files of publishers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brief, read, type Read } from '../support/listed-rates.js';

test('wa-quarter with areas: the local part of each location code, the last quarter open, and none outside', () => {
  const csv =
    'Name,Code,State,Local,RTA,Rate,Effective Date,Expiration ' +
    'Date\nARDEN,726,0.065,0.0265,0.014,0.1055,' +
    '20260701,20260930\nARDEN,0726,0.065,0.0275,0.014,0.1065,20261001,20261231\nALPHA COUNTY ' +
    'NON-RTA,4000,0.065,0.024,0,0.089,20261001,20261231\n';
  assert.deepEqual(brief(read('wa-quarter', csv, { areas: true }).rows), [
    'district   0726 own 0.0405 20260701 20260930',
    // Of land in no location nothing is known.
    'district    unknown ? 20260701 99991231',
    'district   0726 own 0.0415 20261001 99991231',
    'district   4000 own 0.024 20261001 99991231',
  ]);
});

test('cdtfa: a city that nobody has drawn is in doubt only where it is taxed otherwise', () => {
  const undrawn = (rate: string): readonly string[] =>
    read(
      'cdtfa',
      `location\ttype\tcounty\trate\nAlpha County\tCounty\tAlpha\t0.08\nNewtown\tCity\tAlpha\t${rate}`,
      { floor: '7.25', from: '2026-01-01' },
    ).report.unplaced.map(({ name, county }) => `${name} ${county}`);
  assert.deepEqual([undrawn('0.08'), undrawn('0.085')], [[], ['Newtown 99001']]);
});

test('al-text: general sales tax of counties and of cities by county, police districts are told', () => {
  const list = [
    '\uFEFFLocality Code,Locality Name,County Number,TaxType,Rate Type,Administered,' +
      'Active Date,Inactive Date,Rate,Indicator,PJ,County Code,PJ_Rate',
    '"7001","ALPHA COUNTY","1","ST","GENER","STATE","20240101","","2.500","","N","","0"',
    '"7002","BETA CO","2","ST","GENER","STATE","20200101","20251231","1","","N","","0"',
    '"9001","ST BOSWELL","1","ST","GENER","SELF","20260901","99991231","3.0","","Y","7001","1.5"',
    '"9001","ST BOSWELL","1","ST","FARM","SELF","20260901","99991231","1.0","","N","7001","0"',
    '"9001","ST BOSWELL","1","RT","GENER","SELF","20260901","99991231","4.0","","N","7001","0"',
    '"9009","NOWHERE","1","ST","GENER","SELF","20260901","","3.0","","N","7001","0"',
  ].join('\r\n');
  const { rows, report } = read('al-text', list);
  assert.deepEqual(brief(rows), [
    'county 99002   own 0.01 20200101 20251231',
    'county 99001   own 0.025 20240101 99991231',
    'city 99001 9900020  own 0.03 20260901 99991231',
  ]);
  assert.deepEqual(
    [report.dropped.length, report.unplaced.map(({ name }) => name)],
    [1, ['NOWHERE']],
  );
  assert.throws(
    () => read('al-text', list.replace('"9001"', '"X001"')),
    /line 4: no locality code/,
  );
  assert.throws(() => read('al-text', list.replace('3.0', 'n/a')), /line 4: not a percentage/);
  assert.throws(() => read('al-text', list.replaceAll('GENER', 'GEN')), /no general sales tax/);
});

test('al-text: what counties take inside cities and outside them', () => {
  const list = (...counties: readonly (readonly [string, string])[]): Read =>
    read(
      'al-text',
      [
        'Locality Code,Locality Name,TaxType,Rate Type,Active Date,Inactive Date,Rate,PJ,County Code',
        ...counties.map(([name, rate], at) => `700${at},${name},ST,GENER,20240101,,${rate},N,`),
        '9001,ARDEN,ST,GENER,20240101,,3,N,7000',
        '9002,ST BOSWELL,ST,GENER,20240101,,4,N,7000',
      ].join('\n'),
    );
  const county = (...counties: readonly (readonly [string, string])[]): readonly string[] =>
    brief(list(...counties).rows.filter(({ level }) => level === 'county')).map((row) =>
      row.replace(/^county 99001 | 20240101 99991231$/g, ''),
    );
  assert.deepEqual(county(['ALPHA COUNTY', '3'], ['ALPHA COUNTY - CL', '1']), [
    '  own 0.03',
    '9900010  own 0.01',
    '9900020  own 0.01',
  ]);
  assert.deepEqual(county(['ALPHA COUNTY', '3'], ['ALPHA CO CL & PJ ARD', '1']), [
    '  own 0.03',
    '9900010  own 0.01',
  ]);
  assert.deepEqual(
    county(
      ['ALPHA COUNTY EXC CL ARDEN', '3'],
      ['ALPHA COUNTY CL ARDEN', '2.5'],
      ['ALPHA COUNTY PJ', '2'],
      ['ALPHA COUNTY UNABATED', '9'],
    ),
    ['  own 0.03', '9900010  own 0.025'],
  );
  assert.deepEqual(county(['ALPHA COUNTY', '2'], ['ALPHA COUNTY CL 4 CITIES', '1']), [
    '  own 0.02',
    '9900010  unknown ?',
    '9900020  unknown ?',
  ]);
  assert.deepEqual(county(['ALPHA COUNTY UNINCORP AREAS', '3'], ['ALPHA COUNTY CL ARDEN', '1']), [
    '  own 0.03',
    '9900010  own 0.01',
    '9900020  unknown ?',
  ]);
  assert.deepEqual(county(['ALPHA COUNTY COUNTY-WIDE TAX', '0.5']), [
    '  unknown ?',
    '9900010  unknown ?',
    '9900020  unknown ?',
  ]);
  assert.match(
    list(['ALPHA COUNTY CL 4 CITIES', '1']).rows.at(-1)!.note!,
    /^Alpha County: its list has "ALPHA COUNTY CL 4 CITIES", which does not say for which/i,
  );
});

test("az-tpt: retail alone; a county's figure includes the state's, a city's does not", () => {
  const list = [
    'RegionCode,RegionName,BusinessCode,BusinessCodesName,TaxRate,TaxRateType,' +
      'RateStartDate,RateEndDate',
    'APA,Alpha,017,Retail,6.1,Percent,9/1/2026,12/31/9999',
    'AR,Arden,017,Retail,2.5,Percent,10/01/2026,12/31/9999',
    'AR,Arden,017,Retail,2,Percent,1/1/2020,9/30/2026',
    'AR,Arden,011,Restaurants,3,Percent,1/1/2020,12/31/9999',
    'ZZQ,Some Reservation,017,Retail,5.6,Percent,1/1/2020,12/31/9999',
  ].join('\n');
  const options = { state: '5.6', counties: ['APA'] };
  const { rows, report } = read('az-tpt', list, options);
  assert.deepEqual(brief(rows), [
    'city  9900010  own 0.02 20200101 20260930',
    'county 99001   own 0.005 20260901 99991231',
    'city  9900010  own 0.025 20261001 99991231',
  ]);
  assert.equal(report.dropped.length, 1);
  assert.throws(
    () => read('az-tpt', list.replace('6.1', '0.5'), options),
    /without the state's part/,
  );
  assert.throws(
    () => read('az-tpt', list.replace('9/1/2026', '2026-09-01'), options),
    /not a date/,
  );
  assert.throws(() => read('az-tpt', list.replaceAll('017', '999'), options), /no row of retail/);
});

test('fl-surtax and va-localities: parts of counties, days of the list', () => {
  const surtax =
    'County,Surtax Rate\nALPHA,1.5%\nBETA COUNTY,0%\n\n' +
    '"* Rates shown above are current as of 9/15/2026",\n';
  assert.deepEqual(brief(read('fl-surtax', surtax).rows), [
    'county 99001   own 0.015 20260915 99991231',
    'county 99002   own 0 20260915 99991231',
  ]);
  assert.throws(
    () => read('fl-surtax', surtax.replace('current as of', '')),
    /current as of M\/D\/YYYY/,
  );
  assert.throws(() => read('fl-surtax', surtax.replace('0%', 'None')), /BETA COUNTY: not a perc/);
  assert.throws(() => read('fl-surtax', surtax.replaceAll('%', '')), /lists no county/);
  const header =
    'State Code (FIPS),"County or City\nCode (FIPS)",Locality Name,' +
    'Total General Sales Tax,Total Food';
  const localities =
    `Virginia,,\n,,\n${header}\n99,1,Alpha County,0.053,0.01\n` +
    '99,3,Beta City,0.07,0.01\n99,9,Nowhere,0.07,0.01\nA note below,,\n';
  const { rows, report } = read('va-localities', localities, {
    state: '0.043',
    from: '2023-07-01',
  });
  assert.deepEqual(brief(rows), [
    'county 99001   own 0.01 20230701 99991231',
    'county 99003   own 0.027 20230701 99991231',
  ]);
  assert.deepEqual(report.unmatched, ['Nowhere (99009)']);
  assert.throws(
    () => read('va-localities', localities.replace('Locality Name', 'Place'), { state: '0.043' }),
    /no header has State Code/,
  );
});
