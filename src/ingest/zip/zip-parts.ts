/** Makes the parts of one ZIP: cities, what is left of each county, and their shares. */
import type { ZipFringe, ZipPart } from '../../dataset/records.js';
import { closedName } from '../../address/place-name.js';
import type { OwnDistricts } from '../layer/districts.js';
import type { AreaTuple, InternArea } from '../model.js';
import {
  bindCities,
  isAllCities,
  isCity,
  type SharedFacts,
  tupleKey,
  tupleOf,
  type ZipReach,
} from './cities.js';
import type { PostalZip } from './counties.js';
import type { Evidence, ZipCount } from './zip-facts.js';
import { placeNames } from './names.js';

/** What a ZIP's parts depend on, besides the evidence for the ZIP itself. */
interface PartContext {
  readonly shared: SharedFacts;
  readonly allMunicipal: ReadonlySet<string>;
  readonly placesLoaded: ReadonlySet<string>;
  readonly countedStates: ReadonlySet<string>;
  /** Keys of the tuples in which any door with a ZIP lies. */
  readonly countedTuples: ReadonlySet<string>;
  /** Counties of the ZIP whose remainder may contain a city without a boundary. */
  readonly doubtful: (zip: PostalZip) => ReadonlySet<string>;
  readonly reachOf: (zip: PostalZip) => ZipReach;
  readonly districts: OwnDistricts;
  readonly intern: InternArea;
}

/** Parts of a ZIP, with their evidence. */
export interface BoundZip {
  readonly parts: readonly ZipPart[];
  /** Other areas that the ZIP may reach. */
  readonly reach: readonly ZipFringe[];
  /** The tuple of each part. */
  readonly tuples: readonly AreaTuple[];
  readonly weighed: boolean;
  /** Two-letter state of each part. */
  readonly states: readonly string[];
  /** Evidence of each city part. */
  readonly evidence: readonly ReadonlySet<Evidence>[];
}

interface Draft {
  readonly tuple: AreaTuple;
  readonly city: string;
  readonly incorporated: boolean;
  readonly evidence: Set<Evidence>;
  /** Position by county and kind, for a stable order where there are no weights. */
  readonly rank: number;
}

const PPM = 1_000_000;

/** Label of a part: the place's usual name in capitals. */
function cityLabel(context: PartContext, tuple: AreaTuple): string {
  const place = context.shared.names.place(tuple.town || tuple.place);
  return (place === undefined ? '' : (placeNames(place)[0] ?? place.name)).toUpperCase();
}

function stateOf(context: PartContext, tuple: AreaTuple): string {
  return context.shared.stateOf.get(tuple.county.slice(0, 2)) ?? '';
}

/**
 * Cities with the postal name come first, then others in the order of counties, remainders last.
 */
function rankOf(zip: PostalZip, tuple: AreaTuple, city: string): number {
  const county = zip.counties.indexOf(tuple.county);
  const postal = zip.names.some((name) => closedName(name) === closedName(city));
  return (isCity(tuple) ? (postal ? 0 : 100) : 200) + county;
}

/**
 * The remainders of counties outside the bound cities: none where there can be no such land, and of
 * towns those that the ZIP's extent reaches.
 */
function remainders(
  context: PartContext,
  zip: PostalZip,
  county: string,
  cities: boolean,
): readonly AreaTuple[] {
  const { shared } = context;
  const { extent } = context.reachOf(zip);
  const state = shared.stateOf.get(county.slice(0, 2)) ?? '';
  const towns = shared.townStates.has(state);
  const all = towns || context.allMunicipal.has(state) || extent?.allCities === true;
  if (cities && (all || isAllCities(shared, county))) return [];
  const reached = towns ? (extent?.reached ?? []).map(({ tuple }) => tuple) : [];
  const own = reached.filter((tuple) => tuple.county === county && isCity(tuple));
  if (own.length > 0) return own;
  const place = !towns && !context.doubtful(zip).has(county) ? '' : '?';
  return [{ state: county.slice(0, 2), county, place, town: '', districts: [] }];
}

