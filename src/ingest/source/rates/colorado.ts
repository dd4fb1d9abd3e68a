/**
 * Colorado's local rates (publication DR 1002): level, name, fips, local_pct, as_of. A city in two
 * counties has a row per part. A district row is named after the county or city where it applies;
 * one named after a county need not cover all of it, and no boundary is published in the list. So
 * places and remainders of such counties are gaps, unless every district of the county is settled
 * there by a row of the city's own or by facts. So are those of a county that contains a district
 * with another name. Options: `history`, the file of earlier years; `decided`, places
 * ("<place>@<county>") or counties ("@<county>") settled by facts; `within`, the counties of
 * districts named otherwise ("<name>@<county>"); `boxed`, districts around which divided_land has a
 * box. A district of which nothing tells the county is reported.
 */
import { type DateInt, dayBefore } from '../../../tax/date.js';
import { countiesWithLand, type RateRow } from '../../model.js';
import type { DistrictMember } from '../../rates/facts.js';
import {
  DATE_OPEN,
  dateOf,
  districtMember,
  joined,
  joinedCity,
  type ListContext,
  listDate,
  listedRow,
  listOption,
  type ListResult,
  OWN_CODE,
  percentOf,
  UNKNOWN_RATE,
  unknownRow,
} from '../../rates/list.js';
import { readTable, type TableRow } from '../table-text.js';

const PART = /^(.*) \((.*) part\)$/;

interface Place {
  readonly level: 'county' | 'city';
  readonly county: string;
  readonly place: string;
}

function placeOf(level: string, name: string, context: ListContext): Place | null {
  const { gazetteer, state } = context;
  if (level === 'county') {
    const county = joined(context, name, gazetteer.county(state, name));
    return county === null ? null : { level: 'county', county, place: '' };
  }
  const [, base = name, within = ''] = PART.exec(name) ?? [];
  const match = gazetteer.county(state, within);
  const county = match.kind === 'code' ? match.code : '';
  const place = joinedCity(context, base, gazetteer.city(state, base, county), county);
  return place === null ? null : { level: 'city', county, place };
}

function rateRow(row: TableRow, at: Place, to: DateInt, context: ListContext): RateRow {
  const asOf = listDate(row.get('as_of'), context.asOf);
  const rate = percentOf(row.get('local_pct'), row.get('name'));
  const name = PART.exec(row.get('name'))?.[1] ?? row.get('name');
  return listedRow(context, rate, { ...at, name, from: asOf, to, asOf });
}

/** Rates change on 1 January and 1 July, so a list of July is valid until December. */
function earlier(context: ListContext): readonly RateRow[] {
  const table = readTable(context.extra('history'), '\t');
  const out: RateRow[] = [];
  for (const row of table) {
    context.report.read += 1;
    const asOf = listDate(row.get('as_of'), context.asOf);
    if (asOf >= context.asOf) {
      context.report.drop(`${row.get('name')} ${row.get('as_of')}`, 'held in the current list');
      continue;
    }
    const at = placeOf(row.get('level'), row.get('name'), context);
    if (!at) continue;
    const year = Math.floor(asOf / 10000);
    const first = rateRow(row, at, dateOf(year, 12, 31) ?? DATE_OPEN, context);
    const note =
      `${row.get('name')}: earlier rates are held for the second half of each year only;` +
      ' the publications between would fill it.';
    const half = dateOf(year + 1, 6, 30) ?? DATE_OPEN;
    // The next list may have been read a few days after its half-year began.
    const isNext = context.asOf > half && context.asOf <= (dateOf(year + 1, 12, 31) ?? DATE_OPEN);
    const until = isNext ? dayBefore(context.asOf) : half;
    const between = { from: dateOf(year + 1, 1, 1) ?? asOf, to: until };
    out.push(first, { ...first, ...between, ...UNKNOWN_RATE, note });
  }
  return out;
}

interface DistrictNames {
  readonly kind: string;
  readonly code: string;
  readonly county: string;
  readonly place: string;
}

/** The county of a district that is named after neither county nor municipality; "" for none. */
function countyAround(where: string, context: ListContext): string {
  const named = listOption(context, 'within').find((each) => each.startsWith(`${where}@`));
  return named?.slice(where.length + 1) ?? '';
}

function districtOf(name: string, context: ListContext): DistrictNames | null {
  const { gazetteer, state, report } = context;
  const [kind = name, where = ''] = name.split(' - ');
  const shared = context.districtCode(kind);
  const [base = where, part = ''] = where.split('/');
  const code = shared ?? `${OWN_CODE}${name}`;
  if (/ County$/.test(base)) {
    const match = gazetteer.county(state, base);
    if (match.kind === 'code') return { kind, code, county: match.code, place: '' };
  }
  const within = part ? gazetteer.county(state, `${part} County`) : null;
  const county = within?.kind === 'code' ? within.code : '';
  const city = gazetteer.city(state, base, county);
  if (city.kind === 'code') return { kind, code, county, place: city.code };
  const around = county || countyAround(where, context);
  if (around !== '') return { kind, code, county: around, place: '' };
  if (listOption(context, 'boxed').includes(where)) {
    report.drop(name, 'a district without boundary, and land around it is refused');
  } else report.miss(name);
  return null;
}

function gaps(
  districts: readonly DistrictNames[],
  asked: ReadonlySet<string>,
  context: ListContext,
): readonly RateRow[] {
  const out: RateRow[] = [];
  for (const county of new Set(districts.filter((d) => d.place === '').map((d) => d.county))) {
    const kinds = new Set(
      districts.filter((d) => d.place === '' && d.county === county).map((d) => d.kind),
    );
    const name = context.gazetteer.countyFact(county)?.fullName ?? county;
    const note =
      `Colorado: districts cover ${name} in part (${[...kinds].sort().join(', ')}); ` +
      "the state's boundaries of tax districts would fill it.";
    const spots = [
      '',
      ...context.gazetteer
        .places(context.state)
        .filter((place) => countiesWithLand(place).includes(county))
        .map((place) => place.geoid),
    ];
    for (const spot of spots) {
      const own = new Set(
        districts
          .filter(
            (d) => d.place !== '' && d.place === spot && (d.county === '' || d.county === county),
          )
          .map((d) => d.kind),
      );
      if (asked.has(`${spot}@${county}`) || [...kinds].every((kind) => own.has(kind))) continue;
      out.push(unknownRow(context, { level: 'district', county, place: spot, name, note }));
    }
  }
  return out;
}

/** Reads the list with its earlier years. */
export function readColorado(text: string, context: ListContext): ListResult {
  const rows: RateRow[] = [...earlier(context)];
  const members: DistrictMember[] = [];
  const districts: DistrictNames[] = [];
  for (const row of readTable(text, '\t')) {
    context.report.read += 1;
    const name = row.get('name');
    if (row.get('level') !== 'district') {
      const at = placeOf(row.get('level'), name, context);
      if (at) rows.push(rateRow(row, at, DATE_OPEN, context));
      continue;
    }
    const found = districtOf(name, context);
    if (!found) continue;
    context.report.joined += 1;
    districts.push(found);
    const { code, county, place } = found;
    const made = rateRow(row, { level: 'city', county: '', place: '' }, DATE_OPEN, context);
    rows.push({ ...made, level: 'district', code });
    if (place === '') continue;
    members.push(districtMember(context, code, { scope: 'place', county, place }));
  }
  const asked = new Set(listOption(context, 'decided'));
  rows.push(...gaps(districts, asked, context));
  return { rows: rows.sort((a, b) => a.from - b.from), members };
}
