/**
 * A dataset whose states, codes, product rules and meal taxes are those of the repository's fact
 * tables, over an invented geography: place n of a test is the box of one degree at 10° N, n° E.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Dataset } from '../../src/dataset/dataset.js';
import type { AreaRecord, ComponentRecord, StateRecord } from '../../src/dataset/records.js';
import { readTics, type Tic } from '../../src/engine/product/tic-search.js';
import { datasetsDir, packageRoot } from '../../src/ingest/source-files.js';
import { splitRows } from '../../src/ingest/source/table-text.js';
import { loadStateRecords } from '../../src/ingest/state-facts.js';
import { DATE_MIN, DATE_OPEN } from '../../src/tax/date.js';
import type { Level } from '../../src/tax/jurisdiction.js';
import { parsePercent } from '../../src/tax/rate.js';
import { memoryDataset } from './memory-dataset.js';

export const FACTS_DIR = join(datasetsDir(), 'facts');

/** A table as a build makes it a document. */
export function tableDocument(text: string): readonly Readonly<Record<string, string>>[] {
  const [header = [], ...rows] = splitRows(text, '\t');
  return rows.map((cells) =>
    Object.fromEntries(header.map((column, at) => [column, cells[at] ?? ''])),
  );
}

function factDocument(file: string): readonly Readonly<Record<string, string>>[] {
  return tableDocument(readFileSync(join(FACTS_DIR, file), 'utf8'));
}

export const FACT_DOCUMENTS: ReadonlyMap<string, object> = new Map([
  ['tic', factDocument('tic.tsv')],
  ['products', factDocument('products.tsv')],
  ['meal-tax', factDocument('meal_tax.tsv')],
]);

export const FACT_STATES: readonly StateRecord[] = loadStateRecords(FACTS_DIR, () => 0);

/** Where an answer lies; percentages per level as the test says them. */
export interface FactPlace {
  readonly state: string;
  readonly county?: string;
  readonly placeGeoid?: string;
  readonly percents?: readonly (readonly [Level, string])[];
}

/** What a place levies, in percent: "state 6.5, county 1". */
export function levies(text: string): NonNullable<FactPlace['percents']> {
  return text.split(', ').map((levy) => {
    const [level = '', percent = ''] = levy.split(' ');
    return [level as Level, percent];
  });
}

interface FactOptions {
  /** Documents to add, replace or (null) take away. */
  readonly documents?: Readonly<Record<string, object | null>>;
  readonly layers?: (name: string) => boolean;
}

function areaOf(place: FactPlace, id: number, components: readonly number[]): AreaRecord {
  const { state, county = '', placeGeoid = '' } = place;
  const record = FACT_STATES.find(({ code }) => code === state);
  if (record === undefined) throw new Error(`no state ${state}`);
  return {
    id,
    country: record.country,
    state,
    stateName: record.name,
    stateFips: record.fips,
    countyFips: county,
    countyName: county,
    countyFullName: county,
    placeName: placeGeoid,
    placeGeoid,
    incorporated: placeGeoid !== '',
    components,
    unknown: [],
    staleAfter: DATE_OPEN,
    estimated: false,
  };
}

/** The dataset of some places. */
export function factDataset(places: readonly FactPlace[], options: FactOptions = {}): Dataset {
  const { documents = {}, layers = () => true } = options;
  const components: ComponentRecord[] = [];
  const areas = places.map((place, id) => {
    const ids = (place.percents ?? []).map(([level, percent]) => {
      const rate = parsePercent(percent);
      if (rate === null) throw new Error(`no percentage: ${percent}`);
      const period = {
        from: DATE_MIN,
        to: DATE_OPEN,
        sales: rate,
        use: rate,
        source: 0,
        asOf: DATE_MIN,
      };
      components.push({
        id: components.length,
        level,
        jurName: level,
        jurCode: null,
        kind: null,
        periods: [period],
      });
      return components.length - 1;
    });
    return areaOf(place, id, ids);
  });
  return {
    ...memoryDataset({ areas, components }),
    hasLayer: layers,
    states: () => FACT_STATES,
    state: (code) => FACT_STATES.find((state) => state.code === code) ?? null,
    document: (name) => (name in documents ? documents[name] : FACT_DOCUMENTS.get(name)) ?? null,
  };
}

/** A fact table as the document it becomes. */
export function factRows(name: string): readonly Readonly<Record<string, string>>[] {
  const text = readFileSync(join(packageRoot(), 'datasets', 'facts', name), 'utf8');
  const [header = [], ...rows] = splitRows(text, '\t');
  return rows.map((cells) =>
    Object.fromEntries(header.map((column, at) => [column, cells[at] ?? ''])),
  );
}

/** All codes, with everyday words or without. */
export function realTics(words = true): readonly Tic[] {
  return readTics(factRows('tic.tsv'), words ? factRows('tic_words.tsv') : null);
}
