/**
 * Copies the figures of the reference recipe's lists into the project's own rate tables, so that
 * the default recipe needs no publisher's files: `node dist/scripts/write-facts.js <sources>
 * <datasets>` writes facts/rates/<STATE>.tsv, facts/rates/members.tsv and
 * recipes/rates-default.json. The same input gives the same bytes.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceRecord } from '../src/dataset/records.js';
import type { Rate } from '../src/tax/rate.js';
import type { RateRow } from '../src/ingest/model.js';
import { DATE_MIN, DATE_OPEN, type UnplacedCity } from '../src/ingest/rates/list.js';
import { loadRates } from '../src/ingest/rates/load.js';
import { isResolved, type RateList, type RatesRecipe } from '../src/ingest/recipe.js';
import { writeMemberFacts, writeRateFacts } from './fact-tables.js';

/** The table of the provinces, whose codes ("CA-ON") need no file for each. */
const PROVINCES = 'canada';

function tableOf(row: RateRow): string {
  return row.state.startsWith('CA-') ? PROVINCES : row.state;
}

/** Removes repeated rows, since quarterly lists repeat themselves. */
function withoutRepeats(rows: readonly RateRow[]): readonly RateRow[] {
  const seen = new Set<string>();
  return rows.filter((row) => {
    const key = JSON.stringify(row);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/**
 * A row for a listed city without a known boundary, so that no build treats the city as without
 * tax.
 */
function unplacedRow(
  { state, name, county }: UnplacedCity,
  source: SourceRecord | undefined,
): RateRow {
  if (source === undefined) throw new RangeError(`no source for ${name}`);
  return {
    state,
    level: 'city',
    county,
    place: '',
    name,
    code: '',
    basis: 'unknown',
    sales: 0 as Rate,
    use: 0 as Rate,
    from: DATE_MIN,
    to: DATE_OPEN,
    source: source.id,
    asOf: source.asOf,
    note: 'listed as a city; its boundary is not held',
  };
}

function write(sourcesDir: string, datasets: string): void {
  const factsDir = join(datasets, 'facts');
  const recipes = join(datasets, 'recipes');
  const text = readFileSync(join(recipes, 'rates-reference.json'), 'utf8');
  const reference = JSON.parse(text) as RatesRecipe;
  const lists = reference.lists.filter((list) => list.reader !== 'facts' && isResolved(list));
  const fetched = reference.lists.filter((list) => !isResolved(list));
  const facts = reference.lists.filter((list) => list.reader === 'facts');
  const load = loadRates(
    { ...reference, lists },
    {
      factsDir,
      sourcesDir,
      estimated: false,
    },
  );
  const tables = new Map<string, RateRow[]>();
  // Rows that name a place without a boundary are in the lists already.
  const unplaced = load.reports.flatMap(({ unplaced }, at) =>
    unplaced
      .filter(({ place }) => place === '')
      .map(
        (city): RateRow =>
          unplacedRow(
            city,
            load.input.sources.find(({ name }) => name === lists[at]?.source),
          ),
      ),
  );
  for (const row of [...withoutRepeats(load.input.rows), ...unplaced]) {
    const table = tableOf(row);
    const rows = tables.get(table);
    if (rows) rows.push(row);
    else tables.set(table, [row]);
  }
  const sourceName = (id: number): string => load.input.sources[id]?.name ?? '';
  mkdirSync(join(factsDir, 'rates'), { recursive: true });
  const written: RateList[] = [];
  for (const [table, rows] of [...tables].sort((a, b) => (a[0] < b[0] ? -1 : 1))) {
    const path = `rates/${table}.tsv`;
    writeFileSync(join(factsDir, path), writeRateFacts(rows, sourceName));
    written.push({ reader: 'facts', path: `facts/${path}` });
  }
  const members = 'rates/members.tsv';
  writeFileSync(
    join(factsDir, members),
    writeMemberFacts(load.derivedMembers, 'worked out from the list of the state'),
  );
  const recipe: RatesRecipe = {
    ...reference,
    members: [...reference.members, `facts/${members}`],
    lists: [...written, ...fetched, ...facts],
    estimates: [],
  };
  writeFileSync(join(recipes, 'rates-default.json'), `${JSON.stringify(recipe, null, 2)}\n`);
}

const [, , sources, datasets] = process.argv;
if (!sources || !datasets) throw new Error('usage: write-facts <sources folder> <datasets folder>');
write(sources, datasets);
