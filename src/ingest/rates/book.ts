/**
 * Determines the rates of a tax area from rate rows. For the rules, see the decisions on known,
 * zero and unknown, on rows and labels, and on time. What it means that a list lacks a jurisdiction
 * follows from the list's completeness mark; it is never zero by default.
 */
import type { SourceRecord, UnknownRecord } from '../../dataset/records.js';
import type { DateInt } from '../../tax/date.js';
import type { AreaTuple, PlaceFact, RateBook, RateRow, ResolvedArea } from '../model.js';
import { combine, type CombinedTuple } from './combine.js';
import type {
  CountyFact,
  DistrictMember,
  DividedLand,
  ListMark,
  LocalCap,
  StateName,
  TierFact,
} from './facts.js';
import { type LineContext, linesOf, stateLine, type TupleParts } from './lines.js';
import { DATE_MIN, DATE_OPEN, OWN_CODE } from './list.js';
import { type StatedList, statedInput } from './stated-rates.js';
import { resolveProvince } from './province-taxes.js';
import { indexMembers, indexRows } from './rate-rows.js';

/** Everything that a book is made of; it reads nothing else. */
export interface RateBookInput {
  readonly sources: readonly SourceRecord[];
  /** For each jurisdiction in order of precedence: where rows overlap, the later one counts. */
  readonly rows: readonly RateRow[];
  /** Rows of the estimated layer; empty where that is not switched on. */
  readonly estimates: readonly RateRow[];
  /** Whether the recipe has an estimated layer. If not, no message refers to it. */
  readonly estimable?: boolean;
  readonly states: readonly StateName[];
  readonly counties: readonly CountyFact[];
  /** Incorporated places and governing towns. */
  readonly places: readonly PlaceFact[];
  /** Towns without boundaries, of which only the names are known. */
  readonly towns?: readonly PlaceFact[];
  readonly tiers: readonly TierFact[];
  readonly members: readonly DistrictMember[];
  /** District name by "<state>/<code>". */
  readonly districtNames: ReadonlyMap<string, string>;
  readonly marks: readonly ListMark[];
  readonly caps: readonly LocalCap[];
  /** Land outside cities that is divided by districts without known lines. */
  readonly divided?: readonly DividedLand[];
  /** Rates by the codes of boundary files, where these differ from those of `rows`. */
  readonly stated?: readonly StatedList[];
}

const NOWHERE: StateName = { code: '', fips: '', name: 'an unlisted state', country: 'USA' };

