/** What is known of ZIPs before any door is read: names, counties, and how far each may extend. */
import type { Pieces } from '../progress.js';
import { byZip, type SharedFacts, sharedFacts, spotKey, type ZipReach } from './cities.js';
import { listPostalZips, type PostalZip } from './counties.js';
import { ZipExtents } from './extent.js';
import { PlaceNames } from './names.js';
import { kilometres, landedZips, type PlacedZip, placeZip } from './placed.js';
import type { ZipLists } from './zip-facts.js';
import type { AreaTuple } from '../model.js';
import type { Microdegrees } from '../../geo/microdegrees.js';

/** What the lists and boundaries show. */
export interface KnownZips {
  readonly shared: SharedFacts;
  readonly postalZips: readonly PostalZip[];
  readonly reachOf: (zip: PostalZip) => ZipReach;
}

const UNKNOWN: ZipReach = {
  extent: null,
  spots: [],
  mayTouch: () => true,
  mayHold: () => true,
};

/** Reads the lists and, if there are boundaries, estimates the extent of every ZIP. */
export function* knownZips(input: ZipLists): Pieces<KnownZips> {
  const names = new PlaceNames(input.places, input.facts.aliases);
  const shared = sharedFacts(input, names);
  const postalZips = listPostalZips(input, names);
  yield;
  const all = yield* reaches(input, shared, postalZips);
  return { shared, postalZips, reachOf: ({ zip }) => all.get(zip) ?? UNKNOWN };
}

/** The extent of every ZIP, and which cities may touch it; none without boundaries. */
function* reaches(
  input: ZipLists,
  shared: SharedFacts,
  postalZips: readonly PostalZip[],
): Pieces<ReadonlyMap<number, ZipReach>> {
  const { tupleAt, polygonOf = () => undefined } = input;
  if (tupleAt === undefined) return new Map();
  const points = byZip(input.points);
  const listed = input.tabulated.length > 0 ? input.tabulated : input.delivered;
  const landed = landedZips(input.points, new Set(listed.map(({ zip }) => zip)));
  const placed = postalZips
    .map((zip) =>
      placeZip(zip, points.get(zip.zip) ?? [], tupleAt, namedBy(shared, zip), landed.has(zip.zip)),
    )
    .filter((zip) => zip !== null);
  const cities = input.places.flatMap(({ geoid }) => polygonOf(geoid) ?? []);
  yield;
  const extents = yield* ZipExtents.sampled(placed, tupleAt, cities);
  const byNumber = new Map(placed.map((zip) => [zip.zip, zip]));
  const all = new Map<number, ZipReach>();
  for (const { zip: number } of postalZips) {
    const zip = byNumber.get(number);
    if (zip === undefined) {
      const spots = (points.get(number) ?? [])
        .map(({ lat, lng }) => tupleAt(lat, lng))
        .filter((at) => at !== null);
      all.set(number, { ...UNKNOWN, spots });
    } else all.set(number, reachOf(input, extents, zip));
    yield;
  }
  return all;
}

/** Codes of the places with one of a ZIP's postal names. */
function namedBy(
  { stateOf, names }: SharedFacts,
  { names: postal, counties }: PostalZip,
): ReadonlySet<string> {
  const states = new Set(counties.map((county) => stateOf.get(county.slice(0, 2)) ?? ''));
  return new Set(
    [...states].flatMap((state) =>
      postal.flatMap((name) => names.find(state, name).map(({ place }) => place.geoid)),
    ),
  );
}

function reachOf(
  { polygonOf = () => undefined, polygonsOfDistrict = () => [] }: ZipLists,
  extents: ZipExtents,
  zip: PlacedZip,
): ZipReach {
  const extent = extents.of(zip);
  const reached = new Set(extent.reached.map(({ tuple }) => tuple.town || tuple.place));
  return {
    extent,
    spots: [],
    mayTouch: ({ geoid }) => {
      const polygon = reached.has(geoid) ? undefined : polygonOf(geoid);
      return polygon === undefined || extents.mayTouch(extent, polygon);
    },
    mayHold: (code) => {
      const drawn = polygonsOfDistrict(code);
      return (
        drawn.length === 0 ||
        extents.mayReach(zip, drawn) ||
        extent.reached.some(({ tuple }) => tuple.districts.includes(code))
      );
    },
  };
}

/** Where something lies. */
export interface Spot {
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
}

/** Sampled spots of every tuple, one for each ZIP. */
export function spotsOf(
  postalZips: readonly PostalZip[],
  reachOf: (zip: PostalZip) => ZipReach,
): ReadonlyMap<string, readonly Spot[]> {
  const spots = new Map<string, Spot[]>();
  const byTuple = new Map<AreaTuple, Spot[]>();
  for (const zip of postalZips) {
    for (const { tuple, lat, lng } of reachOf(zip).extent?.reached ?? []) {
      let known = byTuple.get(tuple);
      if (known === undefined) {
        const key = spotKey(tuple);
        known = spots.get(key) ?? [];
        spots.set(key, known);
        byTuple.set(tuple, known);
      }
      known.push({ lat, lng });
    }
  }
  return spots;
}

/** The spot nearest to the ZIP. It may be one of another ZIP, but it lies in the area. */
export function nearestSpot(spots: readonly Spot[], point: Spot | undefined): Spot {
  const [first = { lat: 0, lng: 0 }] = spots;
  if (point === undefined) return first;
  let [nearest, least] = [first, Infinity];
  for (const spot of spots) {
    const km = kilometres(point, spot);
    if (km < least) [nearest, least] = [spot, km];
  }
  return nearest;
}
