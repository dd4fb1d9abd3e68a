/** What a recipe may say, and how one that says something else is refused. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseDownloads, readDownloads } from '../../src/ingest/publisher/fetched-folder.js';
import { ratesFaults, recipeFaults } from '../../src/ingest/recipe-check.js';
import { readRecipe } from '../../src/ingest/recipe.js';
import { datasetsDir } from '../../src/ingest/source-files.js';
import { editDistance, nearestName } from '../../src/ingest/spelling.js';

const FOLDER = join(datasetsDir(), 'recipes');

interface Shipped {
  readonly boundaries: readonly { readonly path: string }[];
}

/** A shipped file with one piece of its text changed, which must be there. */
function changed(name: string, was: string, is: string): unknown {
  const text = readFileSync(join(FOLDER, `${name}.json`), 'utf8');
  assert.ok(text.includes(was), was);
  return JSON.parse(text.replace(was, is));
}

test('the recipes that come with the program pass', () => {
  const names = readdirSync(FOLDER).map((name) => name.replace('.json', ''));
  const [recipes, lists] = [['default', 'fixture', 'reference'], ['downloads-reference']];
  for (const name of recipes) assert.equal(readRecipe(name).recipe.name, name);
  for (const name of lists) readDownloads(join(FOLDER, `${name}.json`));
  assert.deepEqual(names.filter((name) => !/^(rates|downloads)-/.test(name)).sort(), recipes);
});

const RATES: readonly (readonly [was: string, is: string, fault: string])[] = [
  ['"texas"', '"texass"', 'lists[24].reader: unknown reader "texass"; did you mean "texas"?'],
  ['"texas"', '"constructor"', 'lists[24].reader: unknown reader "constructor"; there is: '],
  [
    '"reader": "texas"',
    '"raeder": "texas"',
    'lists[24]: unknown key "raeder"; did you mean "reader"?',
  ],
  [
    '"districtNames"',
    '"districtsNames"',
    'unknown key "districtsNames"; did you mean "districtNames"?',
  ],
  [
    '"source": "state-rates"',
    '"sources": "state-rates"',
    'lists[0]: unknown key "sources"; did you mean "source"?',
  ],
  [
    '"exceptCounty"',
    '"exceptCountry"',
    'lists[9].options: unknown key "exceptCountry"; did you mean "exceptCounty"?',
  ],
  [
    '"to": "2022-06-30"',
    '"untill": "2022-06-30"',
    'lists[29].options: unknown key "untill"; there is: basis, to',
  ],
  [
    '"areas": "local',
    '"area": "local',
    'lists[24].files: unknown key "area"; did you mean "areas"?',
  ],
  ['"floor": "7.25"', '"floor": 7.25', 'lists[2].options.floor: expected a string'],
  [
    '"gapUnlisted": "multi"',
    '"gapUnlisted": "multy"',
    'lists[20].options.gapUnlisted: expected multi or noted or parts',
  ],
  [
    '"reader": "estimated"',
    '"reader": "estimate"',
    'estimates[0].reader: unknown reader "estimate"; did you mean "estimated"?',
  ],
  ['"TX": "2"', '"TX": 2', 'caps.TX: expected a string'],
  [
    '"from": "2026-04-01"',
    '"from": "garbage"',
    'lists[3].options.from: expected a day of the calendar, YYYY-MM-DD',
  ],
  [
    '"to": "2022-06-30"',
    '"to": "2022-06-31"',
    'lists[29].options.to: expected a day of the calendar, YYYY-MM-DD',
  ],
  [
    '"after": "2026-06-30"',
    '"after": "June"',
    'lists[5].options.after: expected a day of the calendar, YYYY-MM-DD',
  ],
  [
    '"skipZero": [\n          "county"',
    '"skipZero": [\n          "QQQQ"',
    'lists[30].options.skipZero[0]: expected county or city or district',
  ],
  [
    '"sole": [\n          "city"',
    '"sole": [\n          "town"',
    'lists[30].options.sole[0]: expected county or city or district',
  ],
];

test('a misspelt reader or key of the rates is refused with its place and the nearest name', () => {
  for (const [was, is, fault] of RATES) {
    const [first = ''] = ratesFaults(changed('rates-reference', was, is));
    assert.ok(first.startsWith(fault), `${is}: ${first}`);
  }
});

