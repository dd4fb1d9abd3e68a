/**
 * Tells slivers of differently drawn borders from land that a place really has in another county.
 *
 * County borders are drawn with fewer vertices than places, but the vertices that are left lie on
 * the true border. Where a place ends at the county line, both ends of every piece of the coarser
 * line therefore lie on the place's own border, and the land between the two is a sliver. Where a
 * place reaches over the line, the line passes through it and its vertices lie elsewhere.
 */
import { Border } from '../geo/border.js';
import type { Polygon } from '../geo/polygon.js';

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
