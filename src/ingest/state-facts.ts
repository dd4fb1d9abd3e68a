/** Fact tables: states, provinces and territories with their rules, and documents of a release. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceRecord, StateRecord, StateRuleRecord } from '../dataset/records.js';
import { toMicrodegrees } from '../geo/microdegrees.js';
import { DATE_MIN, DATE_OPEN, type DateInt, parseDate } from '../tax/date.js';
import { COUNTRIES } from '../tax/jurisdiction.js';
import type { AreaRegistry } from './area-registry.js';
import type { Documents } from './layer/lay.js';
import { type CountyFact, readCounties, type StateName } from './rates/facts.js';
import type { Recipe } from './recipe.js';
import type { SourceFiles } from './source-files.js';
import { readTable, splitRows, type TableRow } from './source/table-text.js';
import type { ZipFacts } from './zip/zip-facts.js';

/** A line of states.tsv. */
export interface StateFact extends StateName {
  readonly timeZone: string;
  /** Whether every spot lies in a city or town, so that no land belongs to the county alone. */
  readonly allMunicipal: boolean;
}

/** Adds a source, and returns its index in the dataset's list. */
type AddSource = (source: Omit<SourceRecord, 'id'>) => number;

const STATES = 'states.tsv';
const FREIGHT = 'freight.tsv';
const SERVICES = 'services.tsv';
const SOURCING = 'sourcing.tsv';

type Freight = Pick<
  StateRuleRecord,
  'freightTaxable' | 'freightRule' | 'freightExemptWhenSeparatelyStated' | 'freightDescription'
>;
type Service = Pick<StateRuleRecord, 'serviceTaxable'>;
type Sourcing = Pick<StateRuleRecord, 'sourcing' | 'sourcingDescription'>;

/** Reads states.tsv: states, territories and provinces with two-letter codes. */
export function loadStates(factsDir: string): StateFact[] {
  return readFacts(factsDir, STATES).map((row) => ({
    code: row.get('state'),
    fips: row.get('fips'),
    name: row.get('name'),
    country: oneOf(STATES, row, 'country', COUNTRIES),
    timeZone: row.get('time_zone'),
    allMunicipal: oneOf(STATES, row, 'all_municipal', ['yes', 'no']) === 'yes',
  }));
}

/** Reads county_names.tsv. */
export function loadCounties(factsDir: string): readonly CountyFact[] {
  return readCounties(factsText(factsDir, 'county_names.tsv'));
}

function spells<T>(
  file: string,
  rows: readonly TableRow[],
  read: (row: TableRow) => T,
): Map<string, Spell<T>[]> {
  const byState = new Map<string, Spell<T>[]>();
  for (const row of rows) {
    const state = row.get('state');
    const from = dateCell(file, row, 'effective_from', DATE_MIN);
    const to = dateCell(file, row, 'effective_to', DATE_OPEN);
    const list = byState.get(state) ?? [];
    list.push({ from, to, value: read(row) });
    byState.set(state, list);
  }
  return byState;
}

function freight(row: TableRow): Freight {
  return {
    freightTaxable: oneOf(FREIGHT, row, 'taxable', ['Y', 'N']),
    freightRule: oneOf(FREIGHT, row, 'rule', [
      'EXEMPT',
      'EXEMPT_WHEN_SEPARATELY_STATED',
      'ITEM_SPECIFIC',
      'CONDITIONAL',
      'TAXABLE',
    ]),
    freightExemptWhenSeparatelyStated:
      oneOf(FREIGHT, row, 'exempt_when_separately_stated', ['yes', 'no']) === 'yes',
    freightDescription: row.get('description'),
  };
}

function service(row: TableRow): Service {
  return { serviceTaxable: oneOf(SERVICES, row, 'taxable', ['Y', 'N', 'L']) };
}

function sourcing(row: TableRow): Sourcing {
  return {
    sourcing: oneOf(SOURCING, row, 'value', ['O', 'D']),
    sourcingDescription: row.get('description'),
  };
}

function factSource(asOf: DateInt): Omit<SourceRecord, 'id'> {
  return {
    name: 'facts/freight.tsv,services.tsv,sourcing.tsv',
    publisher: 'state revenue departments, as cited per row',
    licence: 'facts',
    asOf,
    estimated: false,
  };
}

/**
 * Loads every state with its rules by period. Provinces have none, since Canada's rules are part of
 * its rates. Days for which one of the three tables has no row have no rule.
 */
export function loadStateRecords(factsDir: string, addSource: AddSource): StateRecord[] {
  const tables = [FREIGHT, SERVICES, SOURCING].map((file) => readFacts(factsDir, file));
  const [freightRows = [], serviceRows = [], sourcingRows = []] = tables;
  const asOf = newest(FREIGHT, freightRows);
  const source = addSource(factSource(asOf));
  const freights = spells(FREIGHT, freightRows, freight);
  const services = spells(SERVICES, serviceRows, service);
  const sourcings = spells(SOURCING, sourcingRows, sourcing);
  return loadStates(factsDir).map(({ code, fips, name, country, timeZone }) => ({
    code,
    fips,
    name,
    country,
    timeZone,
    rules: overlay(
      overlay(freights.get(code) ?? [], services.get(code) ?? []),
      sourcings.get(code) ?? [],
    ).map(({ from, to, value }) => ({ from, to, ...value, source })),
  }));
}

