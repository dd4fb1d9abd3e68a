/**
 * Totals by location, as several states list them: counties outside their cities, cities by county,
 * and parts of them. A location is a county, a city, or something that is neither; what lies in
 * part of a county and is taxed otherwise, without a boundary here, leaves its remainder open.
 */
import { formatRate, type Rate } from '../../../tax/rate.js';
import type { RateRow } from '../../model.js';
import { type ListContext, listedRow, type ListResult, unknownRow } from '../../rates/list.js';
import type { DaySpan } from '../../../tax/yearly-days.js';

export interface Located {
  /** Where the row stands, for errors: "line 7" and the like. */
  readonly where: string;
  readonly name: string;
  /** The county it lies in, five digits; "" where the list does not say. */
  readonly county: string;
  /** The county outside its cities, a city by its name, or a part without a boundary. */
  readonly kind: 'county' | 'city' | 'part';
  /** All that is levied there, including the state's part. */
  readonly sales: Rate;
  readonly use: Rate;
}

type Where = Pick<RateRow, 'level' | 'county' | 'place' | 'name'>;

function row(
  where: Where,
  basis: RateRow['basis'],
  rates: Pick<Located, 'sales' | 'use'>,
  period: DaySpan,
  context: ListContext,
): RateRow {
  const { sales, use } = rates;
  return listedRow(context, sales, { ...where, basis, use, ...period });
}

function gap(where: Where, note: string, period: DaySpan, context: ListContext): RateRow {
  return unknownRow(context, { ...where, to: period.to, note });
}

/**
 * Rows for locations of one place, or of one county's remainder: their rate if they agree,
 * otherwise unknown.
 */
function joinedRows(
  where: Where,
  found: readonly Located[],
  period: DaySpan,
  context: ListContext,
): readonly RateRow[] {
  const [first, ...others] = found;
  if (first === undefined) return [];
  context.report.joined += found.length;
  const same = others.every(({ sales, use }) => sales === first.sales && use === first.use);
  if (same) return [row(where, 'total', first, period, context)];
  const figures = found.map(({ name, sales }) => `${name} ${formatRate(sales)}`).join(', ');
  const note =
    `${where.name} is listed with several rates (${figures}), and the list does not ` +
    'draw their bounds; the boundaries of its districts would fill it.';
  return where.level === 'city'
    ? [gap(where, note, period, context)]
    : [
        row(where, 'total', first, period, context),
        gap({ ...where, level: 'district' }, note, period, context),
      ];
}

/**
 * Other counties that a city has land in, where the list does not name it and does tax other
 * locations.
 */
function unlistedIn(
  place: string,
  listed: readonly string[],
  counties: ReadonlyMap<string, readonly Located[]>,
  { gazetteer }: ListContext,
): readonly string[] {
  if (listed.includes('')) return [];
  const around = (county: string): string => {
    const [first] = counties.get(county) ?? [];
    return first === undefined ? county : `${first.sales}/${first.use}`;
  };
  const [only = ''] = listed;
  return (gazetteer.place(place)?.counties ?? []).filter(
    (county) => !listed.includes(county) && (listed.length > 1 || around(county) !== around(only)),
  );
}

/** A part with its county's rate adds nothing; a part with another makes the remainder unknown. */
function partGaps(
  parts: readonly Located[],
  counties: ReadonlyMap<string, readonly Located[]>,
  period: DaySpan,
  context: ListContext,
): readonly RateRow[] {
  return parts.flatMap(({ name, county, sales, use }) => {
    const around = counties.get(county)?.[0];
    if (around?.sales === sales && around.use === use) {
      context.report.drop(name, 'taxed as the county around it');
      return [];
    }
    if (county === '') {
      context.report.unplace(context.state, name, '', '');
      return [];
    }
    context.report.miss(name);
    const note =
      `${name}, a part of this county, is taxed otherwise, and no boundary is held for ` +
      'it; the boundaries of its districts would fill it.';
    return [gap({ level: 'district', county, place: '', name }, note, period, context)];
  });
}

function push<Key>(groups: Map<Key, Located[]>, key: Key, located: Located): void {
  const known = groups.get(key);
  if (known === undefined) groups.set(key, [located]);
  else known.push(located);
}

/** Locations by what they name: counties, and cities by the county that lists them. */
interface Sorted {
  readonly counties: ReadonlyMap<string, readonly Located[]>;
  readonly cities: ReadonlyMap<string, ReadonlyMap<string, readonly Located[]>>;
  /** Locations that are no known place. */
  readonly parts: readonly Located[];
}

function sorted(located: readonly Located[], floor: Rate, context: ListContext): Sorted {
  const { gazetteer, state, report } = context;
  const counties = new Map<string, Located[]>();
  const cities = new Map<string, Map<string, Located[]>>();
  const parts: Located[] = [];
  for (const one of located) {
    report.read += 1;
    if (one.sales < floor) {
      throw new RangeError(`${one.where}: ${one.name}: a total below the state's part`);
    }
    const match = one.kind === 'city' ? gazetteer.city(state, one.name, one.county) : null;
    if (one.kind === 'county') push(counties, one.county, one);
    else if (match?.kind === 'dropped') report.drop(one.name, match.why);
    else if (match?.kind === 'code' && match.code.length === 5) push(counties, match.code, one);
    else if (match?.kind === 'code') {
      const byCounty = cities.get(match.code) ?? new Map<string, Located[]>();
      cities.set(match.code, byCounty);
      push(byCounty, one.county, one);
    } else parts.push(one);
  }
  return { counties, cities, parts };
}

/**
 * Rates of a list of totals. The total of a city that is listed in one county also applies in other
 * counties that are taxed the same.
 * @throws RangeError where the list is empty, or has less than `floor`, the state's part.
 */
export function totalRates(
  located: readonly Located[],
  floor: Rate,
  period: DaySpan,
  context: ListContext,
): ListResult {
  const { gazetteer } = context;
  if (located.length === 0) throw new RangeError('it lists no location');
  const { counties, cities, parts } = sorted(located, floor, context);
  const rows = [...counties].flatMap(([county, found]) =>
    joinedRows(
      {
        level: 'county',
        county,
        place: '',
        name: gazetteer.countyFact(county)?.fullName ?? county,
      },
      found,
      period,
      context,
    ),
  );
  for (const [place, byCounty] of cities) {
    for (const [county, found] of byCounty) {
      rows.push(
        ...joinedRows(
          {
            level: 'city',
            place,
            county: byCounty.size > 1 ? county : '',
            name: found[0]?.name ?? '',
          },
          found,
          period,
          context,
        ),
      );
    }
    const listed = [...byCounty.keys()];
    const name = [...byCounty.values()][0]?.[0]?.name ?? '';
    for (const county of unlistedIn(place, listed, counties, context)) {
      const note =
        `${name} is listed in another of its counties alone; the state's own list ` +
        'would fill it.';
      rows.push({
        ...gap({ level: 'city', place, county, name }, note, period, context),
        from: period.from,
      });
    }
  }
  rows.push(...partGaps(parts, counties, period, context));
  return { rows, members: [] };
}

/** The county of a listed name, with or without its kind; "" for none. */
export function countyOf(name: string, context: ListContext): string {
  const { gazetteer, state } = context;
  const bare = name.trim().replace(/\s+(?:CO\.?|COUNTY)$/i, '');
  for (const listed of [`${bare} County`, name.trim()]) {
    const match = gazetteer.county(state, listed);
    if (match.kind === 'code') return match.code;
  }
  return '';
}