/**
 * Where place boundaries are missing, "outside the cities" is a valid row in a ZIP's list, but no
 * address is known to lie there. Locating then compares the area with that of this tuple.
 */
function doubtOf(context: PartContext, tuple: AreaTuple): AreaTuple | null {
  const isRest = tuple.place === '' && tuple.town === '';
  return isRest && !context.placesLoaded.has(stateOf(context, tuple))
    ? { ...tuple, place: '?' }
    : null;
}

function draftParts(context: PartContext, zip: PostalZip, doors: ZipDoors): Map<string, Draft> {
  const { shared } = context;
  const fallback = (zip.names[0] ?? '').toUpperCase();
  const drafts = new Map<string, Draft>();
  const draft = (tuple: AreaTuple, evidence: Iterable<Evidence>): void => {
    const found = drafts.get(tupleKey(tuple));
    if (found !== undefined) {
      for (const kind of evidence) found.evidence.add(kind);
      return;
    }
    const city = isCity(tuple) ? cityLabel(context, tuple) || fallback : fallback;
    drafts.set(tupleKey(tuple), {
      tuple,
      city,
      evidence: new Set(evidence),
      rank: rankOf(zip, tuple, city),
      incorporated: isCity(tuple) || context.allMunicipal.has(stateOf(context, tuple)),
    });
  };
  const reach = context.reachOf(zip);
  const reached = (reach.extent?.reached ?? []).map((spot) => spot.tuple);
  const draftAll = (tuple: AreaTuple, evidence: Iterable<Evidence>): void => {
    const each = context.districts.variants(tuple, zip.zip, reached, reach.mayHold);
    for (const one of each) draft(one, evidence);
  };
  const bound = bindCities(shared, zip, reach);
  for (const { tuple, evidence } of bound.values()) draftAll(tuple, evidence);
  for (const { tuple } of doors.parts.values()) draft(tuple, ['doors']);
  for (const county of zip.counties) {
    const cities = [...drafts.values()].some(
      ({ tuple }) => tuple.county === county && isCity(tuple),
    );
    for (const rest of remainders(context, zip, county, cities)) draftAll(rest, []);
  }
  return drafts;
}

/**
 * Whether doors weigh a ZIP. A source must have all doors of its state, all cities with the ZIP's
 * name or in a list must be among them, and no bound city may have doors without ZIPs only;
 * otherwise shares would be misleading.
 */
function weigh(context: PartContext, doors: ZipDoors, drafts: Map<string, Draft>): boolean {
  if (!doors.enough) return false;
  for (const [key, { tuple, evidence }] of drafts) {
    const state = stateOf(context, tuple);
    const needed =
      evidence.has('name') ||
      evidence.has('list') ||
      (isCity(tuple) && evidence.size > 0 && !context.countedTuples.has(key));
    if (doors.parts.has(key)) {
      if (!context.countedStates.has(state)) return false;
    } else if (needed && context.countedStates.has(state)) return false;
  }
  return true;
}

/** Binds one ZIP. */
export function bindZip(
  context: PartContext,
  zip: PostalZip,
  counts: readonly ZipCount[],
): BoundZip {
  const doors = readDoors(counts);
  const drafts = draftParts(context, zip, doors);
  const weighed = weigh(context, doors, drafts);
  const kept = [...drafts].filter(
    ([key, { tuple }]) =>
      !weighed || doors.parts.has(key) || !context.countedStates.has(stateOf(context, tuple)),
  );
  const sized = kept.map(([key, one]) => ({ one, doors: doors.parts.get(key)?.doors ?? 0 }));
  sized.sort(
    (a, b) =>
      (weighed ? b.doors - a.doors : 0) ||
      a.one.rank - b.one.rank ||
      (tupleKey(a.one.tuple) < tupleKey(b.one.tuple) ? -1 : 1),
  );
  const { districts } = context;
  const reached = new Map(
    (context.reachOf(zip).extent?.reached ?? []).map((spot) => [
      districts.key(districts.settle(spot.tuple, zip.zip)),
      spot,
    ]),
  );
  const parts = sized.map(({ one, doors: own }): ZipPart => {
    const doubt = doubtOf(context, one.tuple);
    const spot = reached.get(districts.key(one.tuple));
    return {
      area: context.intern(one.tuple),
      weight: weighed && own > 0 ? Math.round((own / doors.total) * PPM) : null,
      land: spot?.land ?? null,
      city: one.city,
      incorporated: one.incorporated,
      lat: spot?.lat ?? 0,
      lng: spot?.lng ?? 0,
      ...(doubt === null ? {} : { doubt: context.intern(doubt) }),
    };
  });
  const evidence = kept.filter(([, { tuple }]) => isCity(tuple)).map(([, one]) => one.evidence);
  const states = sized.map(({ one }) => stateOf(context, one.tuple));
  const reach = weighed
    ? []
    : reachBeyond(context, zip, new Set(sized.map(({ one }) => districts.key(one.tuple))));
  return { parts, reach, weighed, states, evidence, tuples: sized.map(({ one }) => one.tuple) };
}

