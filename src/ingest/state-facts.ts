/** States, provinces and territories with their rules, from the fact tables. */
import type { SourceRecord, StateRecord, StateRuleRecord } from '../dataset/records.js';
import { DATE_MIN, DATE_OPEN, type DateInt } from '../tax/date.js';
import { COUNTRIES } from '../tax/jurisdiction.js';
import type { CountyFact, StateName } from './rates/facts.js';
import type { TableRow } from './rates/table.js';
import { dateCell, newest, oneOf, readFacts } from './state-table.js';
import { overlay, type Spell } from './state-timeline.js';

/** A line of states.tsv. */
export interface StateFact extends StateName {
  readonly timeZone: string;
  /** Every spot lies in a city or town, so no land is left to the county alone. */
  readonly allMunicipal: boolean;
}

/** Registers a source and gives its index in the dataset's list. */
export type AddSource = (source: Omit<SourceRecord, 'id'>) => number;

const STATES = 'states.tsv';
const FREIGHT = 'freight.tsv';
const SERVICES = 'services.tsv';
const SOURCING = 'sourcing.tsv';

type Freight = Pick<StateRuleRecord,
  'freightTaxable' | 'freightRule' | 'freightExemptWhenSeparatelyStated' | 'freightDescription'>;
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
export function loadCounties(factsDir: string): CountyFact[] {
  return readFacts(factsDir, 'county_names.tsv').map((row) => ({
    fips: row.get('county'),
    state: row.get('state'),
    fullName: row.get('full_name'),
    code: row.get('own_number'),
  }));
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
      'EXEMPT', 'EXEMPT_WHEN_SEPARATELY_STATED', 'ITEM_SPECIFIC', 'CONDITIONAL', 'TAXABLE',
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
 * Loads every state with its rules by period. A province has none: Canada's are part of its rates.
 * Days for which one of the three tables has no row have no rule.
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
    code, fips, name, country, timeZone,
    rules: overlay(
      overlay(freights.get(code) ?? [], services.get(code) ?? []),
      sourcings.get(code) ?? [],
    ).map(({ from, to, value }) => ({ from, to, ...value, source })),
  }));
}
