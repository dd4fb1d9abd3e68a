/** Finds the timelines of all jurisdictions in a tuple. */
import type { Rate } from '../../tax/rate.js';
import { type AreaTuple, OPEN_MARK, type PlaceFact, type RateRow } from '../model.js';
import type { DistrictLine, Estimate, TupleLines } from './combine.js';
import type { CountyFact, ListMark, StateName, TierFact } from './facts.js';
import { DATE_MIN, DATE_OPEN, NO_CODE, OWN_CODE } from './list.js';
import { firstLevy, type MemberIndex, type RowIndex, type Spot } from './rate-rows.js';
import { during, fill, nothing, paint, type Segment, unknown } from './timeline.js';

/** The lists and facts of a book, indexed. */
export interface LineContext {
  readonly rows: RowIndex;
  /** By state code: the state's timeline, which is the same for all its areas. */
  readonly stateLines: ReadonlyMap<string, readonly Segment[]>;
  readonly estimates: RowIndex;
  readonly hasEstimates: boolean;
  readonly members: MemberIndex;
  readonly districtNames: ReadonlyMap<string, string>;
  readonly tiers: ReadonlyMap<string, TierFact>;
  /** Independent cities by their place code. */
  readonly independent: ReadonlyMap<string, TierFact>;
  readonly places: ReadonlyMap<string, PlaceFact>;
  readonly counties: ReadonlyMap<string, CountyFact>;
  readonly marks: ReadonlyMap<string, ListMark>;
  readonly caps: ReadonlyMap<string, Rate>;
  /** By county: why its land outside cities may have a rate other than the county's row. */
  readonly divided: ReadonlyMap<string, string>;
}

/** The timelines of a tuple, with the codes that they belong to. */
export interface TupleParts {
  readonly lines: TupleLines;
  readonly county: string;
  readonly independent: boolean;
  /** Code of the place or town of the city's row; "" for none. */
  readonly cityKey: string;
  readonly cityRows: readonly RateRow[];
  /** District codes, in the order of `lines.districts`. */
  readonly districts: readonly string[];
}

type LocalLevel = ListMark['level'];

function markOf(book: LineContext, state: StateName, level: LocalLevel): ListMark {
  return (
    book.marks.get(`${state.code}/${level}`) ?? {
      state: state.code,
      level,
      mark: 'none',
      unlisted: 'unknown',
      since: DATE_OPEN,
      history: 'current',
      until: DATE_OPEN,
      source: 0,
      fill: "the state's own list",
      gap: '',
    }
  );
}

function levies(mark: ListMark): boolean {
  return mark.mark !== 'not-levied';
}

/** The line of a state with these rows. */
export function stateLine(rows: readonly RateRow[], state: StateName): readonly Segment[] {
  const mark: ListMark = {
    state: state.code,
    level: 'county',
    mark: 'complete',
    unlisted: 'unknown',
    since: DATE_OPEN,
    history: 'current',
    until: DATE_OPEN,
    source: 0,
    fill: "the state's rate history",
    gap: '',
  };
  return fill(paint(rows), mark, { state: state.name, jurisdiction: 'the state' });
}

function notSupported(state: StateName): readonly Segment[] {
  return [
    unknown(
      DATE_MIN,
      DATE_OPEN,
      `${state.name}: its boundary file says that its own tax ` +
        'does not apply here; what is levied instead is not known.',
    ),
  ];
}

/** Where a tuple lies; a city that represents its county always counts as a city. */
interface Resolved {
  readonly tier: TierFact | undefined;
  readonly cityKey: string;
  readonly unsure: boolean;
  readonly spot: Spot;
}

function placesOf(book: LineContext, state: StateName, tuple: AreaTuple): Resolved {
  // A spot in an independent city is the city's, even where a coarser border says otherwise.
  const tier = book.independent.get(tuple.place) ?? book.tiers.get(tuple.county);
  const county = tier?.kind === 'independent' ? tier.county : tuple.county;
  const forced = tier?.kind === 'independent' ? tier.place : '';
  const unsure = tuple.place === '?' && !forced;
  const place = forced || (unsure ? '' : tuple.place);
  // Where towns govern, lists name the town; a place inside one counts only if it is listed.
  const town =
    tuple.town && (!place || book.rows.city(tuple.town, county).length > 0) ? tuple.town : '';
  const cityKey = town || place;
  const places = [...new Set([tuple.town, place, cityKey])].filter((code) => code !== '');
  return { tier, cityKey, unsure, spot: { state: state.code, county, places } };
}

