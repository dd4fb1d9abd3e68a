/**
 * From rate rows to the rates of a tax area. Rules: decisions on known, zero and unknown, on rows
 * and labels, and on time; a list's silence means what its completeness mark says, never zero by
 * default.
 */
import { DATE_MIN, DATE_OPEN } from './rates/day.js';
import { resolveProvince } from './rates/canada.js';
import { combine } from './rates/combine.js';
import { indexRows } from './rates/index-rows.js';
import {
  countyCode, districtLabel, placeCode, placeLabel, plainCounty, plainPlace,
} from './rates/label.js';
import { indexMembers } from './rates/membership.js';
import { linesOf } from './rates/lines.js';
import { OWN_CODE } from './rates/list.js';
import type { DateInt } from '../tax/date.js';
import type { SourceRecord } from '../dataset/records.js';
import type { AreaTuple, PlaceFact, RateBook, RateRow, ResolvedArea } from './model.js';
import type { CombinedTuple } from './rates/combine.js';
import type {
  CountyFact, DistrictMember, ListMark, LocalCap, StateName, TierFact,
} from './rates/facts.js';
import type { LineContext, TupleParts } from './rates/lines.js';

/** Everything a book is made of. Nothing in it is looked up elsewhere. */
export interface RateBookInput {
  readonly sources: readonly SourceRecord[];
  /** Within a jurisdiction in order of precedence: where rows overlap the later one holds. */
  readonly rows: readonly RateRow[];
  /** Rows of the estimated layer; empty when it is switched off. */
  readonly estimates: readonly RateRow[];
  readonly states: readonly StateName[];
  readonly counties: readonly CountyFact[];
  /** Incorporated places and governing towns. */
  readonly places: readonly PlaceFact[];
  readonly tiers: readonly TierFact[];
  readonly members: readonly DistrictMember[];
  /** District name by "<state>/<code>". */
  readonly districtNames: ReadonlyMap<string, string>;
  readonly marks: readonly ListMark[];
  readonly caps: readonly LocalCap[];
}

const NOWHERE: StateName = { code: '', fips: '', name: 'an unlisted state', country: 'USA' };

function context(input: RateBookInput): LineContext {
  const tiers = new Map(input.tiers.map((tier) => [tier.county, tier]));
  const places = new Map(input.places.map((place) => [place.geoid, place]));
  return {
    rows: indexRows(input.rows, tiers, places),
    estimates: indexRows(input.estimates, tiers, places),
    hasEstimates: input.estimates.length > 0,
    members: indexMembers(input.members, places),
    districtNames: input.districtNames,
    tiers,
    independent: new Map(input.tiers.filter((tier) => tier.kind === 'independent')
      .map((tier) => [tier.place, tier])),
    places,
    counties: new Map(input.counties.map((county) => [county.fips, county])),
    marks: new Map(input.marks.map((mark) => [`${mark.state}/${mark.level}`, mark])),
    caps: new Map(input.caps.map(({ state, cap }) => [state, cap])),
  };
}

type Component = ResolvedArea['components'][number];

function components(
  book: LineContext,
  state: StateName,
  parts: TupleParts,
  rates: CombinedTuple,
  tuple: AreaTuple,
): readonly Component[] {
  const out: Component[] = [];
  const add = (
    level: Component['level'],
    jurName: string,
    jurCode: string | null,
    periods: Component['periods'],
  ): void => {
    out.push({ level, jurName, jurCode, kind: null, periods });
  };
  add('state', state.code, state.fips, rates.state);
  const county = parts.county && book.counties.get(parts.county);
  if (rates.county && parts.county) {
    const name = county ? plainCounty(county.fullName).toUpperCase() : parts.county;
    add('county', name, county ? countyCode(county) : parts.county.slice(2), rates.county);
  }
  if (rates.city) {
    const place = book.places.get(parts.cityKey);
    const listed = parts.cityRows.at(-1);
    const name = place ? placeLabel(place) : (listed?.name ?? parts.cityKey).toUpperCase();
    const within = book.places.get(tuple.place);
    const code = listed?.code || placeCode(parts.cityKey, within, place?.name ?? '');
    add('city', name, code, rates.city);
  }
  parts.districts.forEach((code, index) => {
    if (rates.districts[index]?.length === 0) return;
    const listed = book.rows.district(state.code, code).at(-1)?.name ?? '';
    const label = districtLabel(book.districtNames.get(`${state.code}/${code}`) ?? listed, code);
    add('district', label, code.startsWith(OWN_CODE) ? null : code, rates.districts[index] ?? []);
  });
  return out;
}

/** Last day that all lists of a state were published for. */
function lastDay(book: LineContext, state: StateName): DateInt {
  return (['county', 'city', 'district'] as const).reduce((last, level) => {
    const mark = book.marks.get(`${state.code}/${level}`);
    return mark !== undefined && mark.until < last && mark.mark !== 'none' ? mark.until : last;
  }, DATE_OPEN);
}

/** Builds the book: pure over its input, the same tuple always gets the same answer. */
export function createRateBook(input: RateBookInput): RateBook {
  const book = context(input);
  const states = new Map(input.states.flatMap((state): [string, StateName][] =>
    [[state.fips, state], [state.code, state]]));
  const lastDays = new Map(input.states.map((state) => [state.code, lastDay(book, state)]));

  function resolve(tuple: AreaTuple): ResolvedArea {
    const state = states.get(tuple.state) ?? NOWHERE;
    if (state.country === 'CAN') return resolveProvince(state, book.rows.state(state.code));
    const parts = linesOf(book, state, tuple);
    const rates = combine(parts.lines);
    const county = book.counties.get(parts.county);
    const place = book.places.get(parts.cityKey);
    const countyName = parts.independent
      ? plainPlace(place?.name ?? '')
      : county ? plainCounty(county.fullName) : '';
    const limited = rates.unknown.some(({ from, to }) => from === DATE_MIN && to === DATE_OPEN);
    return {
      components: components(book, state, parts, rates, tuple),
      unknown: rates.unknown,
      incorporated: parts.cityKey !== '',
      countyName,
      placeName: plainPlace(place?.name ?? parts.cityRows.at(-1)?.name ?? ''),
      staleAfter: limited ? DATE_OPEN : lastDays.get(state.code) ?? DATE_OPEN,
      estimated: rates.estimated,
    };
  }

  return { sources: input.sources, resolve };
}
