/**
 * Texas' local rates (Comptroller, quarterly): level, name, code, fips, local_pct, effective_from,
 * as_of, where the code is the seven-digit local code: 2 city, 3 transit, 4 county, 5 special
 * purpose district, 6 combined area. Option `areas`: the file of areas, that is which codes apply
 * together. Option `placed`: districts whose members are facts.
 */
import type { DateInt } from '../../../tax/date.js';
import type { Rate } from '../../../tax/rate.js';
import type { RateRow } from '../../model.js';
import {
  DATE_OPEN, type ListContext, listDate, listOption, type ListResult, percentOf,
} from '../../rates/list.js';
import { readTable } from '../rows.js';
import { type TexasArea, texasAreas } from './texas-areas.js';

function readAreas(text: string, context: ListContext): readonly TexasArea[] {
  const out: TexasArea[] = [];
  for (const row of readTable(text, '\t')) {
    const match = context.gazetteer.county(context.state, `${row.get('county')} County`);
    if (match.kind !== 'code') {
      context.report.miss(`area ${row.get('area')} in ${row.get('county')}`);
      continue;
    }
    const codes = [row.get('spd_codes'), row.get('transit_codes')].join(';').split(';');
    out.push({
      name: row.get('area'),
      county: match.code,
      city: row.get('city_code'),
      countyCode: row.get('county_code'),
      districts: codes.filter((code) => code !== '').sort(),
    });
  }
  return out;
}

/**
 * County of a city by its code: digits two to four number the counties by name, as the Census
 * Bureau's odd numbers do.
 */
function countyOf(code: string): string {
  return `48${String(Number(code.slice(1, 4)) * 2 - 1).padStart(3, '0')}`;
}

/** A code of the list with its rate. */
export interface TexasEntry {
  readonly name: string;
  /** Seven digits. */
  readonly code: string;
  /** Place code of the list itself, "" without. */
  readonly place: string;
  readonly rate: Rate;
  readonly from: DateInt;
  readonly asOf: DateInt;
}

/** Places by city code; the same code is one city in every county. */
function cityPlaces(
  entries: readonly TexasEntry[],
  context: ListContext,
): ReadonlyMap<string, string> {
  const { gazetteer, state, report } = context;
  const places = new Map<string, string>();
  for (const { code, name, place: own } of entries.filter((entry) => entry.code.startsWith('2'))) {
    const match = gazetteer.city(state, name, countyOf(code));
    // The list's own place code is that of a settlement of the same name where no city is held.
    const listed = gazetteer.place(own)?.geoid ?? '';
    const place = match.kind === 'code' ? match.code : listed;
    if (match.kind === 'dropped') report.drop(name, match.why);
    else if (place) places.set(code, place);
    else report.unplace(state, name, '', countyOf(code));
  }
  return places;
}

function rowOf(
  entry: TexasEntry,
  places: ReadonlyMap<string, string>,
  context: ListContext,
): RateRow | null {
  const { state, source, report, gazetteer } = context;
  const { name, code, rate, from, asOf } = entry;
  const common = {
    state, name, code, basis: 'own' as const, sales: rate, use: rate, county: '', place: '',
    from, to: DATE_OPEN, source, asOf,
  };
  switch (code[0]) {
    case '2': {
      const place = places.get(code);
      return place ? { ...common, level: 'city', place } : null;
    }
    case '4': {
      const match = gazetteer.county(state, name);
      if (match.kind !== 'code') {
        report.miss(name);
        return null;
      }
      // The wire shows a county's FIPS number; its local code stays with the publisher.
      return { ...common, level: 'county', county: match.code, code: '' };
    }
    case '6': return null;
    default: return { ...common, level: 'district' };
  }
}

/** Rates of the codes, and which districts hold in which city and county remainder. */
export function texasRates(
  entries: readonly TexasEntry[], areas: readonly TexasArea[], context: ListContext,
): ListResult {
  const places = cityPlaces(entries, context);
  const rows: RateRow[] = [];
  const combined = new Map<string, number>();
  for (const entry of entries) {
    context.report.read += 1;
    if (entry.code.startsWith('6')) combined.set(entry.code, entry.rate);
    const made = rowOf(entry, places, context);
    if (!made) continue;
    context.report.joined += 1;
    rows.push(made);
  }
  rows.sort((a, b) => a.from - b.from);
  const placed = new Set(listOption(context, 'placed'));
  const held = texasAreas({ areas, places, rows, combined, placed }, context);
  return { rows: [...rows, ...held.rows], members: held.members };
}

/** Reads the rates and works out which districts hold in which city and county remainder. */
export function readTexas(text: string, context: ListContext): ListResult {
  const entries = readTable(text, '\t').map((row): TexasEntry => {
    const asOf = listDate(row.get('as_of'), context.asOf);
    return {
      name: row.get('name'), code: row.get('code'), place: row.get('fips'), asOf,
      rate: percentOf(row.get('local_pct'), row.get('name')),
      from: listDate(row.get('effective_from'), asOf),
    };
  });
  return texasRates(entries, readAreas(context.extra('areas'), context), context);
}
