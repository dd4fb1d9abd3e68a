/** Own counties of places, by the share of their area. */
import { BandedPolygon, Border, type Polygon } from '../../geo/polygon.js';
import type { BoundaryFeature } from './overlay.js';

/** Points of the sampling grid along each side of a place's bounding box. */
const GRID = 100;
/** Share from which a county counts whose land may be a sliver or not. */
const UNCLEAR_SHARE_MIN = 0.02;

/** What is known of places and counties apart from the borders. */
export interface KnownCounties {
  /** "<place>/<county>" where a publisher names the place in the county. */
  readonly listed: ReadonlySet<string>;
  /** Counties of places by an earlier list, from which slivers alone are taken. */
  readonly earlier?: ReadonlyMap<string, readonly string[]>;
}

/** Spots of a place (x, y, x, y, …) by the county that holds them. */
type Spots = Map<string, number[]>;

export interface CountyShare {
  readonly county: string;
  readonly share: number;
}

function addSpot(
  counties: readonly BandedPolygon[], x: number, y: number, spots: Spots,
): void {
  const key = counties.find((county) => county.contains(x, y))?.polygon.key;
  if (key === undefined) return;
  const known = spots.get(key);
  if (known === undefined) spots.set(key, [x, y]);
  else known.push(x, y);
}

function addGrid(
  place: BandedPolygon, counties: readonly BandedPolygon[], spots: Spots,
): void {
  const { minX, minY, maxX, maxY } = place.polygon;
  for (let row = 0; row < GRID; row += 1) {
    const y = Math.floor(minY + ((maxY - minY) * (row + 0.5)) / GRID);
    for (let column = 0; column < GRID; column += 1) {
      const x = Math.floor(minX + ((maxX - minX) * (column + 0.5)) / GRID);
      if (place.contains(x, y)) addSpot(counties, x, y, spots);
    }
  }
}

/** The county that holds every vertex, or null: most places need no closer look. */
function soleCounty(place: BandedPolygon, counties: readonly BandedPolygon[]): string | null {
  const { coords } = place.polygon;
  const first = counties.find((county) => county.contains(coords[0]!, coords[1]!));
  if (first === undefined) return null;
  for (let at = 2; at < coords.length; at += 2) {
    if (!first.contains(coords[at]!, coords[at + 1]!)) return null;
  }
  return first.polygon.key;
}

/** Spots at the vertices: for places too thin for the grid. */
function addVertices(
  place: BandedPolygon, counties: readonly BandedPolygon[], spots: Spots,
): void {
  const { coords } = place.polygon;
  for (let at = 0; at < coords.length; at += 2) {
    addSpot(counties, coords[at]!, coords[at + 1]!, spots);
  }
}

function sharesOf(
  place: BandedPolygon, counties: readonly BandedPolygon[], known: KnownCounties,
): readonly CountyShare[] {
  const sole = soleCounty(place, counties);
  if (sole !== null) return [{ county: sole, share: 1 }];
  const spots: Spots = new Map();
  addGrid(place, counties, spots);
  if (spots.size === 0) addVertices(place, counties, spots);
  const total = [...spots.values()].reduce((sum, list) => sum + list.length, 0);
  const isOwn = ({ county, share }: CountyShare): boolean => {
    const polygon = counties.find((one) => one.polygon.key === county)?.polygon;
    if (polygon === undefined) return false;
    const pair = `${place.polygon.key}/${county}`;
    const land = { share, spots: spots.get(county) ?? [] };
    const verdict = judgeLand(place.polygon, polygon, land, known.listed.has(pair));
    if (verdict === 'sliver') return false;
    return known.earlier?.get(place.polygon.key)?.includes(county)
      ?? (verdict === 'own' || share >= UNCLEAR_SHARE_MIN);
  };
  return [...spots]
    .map(([county, list]): CountyShare => ({ county, share: list.length / total }))
    .sort((one, other) => other.share - one.share || (one.county < other.county ? -1 : 1))
    .filter((one, index) => index === 0 || isOwn(one));
}

/**
 * Counties each place lies in, largest share first, without slivers of differently drawn borders.
 * Only counties of the place's own state count: no municipality crosses a state line.
 */
