/**
 * Local rates per county and place, as worked out from states' rate and boundary files: state,
 * level, name, fips, combined_pct, local_pct, effective_from, as_of, source, county_fips and, in
 * some files, local_total_pct and note. A county row is the county outside every listed place.
 * Options: `basis` of a city row (own adds to the county, sole stands in its place, total is the
 * legal total); `after`, to read only rows that begin later; `exceptCounty`, county codes to skip;
 * `began`, districts whose tax first began with their row; `gapUnlisted` "multi": places in more
 * than one county are unknown where unlisted, unless the county is at `ceiling`; "noted": every
 * unlisted place is unknown in counties whose row carries a note.
 */
import { dayBefore } from '../../../tax/date.js';
import { type Rate, RATE_ZERO } from '../../../tax/rate.js';
import { countiesWithLand, type PlaceFact, type RateRow } from '../../model.js';
import type { DistrictMember } from '../../rates/facts.js';
import {
  DATE_MIN,
  districtMember,
  type ListContext,
  listDate,
  listedRow,
  listOption,
  type ListResult,
  OWN_CODE,
  percentOf,
  textOption,
  UNKNOWN_RATE,
  unknownRow,
} from '../../rates/list.js';
import { readTable, type TableRow } from '../table-text.js';

const BASES: readonly string[] = ['own', 'sole', 'total'];

function basisOf(context: ListContext): RateRow['basis'] {
  const basis = textOption(context, 'basis', 'own');
  if (!BASES.includes(basis)) throw new RangeError(`basis: ${basis}`);
  return basis as RateRow['basis'];
}

/** The row of a jurisdiction with its own part; zero where the list has none. */
function ownRow(
  row: TableRow,
  where: Pick<RateRow, 'level'> & Partial<RateRow>,
  context: ListContext,
): RateRow {
  const [name, rate] = [row.get('name'), row.get('local_pct')];
  const asOf = listDate(row.get('as_of'), context.asOf);
  const from = listDate(row.get('effective_from'), asOf);
  const own = rate === '' ? RATE_ZERO : percentOf(rate, name);
  return listedRow(context, own, { name, from, asOf, ...where });
}

/** The row of a county; if the list does not give its own part, the row is a total. */
function countyRow(row: TableRow, county: string, context: ListContext): RateRow {
  const own = ownRow(row, { level: 'county', county }, context);
  if (row.get('local_pct') !== '') return own;
  const total = percentOf(row.get('combined_pct'), row.get('name'));
  return { ...own, basis: 'total', sales: total, use: total };
}

function cityRow(row: TableRow, context: ListContext): RateRow | null {
  const name = row.get('name');
  const { gazetteer, report, state } = context;
  const county = row.get('county_fips');
  const place = row.get('fips');
  const alias = gazetteer.city(state, `#${place}`, '');
  if (alias.kind === 'dropped') {
    report.drop(name, alias.why);
    return null;
  }
  if (!gazetteer.place(place)) report.unplace(state, name, place, county);
  report.joined += 1;
  const own = ownRow(row, { level: 'city', county, place }, context);
  const kind = basisOf(context);
  const figure = row.get(kind === 'total' ? 'combined_pct' : 'local_pct');
  if (figure === '') {
    const note =
      `${name}: the list gives no rate of its own for this place; the state's own ` +
      'current list or the estimated layer would fill it.';
    return { ...own, basis: 'unknown', from: DATE_MIN, note };
  }
  const rate = percentOf(figure, name);
  return { ...own, basis: kind, sales: rate, use: rate };
}

/** A settlement with its own rate that is no municipality makes its county's remainder unknown. */
function unincorporated(
  row: TableRow,
  county: RateRow | undefined,
  context: ListContext,
): RateRow[] {
  const name = row.get('name');
  context.report.drop(name, 'a settlement that is no municipality');
  const combined = percentOf(row.get('combined_pct'), name);
  if (!county || combined === percentOf(county.note ?? '', name)) return [];
  const note =
    `${name}, an unincorporated settlement of this county, has a rate of its own and no ` +
    "boundary is held for it; the state's boundary file would fill it.";
  const where = { level: 'district', county: row.get('county_fips') } as const;
  return [ownRow(row, { ...where, ...UNKNOWN_RATE, from: DATE_MIN, note }, context)];
}