const RECIPE: readonly (readonly [was: string, is: string, fault: string])[] = [
  [
    '"postalPrefixes"',
    '"postalPrefix"',
    'unknown key "postalPrefix"; did you mean "postalPrefixes"?',
  ],
  ['"counted"', '"count"', 'zips: unknown key "count"; did you mean "counted"?'],
  ['"delivered"', '"deliverd"', 'zips: unknown key "deliverd"; did you mean "delivered"?'],
  ['"template"', '"templete"', 'boundaries[5]: unknown key "templete"; did you mean "template"?'],
  ['"layer": "town"', '"layer": "towns"', 'boundaries[5].layer: expected county or province'],
  [
    '"layout": "e911-sites"',
    '"layout": "e911-site"',
    'points[0].layout: unknown layout "e911-site"; did you mean "e911-sites"?',
  ],
  [
    '"cityIsMunicipality"',
    '"cityIsMunicipalty"',
    'points[2]: unknown key "cityIsMunicipalty"; did you mean "cityIsMunicipality"?',
  ],
  [
    '"layout": "segments"',
    '"layuot": "segments"',
    'ranges[0]: unknown key "layuot"; did you mean "layout"?',
  ],
  ['"state": "MN"', '"sate": "MN"', 'sst[0]: unknown key "sate"; did you mean "state"?'],
  ['"holidays"', '"holiday"', 'documents: unknown key "holiday"; did you mean "holidays"?'],
  ['"facts": "facts",', '', 'facts: expected required property facts'],
  ['"facts": "facts",', '"a.b": "facts",', 'unknown key "a.b"; there is: '],
  ['"facts": "facts",', '"zips.counted": "facts",', 'unknown key "zips.counted"; there is: '],
  [
    '"layer": "town"',
    '"where[0]": "x", "layer": "town"',
    'boundaries[5]: unknown key "where[0]"; did you mean "where"?',
  ],
  [
    '"pattern": "^(?<county>',
    '"pattern": "((',
    'boundaries[5].pattern: expected a regular expression',
  ],
  [
    '"CLASSFP": "^C[125678]$"',
    '"CLASSFP": "^C[125678$"',
    'boundaries[2].where.CLASSFP: expected a regular expression',
  ],
];

test('a misspelt layout or key of a recipe is refused with its place and the nearest name', () => {
  for (const [was, is, fault] of RECIPE) {
    const [first = ''] = recipeFaults(changed('reference', was, is));
    assert.ok(first.startsWith(fault), `${is}: ${first}`);
  }
  assert.deepEqual(recipeFaults([]), ['expected an object']);
});

test('a key that is missing is told, and every fault of a file at once', () => {
  const recipe = { ...(changed('rates-reference', '"caps"', '"cap"') as object), extra: 1 };
  assert.deepEqual(ratesFaults(recipe), [
    'unknown key "cap"; did you mean "caps"?',
    'unknown key "extra"; there is: states, counties, ' +
      'places, tiers, aliases, districtNames, sources, completeness, notSupported, members, ' +
      'lists, estimates, caps, stated, divided',
    'caps: expected required property caps',
  ]);
  const listed = changed('rates-reference', '"path": "ca-cdtfa/cdtfa_rates_2026-01-01.csv",', '');
  assert.deepEqual(ratesFaults(listed), ['lists[2].path: expected required property path']);
});

test('a misspelt key of a download is refused', () => {
  const entry = { path: 'a.csv', url: 'http://example.invalid/a.csv', sha265: 'x' };
  assert.throws(
    () => parseDownloads(JSON.stringify([entry])),
    /^Error: download 1: unknown key "sha265"; did you mean "sha256"\?$/,
  );
});

test('the nearest name is by letters inserted, dropped, replaced or swapped', () => {
  const cases: readonly (readonly [string, string, number])[] = [
    ['', '', 0],
    ['', 'abc', 3],
    ['until', 'untill', 1],
    ['kitten', 'sitting', 3],
    ['raeder', 'reader', 1],
    ['ca', 'abc', 3],
  ];
  for (const [one, other, distance] of cases) {
    assert.equal(editDistance(one, other), distance, `${one} ${other}`);
    assert.equal(editDistance(other, one), distance, `${other} ${one}`);
  }
  assert.equal(nearestName('Path', ['paths', 'path']), 'path');
  assert.equal(nearestName('zzz', ['path', 'state']), null);
  assert.equal(nearestName('x'.repeat(200), ['x'.repeat(199)]), null);
});

