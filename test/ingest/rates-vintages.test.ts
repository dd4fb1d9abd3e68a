/** Publications of one list at several times, joined into one history. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { loadRates } from '../../src/ingest/rates/load.js';
import type { RateList, RatesRecipe } from '../../src/ingest/recipe.js';
import { ratesFaults } from '../../src/ingest/recipe-check.js';
import { formatRate } from '../../src/tax/rate.js';
import { datasetsDir } from '../../src/ingest/source-files.js';

const FACTS = join(datasetsDir(), 'fixture', 'facts');
const RECIPE = JSON.parse(
  readFileSync(join(datasetsDir(), 'recipes', 'rates-fixture.json'), 'utf8'),
) as RatesRecipe;

const HEADER = 'level\tname\tcode\tfips\tcombined_pct\tlocal_pct\teffective_from\tas_of\n';

function row(level: string, name: string, percent: string, from = ''): string {
  return [level, name, '', '', '', percent, from, ''].join('\t');
}

/** Lists of one state as text, by file. */
type Lists = Readonly<Record<string, readonly string[]>>;

interface Joined {
  readonly rates: readonly string[];
  readonly told: readonly string[];
}

function joined(
  context: TestContext,
  lists: Lists,
  earlier: RateList['earlier'],
  path = 'new.tsv',
): Joined {
  const sourcesDir = mkdtempSync(join(tmpdir(), 'situs-vintages-'));
  context.after(() => rmSync(sourcesDir, { recursive: true, force: true }));
  for (const [name, rows] of Object.entries(lists)) {
    writeFileSync(join(sourcesDir, name), HEADER + rows.join('\n'));
  }
  const recipe: RatesRecipe = {
    ...RECIPE,
    members: [],
    lists: [
      {
        reader: 'coded',
        path,
        source: 'invented',
        state: 'QB',
        ...(earlier === undefined ? {} : { earlier }),
      },
    ],
  };
  const loaded = loadRates(recipe, { factsDir: FACTS, sourcesDir, estimated: false });
  return {
    rates: loaded.input.rows.map(
      ({ name, sales, from, to, asOf }) =>
        `${name} ${formatRate(sales)} ${from}-${to} as of ${asOf}`,
    ),
    told: loaded.reports.flatMap(({ contradictions }) => contradictions),
  };
}

const OLD = { path: 'old.tsv', asOf: '2025-07-01' } as const;

test('the older publication gives the past and the newer one what follows', (context) => {
  const { rates, told } = joined(
    context,
    {
      'old.tsv': [row('county', 'Cedar County', '0.25'), row('city', 'St. Hazel', '1.375')],
      'new.tsv': [row('county', 'Cedar County', '0.5')],
    },
    [OLD],
  );
  assert.deepEqual(rates, [
    'Cedar County 0.0025 20250701-20251231 as of 20250701',
    // The newer list no longer has it: silence of a complete list means that nothing is levied.
    'St. Hazel 0.01375 20250701-20251231 as of 20250701',
    'Cedar County 0.005 20260101-99991231 as of 20260101',
  ]);
  assert.deepEqual(told, []);
});

test('publications join in the order of their days, not of the recipe', (context) => {
  const lists = {
    'a.tsv': [row('county', 'Cedar County', '1')],
    'b.tsv': [row('county', 'Cedar County', '2')],
    'new.tsv': [row('county', 'Cedar County', '3')],
  };
  const [a, b] = [
    { path: 'a.tsv', asOf: '2025-01-01' },
    { path: 'b.tsv', asOf: '2025-04-01' },
  ];
  const { rates } = joined(context, lists, [a, b]);
  assert.deepEqual(
    rates.map((each) => each.replace(/ as of.*/, '')),
    [
      'Cedar County 0.01 20250101-20250331',
      'Cedar County 0.02 20250401-20251231',
      'Cedar County 0.03 20260101-99991231',
    ],
  );
  assert.deepEqual(joined(context, lists, [b, a]).rates, rates);
});

test('what the publications say otherwise of the same days is told, the newest wins', (context) => {
  const { rates, told } = joined(
    context,
    {
      'old.tsv': [row('county', 'Cedar County', '0.25')],
      'new.tsv': [row('county', 'Cedar County', '0.5', '2025-04-01')],
    },
    [OLD],
  );
  assert.deepEqual(told, [
    'Cedar County (county) from 2025-07-01 to 2025-12-31: 0.0025 and 0.005, rate 1 of coded ' +
      'old.tsv#QB and rate 1 of coded new.tsv#QB; the latter holds',
  ]);
  assert.equal(rates.at(-1), 'Cedar County 0.005 20250401-99991231 as of 20260101', 'painted last');
  for (const [percent, from] of [
    ['0.25', '2025-04-01'],
    ['0.5', '2025-10-01'],
  ] as const) {
    const other = joined(
      context,
      {
        'old.tsv': [row('county', 'Cedar County', '0.25')],
        'new.tsv': [row('county', 'Cedar County', percent, from)],
      },
      [OLD],
    );
    assert.deepEqual(other.told, [], 'the same rate, or a change after the older one');
  }
});

test('rows of one list that contradict one another are told as well', (context) => {
  const told = (first: string, second: string): readonly string[] =>
    joined(
      context,
      {
        'new.tsv': [
          row('county', 'Cedar County', '1', first),
          row('county', 'Cedar County', '2', second),
        ],
      },
      undefined,
    ).told;
  assert.deepEqual(told('2024-01-01', '2024-01-01'), [
    'Cedar County (county) from 2024-01-01 on: 0.01 and 0.02, rates 1 and 2 of coded new.tsv#QB; ' +
      'the latter holds',
  ]);
  assert.deepEqual(told('2024-01-01', '2025-01-01'), [], 'a change');
});

test('publications of one day, and days that are none, are refused', (context) => {
  const county = [row('county', 'Cedar County', '1')];
  const lists = { 'old.tsv': county, 'new.tsv': county };
  assert.throws(
    () => joined(context, lists, [{ path: 'old.tsv', asOf: '2026-01-01' }]),
    /both of 2026-01-01: which of them is newer/,
  );
  assert.throws(
    () => joined(context, lists, [{ path: 'old.tsv', asOf: '2026-02-30' }]),
    /old\.tsv: not a date: 2026-02-30/,
  );
  const broken = {
    ...RECIPE,
    lists: [
      {
        reader: 'coded',
        path: 'a',
        source: 'invented',
        state: 'QB',
        earlier: [{ path: 'b', asof: '' }],
      },
    ],
  };
  assert.match(ratesFaults(broken).join(), /asof/);
});
