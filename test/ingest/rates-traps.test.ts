/** Traps of the lists, one test each: what they once broke stays right. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { coverage } from '../../src/ingest/coverage.js';
import type { LoadedRates } from '../../src/ingest/rates/load.js';
import { readTable } from '../../src/ingest/source/table-text.js';
import {
  areaAt,
  FACTS,
  load,
  percentOf,
  placeOf,
  rates,
  SOURCES,
  stale,
  TODAY,
  total,
} from './default-rates.js';

test('trap 1: Washington is of this quarter; aliases join; transit areas refuse', () => {
  assert.equal(total('WA', '53033', 'Seattle city'), '10.55');
  assert.equal(total('WA', '53033', 'Seattle city', 20250115), '10.35');
  assert.equal(stale('WA', '53033', 'Seattle city'), false);
  assert.equal(total('WA', '53005', 'Benton City city'), '8.7');
  assert.equal(total('WA', '53025', 'Coulee City town'), '8.2');
  for (const place of ['Redmond city', 'Bellevue city', '']) {
    assert.equal(total('WA', '53033', place), 'refused');
  }
  const cities = rates.input.places.filter((place) => place.state === 'WA');
  const listed = new Set(
    rates.input.rows.filter((row) => row.state === 'WA').map((row) => row.place),
  );
  assert.deepEqual(
    cities.filter((place) => !listed.has(place.geoid)),
    [],
  );
});

test('trap 2: placeholders are neither dates nor zeros', () => {
  // Dates of 1988, 1990 and 2013 stand for "not known": the lists speak from May 2026 on.
  assert.equal(total('FL', '12086', 'Miami city', 20260101), 'refused');
  assert.equal(total('FL', '12086', 'Miami city'), '7');
  // Over 100 Texas counties levy 0.5 although a list says zero.
  const texas = rates.input.rows.filter(
    (row) => row.state === 'TX' && row.level === 'county' && row.sales > 0,
  );
  assert.ok(texas.length >= 120);
  assert.equal(total('TX', '48373'), '6.75');
  assert.equal(total('NM', '35001'), 'refused');
  // Missouri and Alabama list few of their cities.
  assert.equal(total('MO', '29209', 'Branson West city'), 'refused');
  assert.equal(total('AL', '01115', 'Moody city'), 'refused');
  // A combined area stands in the city's slot: Amarillo's two codes read as the city.
  assert.equal(total('TX', '48375', 'Amarillo city'), '8.25');
  // Sun City and Vail are settlements: their counties' rates hold there.
  assert.equal(total('AZ', '04013'), '6.3');
  assert.ok(
    !rates.input.rows.some((row) => /^(Sun City|Vail)$/.test(row.name) && row.state === 'AZ'),
  );
  assert.equal(total('DC', '11001', 'Washington city'), '7');
});

test('trap 3: California has pointer rows, short names and cities below their county', () => {
  assert.equal(total('CA', '06009', 'Angels city'), '8.75');
  assert.equal(total('CA', '06037', 'Commerce city'), '10.5');
  assert.equal(total('CA', '06079', 'El Paso de Robles (Paso Robles) city'), '8.75');
  assert.equal(total('CA', '06029', 'Shafter city'), '7.25');
  assert.equal(total('CA', '06029'), '8.25');
  assert.equal(total('CA', '06087', 'Capitola city'), '9.25');
  assert.equal(total('CA', '06115', 'Wheatland city'), '7.75');
  const negative = rates.input.rows.filter((row) => row.sales < 0 || row.use < 0);
  assert.deepEqual(negative, []);
});

test('trap 4: a city is itself and no settlement or city of the same name', () => {
  const places = (state: string, name: string): readonly string[] =>
    [
      ...new Set(
        rates.input.rows
          .filter((row) => row.state === state && row.level === 'city' && row.name === name)
          .map((row) => row.place),
      ),
    ].sort();
  assert.deepEqual(places('TX', 'Oak Ridge'), ['4853154', '4853160']);
  assert.equal(total('CA', '06037', 'Burbank city'), '10.5');
  assert.equal(total('TX', '48113', 'Mesquite city'), '8.25');
});

test('trap 5: counties and cities of one name are two', () => {
  assert.equal(total('MD', '24510', 'Baltimore city'), '6');
  assert.equal(total('MO', '29510', 'St. Louis city'), '9.679');
  assert.equal(total('MO', '29189'), '7.738');
  assert.equal(total('VA', '51159'), '5.3');
  assert.equal(total('VA', '51760', 'Richmond city'), '6');
  assert.equal(total('VA', '51059'), '6');
  assert.equal(total('VA', '51600', 'Fairfax city'), '6');
  assert.equal(total('VA', '51067'), '5.3');
  assert.equal(total('VA', '51620', 'Franklin city'), '6');
});

test('trap 6: districts without names or boundaries in rate files are facts', () => {
  assert.equal(total('MN', '27053', 'Minneapolis city'), '9.025');
  assert.equal(total('GA', '13121', 'Roswell city'), '7.75');
  assert.equal(total('GA', '13121', 'Atlanta city'), '8.9');
  assert.equal(total('GA', '13121', 'East Point city'), '8.75');
  assert.equal(total('GA', '13063', 'College Park city'), '9');
  assert.equal(total('WI', '55079', 'Milwaukee city'), '7.9');
  assert.equal(total('WI', '55079', '', 20200301), '5.6');
});

test('trap 7: regions by county, boroughs of New York, no district by ZIP', () => {
  assert.equal(total('VA', '51830', 'Williamsburg city'), '7');
  assert.equal(total('VA', '51610', 'Falls Church city'), '6');
  assert.equal(total('VA', '51683', 'Manassas city'), '6');
  for (const county of ['36005', '36047', '36061', '36081', '36085']) {
    assert.equal(total('NY', county, 'New York city'), '8.875');
  }
  assert.equal(total('NY', '36119', 'Yonkers city'), '8.875');
  assert.equal(total('NY', '36119'), '8.375');
  assert.equal(total('IL', '17031', 'Chicago city'), '10.5');
});

test("trap 8: an independent city is itself in a neighbour's polygon too", () => {
  assert.equal(total('VA', '51059', 'Alexandria city'), '6');
  assert.equal(total('VA', '51087', 'Richmond city'), '6');
  const area = areaAt('51', '51059', placeOf('VA', 'Fairfax city'));
  assert.deepEqual(
    area.components.map((part) => part.level),
    ['state', 'city', 'district'],
  );
  assert.equal(area.countyName, 'Fairfax');
});

test('trap 9: boroughs listed as cities are counties, one row holds in all of Puerto Rico', () => {
  assert.equal(total('AK', '02195'), '6');
  assert.ok(
    rates.input.rows.some(
      (row) => row.state === 'AK' && row.county === '02195' && row.level === 'county',
    ),
  );
  assert.equal(total('AK', '02100'), 'refused', 'the townsite alone has its listed rate');
  assert.equal(total('AK', '02110', 'Juneau city and borough'), '5');
  assert.equal(
    rates.input.rows.filter((row) => row.state === 'PR' && row.level === 'county').length,
    78,
  );
  assert.equal(total('PR', '72127'), '11.5');
});

test("trap 10: Vermont's option is a town's, and without towns only its cities are told", () => {
  assert.equal(total('VT', '50007', 'Burlington city'), '7');
  assert.equal(total('VT', '50007'), 'refused');
  const town = (name: string, county: string): string =>
    rates.input.places.find(
      (place) =>
        place.geoid.length === 10 && place.fullName === name && place.counties[0] === county,
    )?.geoid ?? '';
  assert.equal(total('VT', '50007', '', TODAY, town('Colchester town', '50007')), '7');
  assert.equal(total('VT', '50007', '', TODAY, town('Jericho town', '50007')), '6');
  assert.equal(total('VT', '50021', '', TODAY, town('Rutland town', '50021')), '7');
  // A first day not recorded is not a day before which nothing was levied.
  assert.equal(total('VT', '50007', '', 20260501, town('Williston town', '50007')), 'refused');
});

test('single-rate states need neither county nor place', () => {
  const told = { MA: '6.25', IN: '7', OR: '0', NJ: '6.625', GU: '0' };
  for (const [state, rate] of Object.entries(told)) {
    assert.equal(total(state, '', '?'), rate);
  }
  assert.equal(total('TX', '', '?'), 'refused');
});

test('districts inside a county refuse where no boundary tells', () => {
  assert.equal(total('CO', '08059', 'Lakewood city'), '7.5');
  assert.equal(total('CO', '08035', 'Castle Rock town'), '8.1');
  assert.deepEqual([total('CO', '08001'), total('CO', '08035')], ['4.75', 'refused']);
  assert.equal(total('CO', '08093', 'Fairplay town'), '8.9');
  const divided = [total('CO', '08093'), total('CO', '08119', 'Woodland Park city')];
  assert.deepEqual(divided, ['refused', 'refused']);
  assert.equal(total('OH', '39041', 'Columbus city'), '8');
  assert.equal(total('OH', '39041'), '7');
  assert.equal(total('OH', '39041', '?'), 'refused');
  assert.equal(total('TX', '48201'), 'refused');
  assert.equal(total('IL', '17167', 'Springfield city'), 'refused');
});

test('every state has marks, every row a source and a code of its kind', () => {
  const states = rates.input.states.filter((state) => state.country !== 'CAN');
  for (const state of states) {
    for (const level of ['county', 'city', 'district']) {
      assert.ok(
        rates.input.marks.some((mark) => mark.state === state.code && mark.level === level),
        state.code,
      );
    }
  }
  for (const row of rates.input.rows) {
    assert.ok(rates.input.sources[row.source], row.name);
    if (row.level === 'county')
      assert.ok(rates.gazetteer.countyFact(row.county), `${row.state} ${row.county}`);
    if (row.level === 'city') assert.match(row.place, /^(\d{7}|\d{10})$/);
    if (row.basis === 'unknown') assert.match(row.note ?? '', /\.$/);
  }
  for (const member of rates.input.members) {
    const known = rates.input.rows.some(
      (row) => row.level === 'district' && row.state === member.state && row.code === member.code,
    );
    assert.ok(known, `${member.state} ${member.code} has members and no rate`);
  }
});

test('no component overlaps itself, and every tuple of the country is answered or refused', () => {
  let refused = 0;
  let answered = 0;
  for (const place of rates.input.places) {
    for (const county of place.counties) {
      const town = place.geoid.length === 10 ? place.geoid : '';
      const area = areaAt(place.geoid.slice(0, 2), county, town ? '' : place.geoid, town);
      for (const component of area.components) {
        let last = 0;
        for (const period of component.periods) {
          assert.ok(period.from > last && period.to >= period.from && period.sales >= 0);
          last = period.to;
        }
      }
      if (area.unknown.some(({ to }) => to >= TODAY)) refused += 1;
      else answered += 1;
    }
  }
  // Four places of five are told; the rest lie in states whose lists are partial or missing.
  assert.ok(answered > refused * 4, `${answered} answered, ${refused} refused`);
});

test('coverage names every state with its levels, gaps and what is not supported', () => {
  const states = new Map(coverage(rates).map((state) => [state.state, state]));
  assert.equal(states.size, rates.input.states.length);
  const level = (state: string, name: string) =>
    states.get(state)?.levels.find((entry) => entry.level === name);
  const parishes = level('LA', 'county');
  assert.equal(`${parishes?.completeness} ${parishes?.jurisdictions}`, 'partial 62');
  assert.equal(level('MO', 'city')?.completeness, 'partial');
  assert.equal(level('MA', 'city')?.completeness, 'not-levied');
  const texan = level('TX', 'city');
  assert.deepEqual([texan?.completeness, texan?.until], ['complete', '2024-09-30']);
  for (const state of ['AL', 'TX', 'IL', 'NM', 'AZ', 'NJ', 'WI']) {
    assert.ok(
      states.get(state)?.gaps.some((gap) => gap.startsWith('not supported:')),
      state,
    );
  }
});

test('tables of rates stay below a mebibyte', () => {
  const sizeOf = (file: string): number => statSync(join(FACTS, 'rates', file)).size;
  const large = readdirSync(join(FACTS, 'rates')).filter((file) => sizeOf(file) > 1 << 20);
  assert.deepEqual(large, []);
});

test("the carried facts equal the publishers' files, and every listed figure is told", (t) => {
  if (!existsSync(join(SOURCES, 'local-rates-more'))) return t.skip("no publishers' files at hand");
  const reference = load('rates-reference', SOURCES);
  const placed = new Set(reference.input.places.map(({ geoid }) => geoid));
  // Rows of places that nobody holds are told as unplaced; no spot leads to them.
  const rows = (from: LoadedRates): ReadonlySet<string> =>
    new Set(
      from.input.rows
        .filter(({ place }) => place === '' || placed.has(place))
        .map((row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))),
    );
  assert.deepEqual(rows(rates), rows(reference));
  for (const state of ['AR', 'IA', 'ND', 'NE', 'OK', 'SD', 'WV', 'WY', 'GA', 'NC', 'NV']) {
    const text = readFileSync(join(SOURCES, `local-rates-more/${state}.tsv`), 'utf8');
    const newest = new Map(
      readTable(text, '\t')
        .filter((row) => row.get('level') !== 'district' && row.get('combined_pct') !== '')
        .map((row) => [`${row.get('fips')}@${row.get('county_fips')}`, row]),
    );
    for (const row of newest.values()) {
      const county = row.get('county_fips');
      const place = row.get('level') === 'city' ? row.get('fips') : '';
      const area = areaAt(row.get('fips').slice(0, 2), county, place, '', reference);
      if (area.unknown.some(({ to }) => to >= TODAY)) continue;
      const spot = `${state} ${row.get('name')} ${county}`;
      assert.equal(percentOf(area, TODAY), String(Number(row.get('combined_pct'))), spot);
    }
  }
});

test('the estimated layer answers Louisiana, flagged, and only when switched on', (t) => {
  assert.equal(total('LA', '22023'), 'refused');
  if (!existsSync(join(SOURCES, 'local-rates'))) {
    t.skip('no estimates beside the project');
    return;
  }
  const area = areaAt('22', '22023', '', '', load('rates-reference', SOURCES, true));
  assert.equal(area.estimated, true);
  assert.ok(!area.unknown.some(({ to }) => to >= TODAY));
});