function countyLine(
  book: LineContext,
  state: StateName,
  spot: Resolved,
): readonly Segment[] | null {
  const mark = markOf(book, state, 'county');
  const fips = spot.spot.county;
  if (!fips) {
    const reason = `${state.name}: the county is not known here; county boundaries would fill it.`;
    return levies(mark) ? [unknown(DATE_MIN, DATE_OPEN, reason)] : null;
  }
  if (spot.tier?.kind === 'independent') return null;
  if (spot.tier) return [nothing(DATE_MIN, DATE_OPEN, mark.source, mark.since)];
  const county = book.counties.get(fips);
  const jurisdiction = county?.fullName ?? `county ${fips}`;
  return fill(paint(book.rows.county(fips, spot.cityKey)), mark, {
    state: state.name,
    jurisdiction,
  });
}

function cityLine(
  book: LineContext,
  state: StateName,
  spot: Resolved,
  rows: readonly RateRow[],
): readonly Segment[] | null {
  if (!spot.cityKey) return null;
  const mark = markOf(book, state, 'city');
  const name = book.places.get(spot.cityKey)?.fullName ?? rows[0]?.name ?? spot.cityKey;
  return fill(paint(rows), mark, { state: state.name, jurisdiction: name });
}

const ALWAYS = { from: DATE_MIN, to: DATE_OPEN, countywide: false, always: true };

interface Districts {
  readonly codes: readonly string[];
  readonly lines: readonly DistrictLine[];
}

function districtsOf(book: LineContext, state: StateName, tuple: AreaTuple, spot: Spot): Districts {
  const own = tuple.districts
    .filter((code) => !code.startsWith(OPEN_MARK))
    .map((code) => ({ ...ALWAYS, code }));
  const members = book.members.at(spot);
  // A record names all districts that its authority knows, so none with a code of our own, and
  // none that has levied only since its file ended.
  const isUnnamed = ({ always, code, from }: (typeof members)[number]): boolean => {
    const { complete = false, until = DATE_OPEN } = tuple;
    if (!complete || always || code.startsWith(OWN_CODE)) return true;
    return Math.max(from, firstLevy(book.rows.district(state.code, code)) ?? 0) > until;
  };
  const held = [...own, ...members.filter(isUnnamed)];
  const codes = [...new Set(held.map((member) => member.code))].sort();
  const mark = markOf(book, state, 'district');
  const lines = codes.map((code): DistrictLine => {
    const memberships = held.filter((member) => member.code === code);
    const rows = book.rows.district(state.code, code);
    const name = book.districtNames.get(`${state.code}/${code}`) || rows[0]?.name || code;
    const subject = { state: state.name, jurisdiction: `the district ${name}` };
    const rates = paint(rows);
    // A boundary shows that the district exists, so a missing rate is never zero.
    const line = fill(rates, { ...mark, unlisted: 'unknown' }, subject);
    const clipped = during(line, memberships);
    return {
      line: fill(clipped, { ...mark, history: 'full', since: DATE_MIN }, subject),
      countywide: memberships.every((member) => member.countywide),
    };
  });
  return { codes, lines };
}

/** The days on which it makes a difference that the district may or may not be in force here. */
function openDistrict(book: LineContext, state: StateName, code: string): readonly Segment[] {
  const rows = book.rows.district(state.code, code);
  const name = book.districtNames.get(`${state.code}/${code}`) || rows[0]?.name || code;
  const reason =
    `${state.name}: it cannot be told whether the district ${name} contains this ` +
    'spot; an address with a ZIP, or a boundary of the district, would fill it.';
  return paint(rows)
    .filter(({ sales, use }) => sales > 0 || use > 0)
    .map(({ from, to }) => unknown(from, to, reason));
}

