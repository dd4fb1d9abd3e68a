/** For which days a fetched list speaks, and what it leaves of the lists of its recipe. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readInput } from '../../src/ingest/build-input.js';
import { FileSums } from '../../src/ingest/file-sums.js';
import { readCatalogue, wantedOf } from '../../src/ingest/publisher/catalogue.js';
import { publishedFor } from '../../src/ingest/publisher/held-files.js';
import type { FetchRecord } from '../../src/ingest/publisher/fetched-folder.js';
import type { RateRow } from '../../src/ingest/model.js';
import type { ListMark } from '../../src/ingest/rates/facts.js';
import { type HeldList, settleHeld } from '../../src/ingest/rates/held.js';
import { readRecipe } from '../../src/ingest/recipe.js';
import { DATE_OPEN, type DateInt } from '../../src/tax/date.js';
import type { Rate } from '../../src/tax/rate.js';

const WANTED = new Map(
  readCatalogue()
    .flatMap(wantedOf)
    .map((one) => [one.key, one]),
);

function days(key: string, url: string, more: Partial<FetchRecord> = {}): readonly number[] {
  const wanted = WANTED.get(key) ?? assert.fail(key);
  const { asOf, until } = publishedFor(wanted, {
    path: `${key}/${url.split('/').at(-1)}`,
    url,
    bytes: 1,
    sha256: '',
    etag: '',
    lastModified: '',
    fetchedOn: '2026-11-20',
    checkedOn: '2026-11-22',
    ...more,
  });
  return [asOf, until];
}

test('a file speaks for the days in its name, else from its day to the end of its rhythm', () => {
  const sst = 'https://www.streamlinedsalestax.org/ratesandboundry/Rates/';
  assert.deepEqual(days('sst-rates/MN', `${sst}MNR2026Q4AUG18.zip`), [20260818, 20261231]);
  // The same bytes under the name of a later quarter hold for longer.
  assert.deepEqual(
    days('sst-rates/MN', `${sst}MNR2027Q1NOV20.zip`, { path: 'sst-rates/MNR2026Q4AUG18.zip' }),
    [20260818, 20270331],
  );
  assert.deepEqual(
    days('az-rates', 'https://azdor.gov/x/TPT_RATETABLE_ALL_09012026.csv'),
    [20260901, 20260930],
  );
  assert.deepEqual(days('wa-rates', 'https://dor.wa.gov/x/Rates_26Q4.zip'), [20261001, 20261231]);
  const texas = 'https://comptroller.texas.gov/data/edi/sales-tax/taxrates.txt';
  const lastModified = 'Mon, 05 Oct 2026 00:00:00 GMT';
  assert.deepEqual(days('tx-rates', texas, { lastModified }), [20261005, 20261231]);
  assert.deepEqual(days('tx-rates', texas), [20261120, 20261231]);
  // No set time: until the quarter ends in which its publisher was asked.
  assert.deepEqual(
    days('va-rates', 'https://x.org/a.xlsx', { lastModified }),
    [20261005, 20261231],
  );
  assert.deepEqual(days('geonames-us', 'https://x.org/US.zip', { lastModified }), [
    20261005,
    DATE_OPEN,
  ]);
});

const FIRST = 7;

type Fields = Partial<Record<keyof RateRow, unknown>>;

function row(source: number, place: string, more: Fields): RateRow {
  return {
    state: 'QA',
    level: 'city',
    county: '',
    place,
    name: place,
    code: '',
    basis: 'own',
    sales: source as Rate,
    use: source as Rate,
    from: 20200101 as DateInt,
    to: DATE_OPEN,
    source,
    asOf: 20260101 as DateInt,
    ...more,
  } as RateRow;
}

function mark(until: number): ListMark {
  return {
    state: 'QA',
    level: 'city',
    mark: 'complete',
    unlisted: 'nothing',
    since: 20200101 as DateInt,
    history: 'full',
    until: until as DateInt,
    source: 1,
    fill: '',
    gap: '',
  };
}

function list(asOf: number, until: number): HeldList {
  return {
    name: `held-${asOf}`,
    publisher: '',
    licence: '',
    asOf: asOf as DateInt,
    state: 'QA',
    until: until as DateInt,
    rhythm: 'quarterly',
    levels: ['city'],
  };
}

function told(rows: readonly RateRow[]): readonly string[] {
  return rows.map(({ place, source, from, to }) => `${place} ${source} ${from} ${to}`);
}

test('what a newer list does not name ends with its first day; what is announced stays', () => {
  const { rows, marks } = settleHeld(
    [
      row(1, 'KEPT', {}),
      row(1, 'GONE', {}),
      row(1, 'LATER', { from: 20270101 }),
      row(1, 'PAST', { to: 20241231 }),
      row(1, 'COUNTY', { level: 'county' }),
      row(1, 'ELSEWHERE', { state: 'QB' }),
      row(FIRST, 'KEPT', { from: 20250101 }),
      row(FIRST, 'MOVED', { from: 20261101 }),
      row(1, 'MOVED', {}),
    ],
    [mark(20260930)],
    [list(20261001, 20261231)],
    FIRST,
  );
  assert.deepEqual(told(rows), [
    'KEPT 1 20200101 20260930',
    'GONE 1 20200101 20260930',
    'LATER 1 20270101 99991231',
    'PAST 1 20200101 20241231',
    'COUNTY 1 20200101 99991231',
    'ELSEWHERE 1 20200101 99991231',
    'KEPT 7 20250101 99991231',
    'MOVED 7 20261101 99991231',
    'MOVED 1 20200101 20261031',
  ]);
  assert.deepEqual(
    marks.map(({ source, until }) => [source, until]),
    [[FIRST, 20261231]],
  );
});

test('what a list lacks is unknown where a name in it joined to nothing', () => {
  const strange = (unmatched: string[], names: string[]) =>
    settleHeld(
      [
        row(1, 'KEPT', {}),
        row(1, 'GONE', {}),
        row(1, 'PAST', { to: 20241231 }),
        row(1, 'ZERO', { sales: 0, use: 0 }),
        row(FIRST, 'KEPT', { from: 20250101 }),
      ],
      [mark(20260930)],
      [list(20261001, 20261231)],
      FIRST,
      new Map([
        [
          'held-20261001',
          {
            unmatched,
            unplaced: names.map((name) => ({ state: 'QA', name, place: '', county: '' })),
          },
        ],
      ]),
    ).rows.filter(({ basis }) => basis === 'unknown');
  assert.deepEqual(strange([], []), []);
  for (const [unmatched, names] of [
    [['GONNE'], []],
    [[], ['GONNE']],
  ] as const) {
    const gaps = strange([...unmatched], [...names]);
    assert.deepEqual(told(gaps), [`GONE ${FIRST} 20261001 99991231`]);
    assert.match(gaps[0]?.note ?? '', /does not name it, and names GONNE, which is no place held/);
  }
});

test('of a level that nothing was held of, a list holds a part until its last day', () => {
  const none: ListMark = { ...mark(DATE_OPEN), mark: 'none' };
  const marks = (level: string) =>
    settleHeld([row(FIRST, 'A', { level })], [none], [list(20261001, 20261231)], FIRST).marks.map(
      ({ mark: own, until }) => [own, until],
    );
  assert.deepEqual(marks('city'), [['partial', 20261231]]);
  assert.deepEqual(marks('county'), [['none', DATE_OPEN]]);
});

test('a list that names rates of the period after its own has been published for that', () => {
  const of = (from: number): number | undefined =>
    settleHeld([row(FIRST, 'A', { from })], [mark(20260630)], [list(20260920, 20260930)], FIRST)
      .marks[0]?.until;
  assert.deepEqual([of(20260801), of(20261001), of(20270401)], [20260930, 20261231, 20260930]);
});

test('a list older than what the recipe has stands back, and that is told', () => {
  const settled = settleHeld(
    [row(1, 'A', {}), row(FIRST, 'A', {})],
    [mark(20261231)],
    [list(20260401, 20260630)],
    FIRST,
  );
  assert.deepEqual(told(settled.rows), ['A 7 20200101 99991231', 'A 1 20200101 99991231']);
  assert.deepEqual(settled.marks, [mark(20261231)]);
  assert.match(settled.lines[0] ?? '', /held-20260401 is of 2026-04-01: older than .* of QA/);
});

test('a build tells of a list that is older than what its recipe has', async () => {
  const told: string[] = [];
  const older = { ...list(20240101, 20240331), state: 'QB' };
  const options = {
    varDir: '',
    recipe: { ...readRecipe('fixture'), lists: [older] },
    sources: null,
    layers: [],
    progress: () => undefined,
    report: (line: string) => told.push(line),
  };
  await readInput(options, new FileSums(null));
  assert.deepEqual(
    told.filter((line) => line.includes(older.name)),
    ['held-20240101 is of 2024-01-01: older than what the recipe has of QB, which holds'],
  );
});

test('of two fetched lists the one for later days ends the other', () => {
  const { rows } = settleHeld(
    [row(FIRST, 'A', {}), row(FIRST + 1, 'B', { from: 20261001 })],
    [mark(DATE_OPEN)],
    [list(20260701, 20260930), list(20261001, 20261231)],
    FIRST,
  );
  assert.deepEqual(told(rows), ['A 7 20200101 20260930', 'B 8 20261001 99991231']);
});