/**
 * Areas other than the parts in which an address of the ZIP may lie: those that its extent touches
 * or, where that is not known, every city in its counties.
 */
function reachBeyond(
  context: PartContext,
  zip: PostalZip,
  parts: ReadonlySet<string>,
): readonly ZipFringe[] {
  const { districts } = context;
  const { extent, mayHold } = context.reachOf(zip);
  const reached =
    extent?.reached ??
    citiesOf(context, zip).flatMap((tuple) =>
      districts.variants(tuple, zip.zip, [], mayHold).map((each) => ({ tuple: each, land: 0 })),
    );
  const fringe = new Map<number, number>();
  for (const { tuple: spot, land } of reached) {
    const tuple = districts.settle(spot, zip.zip);
    if (parts.has(districts.key(tuple))) continue;
    const area = context.intern(tuple);
    fringe.set(area, (fringe.get(area) ?? 0) + land);
  }
  return [...fringe].map(([area, land]) => ({ area, land }));
}

function citiesOf({ shared, placesLoaded }: PartContext, zip: PostalZip): readonly AreaTuple[] {
  return zip.counties.flatMap((county) =>
    (shared.placesOf.get(county) ?? []).flatMap((place) => {
      const tuple = placesLoaded.has(place.state) ? tupleOf(shared, place, county) : null;
      return tuple === null ? [] : [tuple];
    }),
  );
}

// Doors as evidence: which parts of a ZIP they show, and when they weigh it.

/** With fewer doors a part is ignored, since one wrong ZIP would bind it to a town far away. */
const PART_DOORS_MIN = 3;
/** Smaller parts (below 0.5 %) are slivers or errors. */
const PART_SHARE_MIN = 0.005;
/** A ZIP with fewer doors is not weighed. */
const ZIP_DOORS_MIN = 20;

/** A part of a ZIP that doors show. */
interface DoorPart {
  readonly tuple: AreaTuple;
  readonly doors: number;
}

/** What the doors of one ZIP say. */
interface ZipDoors {
  readonly parts: ReadonlyMap<string, DoorPart>;
  /** Number of doors in the parts that count. */
  readonly total: number;
  /** Whether there are enough doors to weigh the ZIP, if the source has all of them. */
  readonly enough: boolean;
}

/** Adds up the counts of a ZIP, without parts that are too small to be real. */
function readDoors(counts: readonly ZipCount[]): ZipDoors {
  const sums = new Map<string, DoorPart>();
  let all = 0;
  for (const { tuple, count } of counts) {
    const key = tupleKey(tuple);
    sums.set(key, { tuple, doors: (sums.get(key)?.doors ?? 0) + count });
    all += count;
  }
  const parts = new Map(
    [...sums].filter(([, { doors }]) => doors >= PART_DOORS_MIN && doors >= all * PART_SHARE_MIN),
  );
  let total = 0;
  for (const { doors } of parts.values()) total += doors;
  return { parts, total, enough: total >= ZIP_DOORS_MIN };
}