/** The days on which a spot should lie in one location of a list, but lies in none or several. */
function locationGaps(
  book: LineContext,
  state: StateName,
  { districts, complete }: AreaTuple,
): readonly Segment[] {
  const outside = paint(book.rows.district(state.code, NO_CODE));
  const [first] = book.rows.district(state.code, NO_CODE);
  if (first === undefined) return [];
  const inside = districts.filter((code) =>
    book.rows.district(state.code, code).some(({ source }) => source === first.source),
  );
  if (inside.length === 0) return complete === true ? [] : outside;
  const reason =
    `${state.name}: several locations hold here (${inside.join(', ')}), and each has ` +
    'all that is levied; newer boundaries would fill it.';
  return inside.length === 1 ? [] : outside.map(({ from, to }) => unknown(from, to, reason));
}

function gapLines(
  book: LineContext,
  state: StateName,
  tuple: AreaTuple,
  spot: Resolved,
): readonly Segment[] {
  const { county } = spot.spot;
  const out: Segment[] = [];
  if (!tuple.complete) {
    const keys = spot.spot.places.length > 0 ? spot.spot.places : [''];
    for (const key of keys) out.push(...paint(book.rows.gaps(county, key)));
  }
  out.push(...locationGaps(book, state, tuple));
  for (const code of tuple.districts.filter((one) => one.startsWith(OPEN_MARK))) {
    out.push(...openDistrict(book, state, code.slice(OPEN_MARK.length)));
  }
  const named = book.counties.get(county)?.fullName ?? state.name;
  // A record without a municipality says that none levies a tax; one of a village does not say so.
  const saysNone = tuple.complete === true && spot.cityKey === '' && !spot.unsure;
  const townUnknown =
    tuple.town === '' &&
    !saysNone &&
    book.rows.hasTowns(county) &&
    book.rows.city(spot.cityKey, county).length === 0;
  if (townUnknown) {
    const reason =
      `${state.name}: it cannot be told which town of ${named} contains this spot; ` +
      'town boundaries would fill it.';
    out.push(unknown(DATE_MIN, DATE_OPEN, reason));
  }
  if (!spot.unsure) return out;
  const divided = book.divided.get(county);
  if (divided !== undefined) return [...out, unknown(DATE_MIN, DATE_OPEN, divided)];
  const mark = markOf(book, state, 'city');
  const matters = levies(mark) && (mark.unlisted === 'unknown' || book.rows.hasCities(county));
  if (matters || book.members.divides(county)) {
    const reason =
      `${state.name}: it cannot be told whether a municipality of ${named} contains ` +
      'this spot; place boundaries would fill it.';
    out.push(unknown(DATE_MIN, DATE_OPEN, reason));
  }
  return out;
}

function estimateOf(book: LineContext, spot: Resolved): Estimate | null {
  if (!book.hasEstimates) return null;
  const total = spot.cityKey
    ? paint(book.estimates.city(spot.cityKey, spot.spot.county)).at(-1)
    : undefined;
  const county = paint(book.estimates.county(spot.spot.county)).at(-1);
  return total || county ? { total: total ?? null, county: county ?? null } : null;
}

/** The timelines of a tuple. */
export function linesOf(book: LineContext, state: StateName, tuple: AreaTuple): TupleParts {
  const spot = placesOf(book, state, tuple);
  const { county } = spot.spot;
  const cityRows = spot.cityKey ? book.rows.city(spot.cityKey, county) : [];
  const districts = districtsOf(book, state, tuple, spot.spot);
  return {
    lines: {
      state:
        tuple.untaxed === true
          ? notSupported(state)
          : (book.stateLines.get(state.code) ?? stateLine(book.rows.state(state.code), state)),
      county: countyLine(book, state, spot),
      city: cityLine(book, state, spot, cityRows),
      districts: districts.lines,
      gaps: gapLines(book, state, tuple, spot),
      cap: book.caps.get(state.code) ?? null,
      stateName: state.name,
      estimate: estimateOf(book, spot),
    },
    county,
    independent: spot.tier?.kind === 'independent',
    cityKey: spot.cityKey,
    cityRows,
    districts: districts.codes,
  };
}
