/**
 * Washington's location rates (DOR, quarterly): location_code, location, state_rate, local_rate,
 * rta_rate, total_rate, effective_from, effective_to. A location is a city ("AUBURN"), a city's
 * part in a county ("AUBURN/KING"), or a county's unincorporated area; either may be listed twice
 * or more, inside and outside a transit district ("… RTA", "… NON-RTA", "…-PTBA"). The lowest
 * variant is what holds everywhere there; each higher one is a district under its location code.
 * Names alone cannot tell the variants apart, so without a boundary the place is a gap.
 */
import type { DateInt } from '../../../tax/date.js';
import type { Rate } from '../../../tax/rate.js';
import type { RateRow } from '../../model.js';
import {
  DATE_OPEN,
  fractionOf,
  type ListContext,
  listDate,
  listedRow,
  ListReport,
  type ListResult,
  minus,
  outsideRow,
  unknownRow,
} from '../../rates/list.js';
import { readTable } from '../table-text.js';

const TRIBAL = / (TRIBES?|NATION) - /;
const VARIANT = /(-| )PTBA\b|\b(NON-)?RTA\b|\bCOUNTY\b/g;

/** A location with its rates, and the days that they apply to. */
interface Location {
  readonly code: string;
  readonly name: string;
  readonly local: Rate;
  readonly total: Rate;
  readonly from: DateInt;
  readonly to: DateInt;
}

interface Area {
  readonly county: string;
  readonly place: string;
  readonly name: string;
  readonly locations: Location[];
}

function read(text: string, context: ListContext): readonly Location[] {
  return readTable(text, '\t').map((row): Location => {
    const name = row.get('location');
    return {
      code: row.get('location_code').padStart(4, '0'),
      name,
      local: fractionOf(row.get('local_rate'), name),
      total: fractionOf(row.get('total_rate'), name),
      from: listDate(row.get('effective_from'), context.asOf),
      to: listDate(row.get('effective_to'), DATE_OPEN),
    };
  });
}

/** The locations without those that levy the same as the area around them. */
function ownRates(locations: readonly Location[], context: ListContext): readonly Location[] {
  return locations.filter(({ name }) => {
    context.report.read += 1;
    const around = TRIBAL.test(name) || / HBZ$/.test(name);
    if (around) context.report.drop(name, 'taxed at the rate of the area around it');
    return !around;
  });
}

/**
 * The place or county that a location names; cities come first, since a city may have its county's
 * name.
 */
function areaOf(location: Location, context: ListContext): Omit<Area, 'locations'> | null {
  const { gazetteer, state, report } = context;
  const { name } = location;
  if (/\bCOUNTY\b|-PTBA\b/.test(name)) {
    const match = gazetteer.county(state, `${name.replace(VARIANT, '').trim()} County`);
    if (match.kind === 'code') {
      report.joined += 1;
      return { county: match.code, place: '', name };
    }
  }
  const [base = '', part = ''] = name.replace(/ (NON-)?RTA$/, '').split('/');
  const county = part ? gazetteer.county(state, `${part} County`) : null;
  const fips = county?.kind === 'code' ? county.code : '';
  const city = gazetteer.city(state, base, fips);
  if (city.kind === 'code') {
    report.joined += 1;
    return { county: fips, place: city.code, name: base };
  }
  if (city.kind === 'dropped') report.drop(name, city.why);
  else report.unplace(state, base, '', fips);
  return null;
}

/** Why a divided area is refused. Without figures, since these may have been another list's. */
function dividedNote(locations: readonly Location[]): string {
  const names = [...new Set(locations.map(({ name }) => name))].join(', ');
  return (
    `Washington: transit districts divide this area (${names}); the state's address ` +
    'file of location codes would fill it.'
  );
}

