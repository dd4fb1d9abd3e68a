/**
 * Towns with a local option tax: town, rate_pct, effective_from, evidence. A date left empty is not
 * recorded, so the rate is held from the list's own date on. A city that is a town of its own is
 * listed under both codes, so that it is found with or without town boundaries.
 */
import { type DateInt, dayBefore } from '../../../tax/date.js';
import type { Rate } from '../../../tax/rate.js';
import type { PlaceFact, RateRow } from '../../model.js';
import { plainName } from '../../rates/gazetteer.js';
import {
  DATE_MIN, DATE_OPEN, type ListContext, listDate, type ListResult, percentOf,
} from '../../rates/list.js';
import { readTable } from '../rows.js';

const KIND = / (CITY|TOWN)$/;

function same(place: PlaceFact, town: string): boolean {
  const names = [plainName(place.name), plainName(place.fullName)];
  if (names.includes(town)) return true;
  // "RUTLAND TOWN" is called RUTLAND beside RUTLAND CITY; a bare name never means the town's city.
  const isTown = place.geoid.length === 10 && town.endsWith(' TOWN');
  return isTown && names.includes(town.replace(KIND, ''));
}

/** Codes of a town: its own, and that of the city of the same extent. */
function codesOf(town: string, context: ListContext): readonly string[] {
  const { gazetteer, state } = context;
  const aliased = gazetteer.city(state, `#${town}`, '');
  if (aliased.kind === 'code') return aliased.code.split('+');
  const name = plainName(town);
  const towns = gazetteer.places(state).filter((place) => same(place, name));
  const exact = towns.filter((place) => plainName(place.fullName) === name);
  const city = KIND.test(name) ? name : `${name} CITY`;
  const cities = gazetteer.places(state).filter((place) =>
    place.geoid.length === 7 && plainName(place.fullName) === city);
  const chosen = exact.length > 0 ? exact : towns.filter((place) => place.geoid.length === 10);
  return [...new Set([...chosen, ...cities].map((place) => place.geoid))];
}

type Common = Omit<RateRow, 'basis' | 'sales' | 'use' | 'from' | 'to' | 'note'>;

/** The time before a rate whose first day is not recorded: it may have been in force. */
function undated(common: Common, town: string, from: DateInt): RateRow {
  const zero = 0 as Rate;
  const note = `${town}: the first day of the local option tax is not recorded; the department's `
    + 'list with dates would fill it.';
  const period = { from: DATE_MIN, to: dayBefore(from) };
  return { ...common, basis: 'unknown', sales: zero, use: zero, ...period, note };
}

/** Reads the list. */
export function readTownOption(text: string, context: ListContext): ListResult {
  const { state, source, asOf, report } = context;
  const rows: RateRow[] = [];
  for (const row of readTable(text, '\t')) {
    report.read += 1;
    const town = row.get('town');
    const codes = codesOf(town, context);
    if (codes.length === 0) {
      report.unplace(state, town, '', '');
      continue;
    }
    report.joined += 1;
    const rate = percentOf(row.get('rate_pct'), town);
    const began = row.get('effective_from');
    const from = listDate(began, asOf);
    for (const place of codes) {
      const common = {
        state, level: 'city' as const, county: '', place, name: town, code: '', source, asOf,
      };
      if (began === '') rows.push(undated(common, town, from));
      rows.push({ ...common, basis: 'own', sales: rate, use: rate, from, to: DATE_OPEN });
    }
  }
  return { rows, members: [] };
}