// Fact tables are read with checks; an error names the file and line of the cell.

/** Reads a fact table of the folder. */
function factsText(factsDir: string, file: string): string {
  return readFileSync(join(factsDir, file), 'utf8');
}

function readFacts(factsDir: string, file: string): readonly TableRow[] {
  return readTable(factsText(factsDir, file), '\t');
}

function wrong(file: string, row: TableRow, column: string): Error {
  return new Error(`${file} line ${row.line}: bad ${column} "${row.get(column)}"`);
}

/** A cell that must have one of these values. @throws Error when it does not. */
function oneOf<T extends string>(
  file: string,
  row: TableRow,
  column: string,
  choices: readonly T[],
): T {
  const cell = row.get(column);
  const choice = choices.find((text) => text === cell);
  if (choice === undefined) throw wrong(file, row, column);
  return choice;
}

/** A date in a cell; an empty cell reads as `empty`. @throws Error when it is no date. */
function dateCell(file: string, row: TableRow, column: string, empty: DateInt): DateInt {
  const cell = row.get(column);
  if (cell === '') return empty;
  const date = parseDate(cell);
  if (date === null) throw wrong(file, row, column);
  return date;
}

/** The newest `as_of` of a table. */
function newest(file: string, rows: readonly TableRow[]): DateInt {
  let latest = DATE_MIN;
  for (const row of rows) {
    const date = dateCell(file, row, 'as_of', DATE_MIN);
    if (date > latest) latest = date;
  }
  return latest;
}

// Combines the periods of several facts.

/** A value that holds over an inclusive period. */
interface Spell<T> {
  readonly from: DateInt;
  readonly to: DateInt;
  readonly value: T;
}

/** The periods in which both are in force, with the members of both; ordered by their first day. */
export function overlay<A extends object, B extends object>(
  left: readonly Spell<A>[],
  right: readonly Spell<B>[],
): Spell<A & B>[] {
  const both: Spell<A & B>[] = [];
  for (const a of left) {
    for (const b of right) {
      const from = a.from > b.from ? a.from : b.from;
      const to = a.to < b.to ? a.to : b.to;
      if (from <= to) both.push({ from, to, value: { ...a.value, ...b.value } });
    }
  }
  return both.sort((one, other) => one.from - other.from);
}

// Facts about ZIPs and postal cities that no list has.

const MUNICIPAL = 'zip_municipal_counties.tsv';

/** Reads zip_city_aliases.tsv, zip_municipal_counties.tsv and zip_territories.tsv. */
export function loadZipFacts(factsDir: string): ZipFacts {
  return {
    aliases: readFacts(factsDir, 'zip_city_aliases.tsv').map((row) => ({
      state: row.get('state'),
      name: row.get('name'),
      place: row.get('place'),
      county: row.get('county'),
    })),
    municipal: readFacts(factsDir, MUNICIPAL).map((row) => ({
      county: row.get('county'),
      place: row.get('place'),
      sole: oneOf(MUNICIPAL, row, 'sole', ['yes', 'no']) === 'yes',
    })),
    territories: readFacts(factsDir, 'zip_territories.tsv').map((row) => ({
      zip: Number(row.get('zip')),
      state: row.get('state'),
      city: row.get('city'),
      county: row.get('county'),
    })),
  };
}

/** The tables by name of their documents; each row has its cells by column. */
export function documentsOf(recipe: Recipe, files: SourceFiles): Documents {
  return new Map(
    Object.entries(recipe.documents).map(([name, path]) => {
      const [header = [], ...rows] = splitRows(files.text(path), '\t');
      return [
        name,
        rows.map((cells) =>
          Object.fromEntries(header.map((column, at) => [column, cells[at] ?? ''])),
        ),
      ];
    }),
  );
}

/**
 * Tax areas of provinces, each with a spot, by the first characters of postal codes. Where
 * recorded, also another province that has some of these codes, and why the rate of a city with
 * such codes is missing.
 */
export function postalPrefixes(
  recipe: Recipe,
  files: SourceFiles,
  registry: AreaRegistry,
): [string, object][] {
  if (recipe.postalPrefixes === undefined) return [];
  const [, ...rows] = splitRows(files.text(recipe.postalPrefixes), '\t');
  const areaOf = (province: string): number =>
    registry.intern({
      state: `CA-${province}`,
      county: '',
      place: '',
      town: '',
      districts: [],
    });
  const areas = rows.map((cells): [string, object] => {
    const [prefix = '', province = '', lat, lng, , , also = '', city = '', unheld = ''] = cells;
    return [
      prefix,
      {
        area: areaOf(province),
        lat: toMicrodegrees(Number(lat)),
        lng: toMicrodegrees(Number(lng)),
        ...(also === '' ? {} : { also: areaOf(also) }),
        ...(city === '' ? {} : { city, unheld }),
      },
    ];
  });
  return [['postal-prefixes', Object.fromEntries(areas)]];
}