function rowsOf(area: Area, open: boolean, context: ListContext): readonly RateRow[] {
  const sorted = [...area.locations].sort(
    (a, b) => a.total - b.total || (a.code < b.code ? -1 : 1),
  );
  const lowest = sorted[0];
  if (!lowest) return [];
  const period = { from: lowest.from, to: open ? DATE_OPEN : lowest.to };
  const { locations: _, ...where } = area;
  const listed = { ...where, ...period };
  const out = [
    area.place
      ? listedRow(context, lowest.total, { ...listed, level: 'city', basis: 'total' })
      : listedRow(context, lowest.local, { ...listed, level: 'county' }),
  ];
  const higher = sorted.filter((location) => location.total > lowest.total);
  for (const { code, name, total } of higher) {
    const more = minus(total, lowest.total);
    out.push(listedRow(context, more, { level: 'district', name, code, ...period }));
  }
  if (higher.length > 0) {
    out.push(unknownRow(context, { ...listed, level: 'district', note: dividedNote(sorted) }));
  }
  return out;
}

/** Reads the quarters; the last one remains in use after its end. */
export function readWaDor(text: string, context: ListContext): ListResult {
  return locationRates(read(text, context), context);
}

/** Rates of locations; those of the last quarter remain in use after its end. */
function locationRates(listed: readonly Location[], context: ListContext): ListResult {
  const locations = ownRates(listed, context);
  const last = Math.max(...locations.map((location) => location.from));
  const areas = new Map<string, Area>();
  for (const location of locations) {
    const found = areaOf(location, context);
    if (!found) continue;
    const key = `${String(location.from)}/${found.county}/${found.place}`;
    const area = areas.get(key) ?? { ...found, locations: [] };
    area.locations.push(location);
    areas.set(key, area);
  }
  const rows = [...areas.values()].flatMap((area) =>
    rowsOf(area, area.locations[0]?.from === last, context),
  );
  return { rows: rows.sort((a, b) => a.from - b.from), members: [] };
}

/*
 * Washington's rates of a quarter as the Department of Revenue publishes them (Rates_YYQn.zip):
 * one CSV with the header Name, Code, State, Local, RTA, Rate, Effective Date, Expiration Date;
 * fractions, dates as YYYYMMDD, codes of four digits whose leading zero may be lost. Local may
 * leave the transit part out, so that the local part is what Rate has above State. With the option
 * `areas`, for builds that have the boundaries of location codes (LOCCODE_PUBLIC_YYQn.zip) as
 * districts, all of the local part is that of its code; else it is told apart by names.
 */

/**
 * The local part of each location as a rate of its code; those of the last quarter remain in use.
 */
function codeRates(locations: readonly Location[], context: ListContext): ListResult {
  const { report } = context;
  const last = Math.max(...locations.map(({ from }) => from));
  report.read += locations.length;
  report.joined += locations.length;
  const rows = locations.map(({ code, name, local, from, to }) => {
    const until = from === last ? DATE_OPEN : to;
    return listedRow(context, local, { level: 'district', name, code, from, to: until });
  });
  // The rates of codes apply whatever jurisdictions the locations' names match.
  const quiet = { ...context, report: new ListReport('') };
  const codes = new Map(
    locations.flatMap((location) => {
      const found = areaOf(location, quiet);
      return found === null ? [] : [[location.code, found] as const];
    }),
  );
  const first = Math.min(...rows.map(({ from }) => from)) as DateInt;
  rows.push(outsideRow(context, 'Washington', first));
  return { rows: rows.sort((a, b) => a.from - b.from), members: [], codes };
}

/** Reads the file. @throws RangeError naming the line of a figure or a day that is none. */
export function readWashingtonQuarter(text: string, context: ListContext): ListResult {
  const locations = readTable(text, ',').map((row): Location => {
    const name = row.get('Name').toUpperCase();
    const where = `line ${row.line}: ${name}`;
    const total = fractionOf(row.get('Rate'), where);
    const local = minus(total, fractionOf(row.get('State'), where));
    const code = row.get('Code').padStart(4, '0');
    if (!/^\d{4}$/.test(code) || local < 0) {
      throw new RangeError(`${where}: no location with a rate above the state's`);
    }
    const [from, to] = [row.get('Effective Date'), row.get('Expiration Date')];
    if (from === '' || to === '') throw new RangeError(`${where}: without its days`);
    return {
      code,
      name,
      local,
      total,
      from: listDate(from, context.asOf),
      to: listDate(to, context.asOf),
    };
  });
  if (locations.length === 0) throw new RangeError('it lists no location');
  return context.options['areas'] === true
    ? codeRates(locations, context)
    : locationRates(locations, context);
}