test('a recipe may lie anywhere, its rates section beside it or among those of the program', () => {
  const dir = mkdtempSync(join(tmpdir(), 'situs-recipe-'));
  const own = JSON.parse(
    readFileSync(join(datasetsDir(), 'recipes/fixture.json'), 'utf8'),
  ) as object;
  const path = join(dir, 'mine.json');
  writeFileSync(path, JSON.stringify({ ...own, name: 'mine' }));
  const { recipe, rates } = readRecipe(path);
  assert.equal(recipe.name, 'mine');
  assert.deepEqual(rates, readRecipe('fixture').rates);
  writeFileSync(join(dir, recipe.rates), JSON.stringify({ ...rates, caps: { QB: '3' } }));
  assert.deepEqual(readRecipe(path).rates.caps, { QB: '3' });
  assert.throws(
    () => readRecipe(join(dir, 'none.json')),
    /recipe none\.json cannot be read: there is no file .*none\.json$/,
  );
  rmSync(dir, { recursive: true });
});

test('a cap or an entry of what is no state is refused with the nearest one', () => {
  const dir = mkdtempSync(join(tmpdir(), 'situs-recipe-'));
  const { recipe, rates } = readRecipe('fixture');
  const path = join(dir, 'mine.json');
  writeFileSync(path, JSON.stringify(recipe));
  const read = (caps: object): unknown => {
    writeFileSync(join(dir, recipe.rates), JSON.stringify({ ...rates, caps }));
    return readRecipe(path).rates.caps;
  };
  assert.deepEqual(read({ QB: '3' }), { QB: '3' });
  assert.throws(() => read({ QBX: '3', QB: '3', Quebec: '2' }), {
    message:
      'recipe rates-fixture.json: caps: unknown state "QBX"; did you mean "QB"?\n' +
      'recipe rates-fixture.json: caps: unknown state "Quebec"; there is: QA, QB, QC, QD',
  });
  // The law of a province sets no such limit.
  const shipped = { ...recipe, facts: 'facts' };
  writeFileSync(path, JSON.stringify(shipped));
  assert.throws(
    () => read({ 'CA-ON': '2' }),
    /caps: unknown state "CA-ON"; there is: AL, AK, .*, WY[^-]*$/,
  );
  assert.throws(() => read({ TXX: '2' }), /caps: unknown state "TXX"; did you mean "TX"\?$/);
  const [points, ranges] = [recipe.points, recipe.ranges].map((entries) =>
    entries.map((each) => ({ ...each, state: 'QAA' })),
  );
  const [first, ...others] = recipe.boundaries;
  const boundaries = [{ ...first, states: ['91', '9'] }, ...others];
  writeFileSync(path, JSON.stringify({ ...recipe, boundaries }));
  assert.throws(
    () => read({}),
    /^Error: recipe mine.json: boundaries\[0\].states: unknown state "9"/,
  );
  const zips = { ...recipe.zips, counted: ['QB', 'QAA'] };
  writeFileSync(path, JSON.stringify({ ...recipe, points, ranges, zips }));
  assert.throws(() => read({}), {
    message: ['zips.counted', 'points[0].state', 'ranges[0].state']
      .map((place) => `recipe mine.json: ${place}: unknown state "QAA"; did you mean "QA"?`)
      .join('\n'),
  });
  rmSync(dir, { recursive: true });
});

test('a source that neither the table nor the catalogue has is refused with the nearest one', () => {
  const dir = mkdtempSync(join(tmpdir(), 'situs-recipe-'));
  const recipe = changed('reference', '"name": "reference"', '"name": "mine"') as Shipped;
  const rates = changed('rates-reference', '"source": "state-rates"', '"source": "state-rate"');
  const path = join(dir, 'mine.json');
  const write = (own: object, section: unknown): void => {
    writeFileSync(path, JSON.stringify(own));
    writeFileSync(join(dir, 'rates-reference.json'), JSON.stringify(section));
  };
  write(recipe, rates);
  assert.throws(() => readRecipe(path), {
    message:
      'recipe rates-reference.json: lists[0].source: ' +
      'unknown source "state-rate"; did you mean "state-rates"?',
  });
  const boundaries = recipe.boundaries.map((entry) =>
    entry.path.startsWith('catalogue:') ? { ...entry, source: 'tiger-plaice' } : entry,
  );
  const shipped = readRecipe('reference').rates;
  write({ ...recipe, boundaries }, shipped);
  assert.throws(
    () => readRecipe(path),
    /^Error: recipe mine.json: boundaries\[\d\].source: .*; did you mean "tiger-place"\?$/,
  );
  // The source of a file that is no publisher's of the catalogue is the recipe's to name.
  write(recipe, shipped);
  assert.equal(readRecipe(path).recipe.name, 'mine');
  rmSync(dir, { recursive: true });
});