function context(input: RateBookInput): LineContext {
  const tiers = new Map(input.tiers.map((tier) => [tier.county, tier]));
  const places = new Map(input.places.map((place) => [place.geoid, place]));
  const rows = indexRows(input.rows, tiers, places);
  return {
    rows,
    stateLines: new Map(
      input.states
        .filter(({ country }) => country !== 'CAN')
        .map((state) => [state.code, stateLine(rows.state(state.code), state)]),
    ),
    estimates: indexRows(input.estimates, tiers, places),
    hasEstimates: input.estimates.length > 0,
    members: indexMembers(input.members, places),
    districtNames: input.districtNames,
    tiers,
    independent: new Map(
      input.tiers.filter((tier) => tier.kind === 'independent').map((tier) => [tier.place, tier]),
    ),
    places: new Map([...(input.towns ?? []), ...input.places].map((place) => [place.geoid, place])),
    counties: new Map(input.counties.map((county) => [county.fips, county])),
    marks: new Map(input.marks.map((mark) => [`${mark.state}/${mark.level}`, mark])),
    divided: new Map((input.divided ?? []).map(({ county, note }) => [county, note])),
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

/** Whether districts that a state's list lacks are treated as levying nothing. */
function lacksDistricts(book: LineContext, state: StateName): boolean {
  const mark = book.marks.get(`${state.code}/district`);
  return mark?.mark === 'partial' && mark.unlisted === 'nothing';
}

/**
 * The gap without a reference to the estimated layer, for recipes that have none. The sentence is
 * edited, because notes of fact tables also refer to the layer, and recipes with and without it
 * share the tables.
 */
function withoutLayer(gap: UnknownRecord): UnknownRecord {
  const reason = gap.reason.replace(' or the estimated layer would fill', ' would fill');
  return { ...gap, reason };
}

/** Makes the book. It depends only on its input: equal tuples give equal results. */
export function createRateBook(input: RateBookInput): RateBook {
  const book = context(input);
  const states = new Map(
    input.states.flatMap((state): [string, StateName][] => [
      [state.fips, state],
      [state.code, state],
    ]),
  );
  const { stated = [] } = input;
  const statedBook = stated.length === 0 ? null : createRateBook(statedInput(input, stated));
  const lastDays = new Map(input.states.map((state) => [state.code, lastDay(book, state)]));

  function resolve(tuple: AreaTuple): ResolvedArea {
    if (tuple.stated === true && statedBook !== null) {
      return statedBook.resolve({ ...tuple, stated: false });
    }
    const state = states.get(tuple.state) ?? NOWHERE;
    if (state.country === 'CAN') return resolveProvince(state, book.rows.state(state.code));
    const parts = linesOf(book, state, tuple);
    const rates = combine(parts.lines);
    const county = book.counties.get(parts.county);
    const place = book.places.get(parts.cityKey);
    const countyName = parts.independent
      ? plainPlace(place?.name ?? '')
      : county
        ? plainCounty(county.fullName)
        : '';
    const limited = rates.unknown.some(({ from, to }) => from === DATE_MIN && to === DATE_OPEN);
    return {
      components: components(book, state, parts, rates, tuple),
      unknown: input.estimable === true ? rates.unknown : rates.unknown.map(withoutLayer),
      incorporated: parts.cityKey !== '',
      countyName,
      placeName: plainPlace(place?.name ?? parts.cityRows.at(-1)?.name ?? ''),
      staleAfter: limited ? DATE_OPEN : (lastDays.get(state.code) ?? DATE_OPEN),
      estimated: rates.estimated,
      partial: tuple.complete !== true && lacksDistricts(book, state),
    };
  }

  return { sources: input.sources, resolve };
}

// Names and codes of jurisdictions as answers show them.

const PLACE_DIGITS = 7;

/** Words that the Census Bureau adds to names of county equivalents, longest first. */
const COUNTY_SUFFIX = new RegExp(
  ' (City and Borough|Census Area|Planning Region|County|Parish|' +
    'Borough|Municipality|Municipio|city)$',
);

/** "Orange County" to "Orange"; "Carson City" and "District of Columbia" stay. */
export function plainCounty(fullName: string): string {
  return fullName.replace(COUNTY_SUFFIX, '');
}

/** The county's code: the state's own number where it has one, else the last three digits. */
function countyCode(county: CountyFact): string {
  return county.code || county.fips.slice(2);
}

/**
 * Five digits of a place. A governing town has those of the city that is identical with it, or none
 * without such a city, because the numbers in town lists are not the Census Bureau's.
 */
function placeCode(geoid: string, within: PlaceFact | undefined, name: string): string | null {
  if (geoid.length <= PLACE_DIGITS) return geoid.slice(-5);
  return within?.name === name ? within.geoid.slice(-5) : null;
}

/** What the Census Bureau adds to the name of a city that is identical with its county. */
const GOVERNMENT = new RegExp(
  ' (metropolitan|metro|unified|consolidated) government' +
    '( \\(balance\\))?$|( city)? \\(balance\\)$',
);

/** "Nashville-Davidson metropolitan government (balance)" to "Nashville-Davidson", and alike. */
export function plainPlace(name: string): string {
  return name.replace(GOVERNMENT, '');
}

/** Label of a place: capitals, as publishers print it. */
function placeLabel(place: PlaceFact): string {
  return plainPlace(place.name).toUpperCase();
}

/** Label of a district: its name in capitals, or its code where no name is known. */
function districtLabel(name: string, code: string): string {
  return name ? name.toUpperCase() : `LOCAL DISTRICT: ${code}`;
}
