/** What a rate book answers: completeness, silence, history, totals, districts, estimates. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DATE_MIN } from '../../src/tax/date.js';
import type { ListMark } from '../../src/ingest/rates/facts.js';
import {
  ALPHA,
  area,
  day,
  mark,
  member,
  PARTIAL_CITY,
  percent,
  row,
  SILENT,
  STATE,
  told,
} from './invented-book.js';

test('a jurisdiction without a row in a complete list levies nothing, and its row is there', () => {
  const found = area({ rows: [STATE, ALPHA] }, { place: '9900010' });
  assert.equal(told(found), 'XX 0.05 | ALPHA 0.01 | ARDEN 0 = 0.06');
  assert.equal(found.incorporated, true);
});

test('in a partial list it is unknown, in a sentence with state, level and layer', () => {
  const marks = [mark('county'), PARTIAL_CITY, mark('district')];
  const found = area({ rows: [STATE, ALPHA], marks }, { place: '9900010' });
  assert.equal(
    told(found),
    'city: Xland: no rate is held for Arden city; the newest list would fill it.',
  );
  const estimable = area({ rows: [STATE, ALPHA], marks, estimable: true }, { place: '9900010' });
  assert.match(told(estimable), /; the newest list or the estimated layer would fill it\.$/);
  assert.equal(told(area({ rows: [STATE, ALPHA], marks })), 'XX 0.05 | ALPHA 0.01 = 0.06');
});

test('a state without any mark is unknown below the state', () => {
  assert.match(
    told(area({ rows: [STATE], marks: [] })),
    /^county: Xland: no rate is held for Alpha County/,
  );
});

test('no history before a list begins: unknown, with the day it is held from', () => {
  const found = area({ rows: [STATE, ALPHA] });
  assert.match(told(found, day(20191231)), /Alpha County are held from 2020-01-01 on/);
  assert.equal(told(found, day(20200101)), 'XX 0.05 | ALPHA 0.01 = 0.06');
});

test('a list with full history says that nothing was levied before a row', () => {
  const marks = [
    mark('county', { history: 'full', since: day(20100101) }),
    mark('city'),
    mark('district'),
  ];
  const found = area({ rows: [STATE, ALPHA], marks });
  assert.equal(told(found, day(20150101)), 'XX 0.05 | ALPHA 0 = 0.05');
  assert.match(told(found, day(20091231)), /held from 2010-01-01/);
});

test('a levy that ended is zero afterwards, and later rows win where rows overlap', () => {
  const ended = row('county', '2', { county: '99001', from: day(20210101), to: day(20211231) });
  const found = area({ rows: [STATE, ALPHA, ended] });
  assert.deepEqual(
    [20201231, 20210101, 20211231, 20220101].map((on) => told(found, day(on))),
    [
      'XX 0.05 | ALPHA 0.01 = 0.06',
      'XX 0.05 | ALPHA 0.02 = 0.07',
      'XX 0.05 | ALPHA 0.02 = 0.07',
      'XX 0.05 | ALPHA 0.01 = 0.06',
    ],
  );
  const once = row('county', '1', { county: '99001', to: day(20211231) });
  assert.equal(told(area({ rows: [STATE, once] })), 'XX 0.05 | ALPHA 0 = 0.05');
});

test('a total is split: county, districts, and the rest for the city', () => {
  const city = row('city', '8', { place: '9900010', county: '99001', basis: 'total' });
  const rows = [STATE, ALPHA, city, row('district', '0.5', { code: 'D1', state: 'XX' })];
  const found = area({ rows, members: [member('D1')] }, { place: '9900010' });
  assert.equal(told(found), 'XX 0.05 | ALPHA 0.01 | ARDEN 0.015 | METRO DISTRICT 0.005 = 0.08');
});

test("a city total below the county rate takes the county's place", () => {
  const city = row('city', '5.75', { place: '9900010', county: '99001', basis: 'total' });
  const found = area({ rows: [STATE, ALPHA, city] }, { place: '9900010' });
  assert.equal(told(found), 'XX 0.05 | ALPHA 0.0075 | ARDEN 0 = 0.0575');
});

test('a total is taken apart on a day its list speaks for, not after a later state change', () => {
  const city = row('city', '7', { place: '9900010', basis: 'total' });
  const later = row('state', '6', { from: day(20270701) });
  const found = area({ rows: [STATE, later, ALPHA, city] }, { place: '9900010' });
  assert.equal(told(found, day(20270701)), 'XX 0.06 | ALPHA 0.01 | ARDEN 0.01 = 0.08');
});

test('a city levied alone stands in for its county, known or not', () => {
  const city = row('city', '2', { place: '9900010', basis: 'sole' });
  assert.equal(
    told(area({ rows: [STATE, ALPHA, city] }, { place: '9900010' })),
    'XX 0.05 | ALPHA 0 | ARDEN 0.02 = 0.07',
  );
  const marks = [mark('county', SILENT), mark('city'), mark('district')];
  assert.equal(
    told(area({ rows: [STATE, city], marks }, { place: '9900010' })),
    'XX 0.05 | ALPHA 0 | ARDEN 0.02 = 0.07',
  );
});

test('a county takes another part inside a place, where a row says so', () => {
  const rows = [STATE, row('county', '0.5', { county: '99001', place: '9900010' }), ALPHA];
  assert.equal(
    told(area({ rows }, { place: '9900010' })),
    'XX 0.05 | ALPHA 0.005 | ARDEN 0 = 0.055',
  );
  assert.equal(told(area({ rows })), 'XX 0.05 | ALPHA 0.01 = 0.06');
});

test('a listed jurisdiction whose rate the list withholds is unknown', () => {
  const city = row('city', '0', {
    place: '9900010',
    basis: 'unknown',
    from: DATE_MIN,
    note: 'It varies.',
  });
  assert.equal(
    told(area({ rows: [STATE, ALPHA, city] }, { place: '9900010' })),
    'city: It varies.',
  );
});

test('districts: exceptions, remainders, county parts and days', () => {
  const rows = [STATE, ALPHA, row('district', '1', { code: 'D1' })];
  const outside = [member('D1', { except: ['9900010'] })];
  assert.match(told(area({ rows, members: outside })), /METRO DISTRICT 0.01 = 0.07$/);
  assert.match(told(area({ rows, members: outside }, { place: '9900010' })), /= 0.06$/);
  const remainder = [member('D1', { scope: 'remainder' })];
  assert.match(told(area({ rows, members: remainder })), /= 0.07$/);
  assert.match(told(area({ rows, members: remainder }, { place: '9900010' })), /= 0.06$/);
  const part = [member('D1', { scope: 'place', place: '9900010' })];
  assert.match(told(area({ rows, members: part }, { place: '9900010' })), /= 0.07$/);
  assert.match(
    told(area({ rows, members: part }, { place: '9900010', county: '99002' })),
    /= 0.05$/,
  );
  const ended = area({ rows, members: [member('D1', { to: day(20221231) })] });
  assert.match(told(ended, day(20221231)), /METRO DISTRICT/);
  assert.equal(told(ended), 'XX 0.05 | ALPHA 0.01 = 0.06');
});

test('districts of a tuple add to the facts, and replace them where the list is complete', () => {
  const rows = [
    STATE,
    ALPHA,
    row('district', '1', { code: 'D1' }),
    row('district', '2', { code: 'D2' }),
  ];
  const given = { rows, members: [member('D1')] };
  assert.match(
    told(area(given, { districts: ['D2'] })),
    /METRO DISTRICT 0.01 \| LOCAL DISTRICT: D2 0.02 = 0.09$/,
  );
  assert.match(told(area(given, { districts: ['D2'], complete: true })), /= 0.08$/);
  assert.match(
    told(area({ rows: [STATE, ALPHA] }, { districts: ['D9'] })),
    /no rate is held for the district D9/,
  );
});

test('a complete list that has ended says nothing of districts that levy only since then', () => {
  const rows = [
    STATE,
    ALPHA,
    row('district', '1', { code: 'D1' }),
    row('district', '2', { code: 'D2', from: day(20230401) }),
  ];
  const given = { rows, members: [member('D1'), member('D2')] };
  const until = (last: number) => ({ complete: true, until: day(last) });
  assert.match(told(area(given, until(20230331))), /LOCAL DISTRICT: D2 0.02 = 0.08$/);
  assert.match(told(area(given, until(20230401))), /= 0.06$/);
  const joined = { rows, members: [member('D1', { from: day(20230401) })] };
  assert.match(told(area(joined, until(20230331))), /METRO DISTRICT 0.01 = 0.07$/);
  assert.match(told(area({ rows, members: [] }, until(20230331))), /= 0.06$/);
});

test('a gap refuses the place it names, unless the publisher lists the districts there', () => {
  const gap = row('district', '0', {
    county: '99001',
    basis: 'unknown',
    from: DATE_MIN,
    note: 'Divided.',
  });
  const rows = [STATE, ALPHA, gap];
  assert.equal(told(area({ rows })), 'district: Divided.');
  assert.match(told(area({ rows }, { place: '9900010' })), /= 0.06$/);
  assert.match(told(area({ rows }, { complete: true })), /= 0.06$/);
});

test('a place that cannot be told is refused only where it matters', () => {
  const city = row('city', '2', { place: '9900010' });
  assert.match(
    told(area({ rows: [STATE, ALPHA, city] }, { place: '?' })),
    /place boundaries would fill it/,
  );
  assert.equal(told(area({ rows: [STATE, ALPHA] }, { place: '?' })), 'XX 0.05 | ALPHA 0.01 = 0.06');
  const none = (level: ListMark['level']): ListMark =>
    mark(level, { mark: 'not-levied', since: DATE_MIN, history: 'full' });
  const marks = [none('county'), none('city'), none('district')];
  assert.equal(told(area({ rows: [STATE], marks }, { place: '?', county: '' })), 'XX 0.05 = 0.05');
});

test('a town that cannot be told is refused where towns are listed', () => {
  const rows = [STATE, ALPHA, row('city', '1', { place: '9900100015', name: 'Holm' })];
  assert.match(told(area({ rows })), /town boundaries would fill it/);
  assert.equal(
    told(area({ rows }, { town: '9900100015' })),
    'XX 0.05 | ALPHA 0.01 | HOLM 0.01 = 0.07',
  );
  assert.equal(
    told(area({ rows }, { town: '9900100020' })),
    'XX 0.05 | ALPHA 0.01 | 9900100020 0 = 0.06',
  );
});

test('an independent city is a city without county, and lends its name to the county', () => {
  const rows = [STATE, row('county', '1.5', { county: '99510', name: 'Gamma city' })];
  const found = area({ rows }, { county: '99510' });
  assert.equal(told(found), 'XX 0.05 | GAMMA 0.015 = 0.065');
  assert.deepEqual(
    found.components.map((part) => part.level),
    ['state', 'city'],
  );
  assert.deepEqual(
    [found.countyName, found.placeName, found.incorporated],
    ['Gamma', 'Gamma', true],
  );
});

test("labels and codes: state FIPS, the county's own number, place or publisher's code", () => {
  const rows = [STATE, row('city', '1', { place: '9900010', code: '2227016' })];
  const found = area(
    { rows, members: [member('~X', { county: '99002' })] },
    { place: '9900010', county: '99002' },
  );
  assert.deepEqual(
    found.components.map((part) => [part.jurName, part.jurCode]),
    [
      ['XX', '99'],
      ['BETA', '07'],
      ['ARDEN', '2227016'],
    ],
  );
  const own = row('district', '1', { code: '~X', name: 'Home-made' });
  const labelled = area(
    { rows: [...rows, own], members: [member('~X', { county: '99002' })] },
    { county: '99002' },
  );
  assert.deepEqual(labelled.components.at(-1)?.jurCode, null);
  assert.equal(labelled.components.at(-1)?.jurName, 'HOME-MADE');
});

test('local parts above the cap of the law are refused', () => {
  const rows = [STATE, ALPHA, row('city', '1.5', { place: '9900010' })];
  const caps = [{ state: 'XX', cap: percent('2') }];
  assert.match(told(area({ rows, caps }, { place: '9900010' })), /exceed the cap of the law/);
  assert.equal(told(area({ rows, caps })), 'XX 0.05 | ALPHA 0.01 = 0.06');
});

test('a list whose time has passed is stale and still used', () => {
  const marks = [mark('county', { until: day(20260630) }), mark('city'), mark('district')];
  const found = area({ rows: [STATE, ALPHA], marks });
  assert.deepEqual([found.staleAfter, told(found)], [20260630, 'XX 0.05 | ALPHA 0.01 = 0.06']);
  assert.equal(area({ rows: [STATE, ALPHA] }).staleAfter, 99991231);
});

test('estimates fill what no list says, are flagged, and never replace a list', () => {
  const marks = [mark('county'), PARTIAL_CITY, mark('district')];
  const estimates = [
    row('city', '9', { place: '9900010', county: '99001', basis: 'total', from: day(20260201) }),
    row('county', '4', { county: '99001', from: day(20260201) }),
  ];
  const found = area({ rows: [STATE, ALPHA], marks, estimates }, { place: '9900010' });
  assert.deepEqual(
    [found.estimated, told(found)],
    [true, 'XX 0.05 | ALPHA 0.01 | ARDEN 0.03 = 0.09'],
  );
  assert.match(told(found, day(20260131)), /^city: Xland: no rate is held/);
  const listed = area({ rows: [STATE, ALPHA], marks, estimates });
  assert.deepEqual([listed.estimated, told(listed)], [false, 'XX 0.05 | ALPHA 0.01 = 0.06']);
});

test('the same tuple always gets the same answer', () => {
  assert.deepEqual(area({ rows: [STATE, ALPHA] }), area({ rows: [STATE, ALPHA] }));
});