export function placeCounties(
  places: readonly BoundaryFeature[],
  counties: readonly BoundaryFeature[],
  known: KnownCounties,
): ReadonlyMap<string, readonly CountyShare[]> {
  const byState = new Map<string, BandedPolygon[]>();
  for (const { polygon } of counties) {
    const state = polygon.key.slice(0, 2);
    byState.set(state, [...byState.get(state) ?? [], new BandedPolygon(polygon)]);
  }
  return new Map(places.map(({ polygon }) => {
    const near = (byState.get(polygon.key.slice(0, 2)) ?? []).filter(({ polygon: county }) =>
      county.minX <= polygon.maxX && county.maxX >= polygon.minX &&
      county.minY <= polygon.maxY && county.maxY >= polygon.minY);
    return [polygon.key, sharesOf(new BandedPolygon(polygon), near, known)] as const;
  }));
}

// Tells slivers of differently drawn borders from land that a place really has in another county.
// County borders are drawn with fewer vertices than places, but the vertices that are left lie on
// the true border. Where a place ends at the county line, both ends of every piece of the coarser
// line therefore lie on the place's own border, and the land between the two is a sliver. Where a
// place reaches over the line, the line passes through it and its vertices lie elsewhere.

/** Land of a place in a county: its share of the place, and spots in it (x, y, x, y, …). */
export interface CountyLand {
  readonly share: number;
  readonly spots: readonly number[];
}

/** Below this share no list makes land count, since it may rest on a few lots. */
const LISTED_SHARE_MIN = 0.005;
/** Below this share no reach over the line makes it count. */
const REACHING_SHARE_MIN = 0.01;
/** From this share on, land is no sliver, whatever its shape. */
const SLIVER_SHARE_MAX = 0.06;
/** Slivers this wide and wider were seen only below the smaller share. */
const WIDE_METRES = 500;
const WIDE_SHARE_MAX = 0.03;
/** No sliver of county borders drawn for 1:5,000,000 is wider. */
const SLIVER_METRES_MAX = 1000;
/** Rounding to the county borders' grid of 40 m alone makes slivers of this width. */
const GRID_METRES = 60;
/** How near an end of a border's edge lies to another border that it follows. */
const FOLLOWED_METRES = 120;
/** Part of the land beside edges that follow the place's border. */
const FOLLOWED_SHARE = 0.9;
/** How far around a place the county's border is looked at, in microdegrees. */
const MARGIN = 50_000;

interface Band {
  /** Greatest distance of a spot from the county's border, in metres. */
  readonly depth: number;
  /** Share of the spots whose nearest edge begins and ends on the place's border. */
  readonly followed: number;
}

function measure(place: Polygon, county: Polygon, spots: readonly number[]): Band {
  const box = {
    minX: place.minX - MARGIN, minY: place.minY - MARGIN,
    maxX: place.maxX + MARGIN, maxY: place.maxY + MARGIN,
  };
  const line = new Border(county, box);
  const own = new Border(place, box);
  const follows = new Map<number, boolean>();
  const isFollowed = (edge: number): boolean => {
    const known = follows.get(edge);
    if (known !== undefined) return known;
    const [ax = 0, ay = 0, bx = 0, by = 0] = line.edges.slice(edge * 4, edge * 4 + 4);
    const both = Math.max(own.nearest(ax, ay).metres, own.nearest(bx, by).metres);
    follows.set(edge, both <= FOLLOWED_METRES);
    return both <= FOLLOWED_METRES;
  };
  let [depth, followed] = [0, 0];
  for (let at = 0; at < spots.length; at += 2) {
    const { edge, metres } = line.nearest(spots[at]!, spots[at + 1]!);
    if (metres > depth) depth = metres;
    if (edge >= 0 && isFollowed(edge)) followed += 1;
  }
  return { depth, followed: followed / Math.max(1, spots.length / 2) };
}

/** own: the place lies in the county too. unclear: its shape does not tell. */
export type Verdict = 'own' | 'sliver' | 'unclear';

/**
 * Judges the land of a place in a county other than the one that holds most of it. `listed`: a
 * publisher names the place in this county.
 */
export function judgeLand(
  place: Polygon, county: Polygon, land: CountyLand, listed: boolean,
): Verdict {
  const { share, spots } = land;
  if (listed) return share < LISTED_SHARE_MIN ? 'unclear' : 'own';
  if (share >= SLIVER_SHARE_MAX) return 'own';
  const { depth, followed } = measure(place, county, spots);
  if (depth <= GRID_METRES) return 'sliver';
  if (depth > SLIVER_METRES_MAX) return share < REACHING_SHARE_MIN ? 'unclear' : 'own';
  if (depth > WIDE_METRES && share >= WIDE_SHARE_MAX) return 'unclear';
  return followed >= FOLLOWED_SHARE ? 'sliver' : 'unclear';
}