function districtRows(row: TableRow, context: ListContext, members: DistrictMember[]): RateRow[] {
  const name = row.get('name');
  const county = row.get('county_fips');
  const code = context.districtCode(name) ?? `${OWN_CODE}${county}`;
  const rate = ownRow(row, { level: 'district', code }, context);
  context.report.joined += 1;
  // A district that covers "part of the county only"; its places come from facts.
  if (!/\bonly\b/.test(row.get('note'))) {
    members.push(districtMember(context, code, { scope: 'county', county }));
  }
  return listOption(context, 'began').includes(name)
    ? [
        { ...rate, sales: RATE_ZERO, use: RATE_ZERO, from: DATE_MIN, to: dayBefore(rate.from) },
        rate,
      ]
    : [rate];
}

/** Reads the table. */
export function readSstDerived(text: string, context: ListContext): ListResult {
  const { report } = context;
  const after = listDate(textOption(context, 'after'), DATE_MIN);
  const except = new Set(listOption(context, 'exceptCounty'));
  const rows: RateRow[] = [];
  const members: DistrictMember[] = [];
  // The newest row of each county, with its combined figure in `note` while reading.
  const counties = new Map<string, RateRow>();
  for (const row of readTable(text, '\t')) {
    const county = row.get('county_fips');
    const begins = listDate(row.get('effective_from'), context.asOf);
    report.read += 1;
    if (begins <= after || except.has(county)) {
      report.drop(`${row.get('name')} from ${row.get('effective_from')}`, 'held in another list');
    } else if (row.get('level') === 'county') {
      const made = countyRow(row, county, context);
      counties.set(county, { ...made, note: row.get('combined_pct') });
      report.joined += 1;
      rows.push(made);
    } else if (row.get('level') === 'city') {
      const city = cityRow(row, context);
      if (city) rows.push(city);
      else rows.push(...unincorporated(row, counties.get(county), context));
    } else if (row.get('fips').length === 7) {
      rows.push(...unincorporated(row, counties.get(county), context));
    } else {
      rows.push(...districtRows(row, context, members));
    }
  }
  const noted = readTable(text, '\t').filter(
    (row) => row.get('level') === 'county' && row.get('source').includes('county average'),
  );
  rows.push(
    ...unlistedGaps(
      rows,
      noted.map((row) => row.get('county_fips')),
      context,
    ),
  );
  return { rows: rows.sort((a, b) => a.from - b.from), members };
}

// Places that a list leaves out, although they do not necessarily have their county's rate.

function gap(place: PlaceFact, county: string, note: string, context: ListContext): RateRow {
  const { geoid, name } = place;
  return unknownRow(context, { level: 'city', county, place: geoid, name, note });
}

/** Whether a county levies the highest rate allowed by law, so that no place in it can differ. */
function atCeiling(rows: readonly RateRow[], county: string, ceiling: Rate | null): boolean {
  const last = rows.filter((row) => row.level === 'county' && row.county === county).at(-1);
  return ceiling !== null && last !== undefined && last.sales >= ceiling;
}

const WHY: Readonly<Record<string, string>> = {
  multi: 'it lies in several counties and is listed under a code of its own',
  noted: 'the list no longer names the places of this county',
  parts: 'the list names it in another of its counties alone',
};

/**
 * Unknown rows for unlisted places. Option `gapUnlisted`: "multi" for places in several counties,
 * which a state may code apart from either county's list; "noted" for all places of counties with a
 * note; "parts" for the other counties of cities that are listed with a rate.
 */
export function unlistedGaps(
  rows: readonly RateRow[],
  noted: readonly string[],
  context: ListContext,
  kind = textOption(context, 'gapUnlisted'),
): readonly RateRow[] {
  if (kind === '') return [];
  const given = textOption(context, 'ceiling');
  const ceiling = given ? percentOf(given, 'ceiling') : null;
  const listed = new Set(
    rows.filter((row) => row.level === 'city').map((row) => `${row.place}/${row.county}`),
  );
  const levying = new Set(
    rows.filter((row) => row.level === 'city' && row.sales > 0).map((row) => row.place),
  );
  const out: RateRow[] = [];
  for (const place of context.gazetteer.places(context.state)) {
    if (kind === 'multi' && place.counties.length < 2) continue;
    if (kind === 'parts' && !levying.has(place.geoid)) continue;
    if (kind === 'parts' && listed.has(`${place.geoid}/`)) continue;
    // A sliver across the line may belong to the city or be an error of the map.
    for (const county of kind === 'parts' ? place.counties : countiesWithLand(place)) {
      if (listed.has(`${place.geoid}/${county}`) || atCeiling(rows, county, ceiling)) continue;
      if (kind === 'noted' && !noted.includes(county)) continue;
      const note =
        `${place.fullName} is not in the list held: ${WHY[kind]}; the state's own list ` +
        'or the estimated layer would fill it.';
      out.push(gap(place, county, note, context));
    }
  }
  return out;
}
