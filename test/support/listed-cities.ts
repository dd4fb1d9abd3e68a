/**
 * Every city of every rate list with what its authority publishes on a day, and spots inside its
 * boundary. Read from the lists and boundaries of a recipe, not from the dataset built of them.
 */
import { foldName } from '../../src/address/place-name.js';
import { forEachEdge, type Polygon } from '../../src/geo/polygon.js';
import { readBoundaries } from '../../src/ingest/boundary/overlay.js';
import type { RateRow } from '../../src/ingest/model.js';
import { loadRates } from '../../src/ingest/rates/load.js';
import { READERS } from '../../src/ingest/readers.js';
import { readRecipe } from '../../src/ingest/recipe.js';
import { datasetsDir, SourceFiles } from '../../src/ingest/source-files.js';
import type { ReadGeometries } from '../../src/ingest/source/boundary-file.js';
import { loadStates } from '../../src/ingest/state-facts.js';
import type { ZipPoint } from '../../src/ingest/zip/zip-facts.js';
import type { DateInt } from '../../src/tax/date.js';

/** A spot in microdegrees. */
export interface Spot {
  readonly lat: number;
  readonly lng: number;
}

/** A city or town that a list names. */
export interface ListedCity {
  readonly state: string;
  /** Names it may be asked by: the list's and the Census Bureau's. */
  readonly names: readonly string[];
  /** Seven digits, ten for a town, "" where no place fact bears the name. */
  readonly place: string;
  /** Rows in force on the day, in order of precedence. */
  readonly rows: readonly RateRow[];
  /** Null where no boundary is held. */
  readonly polygon: Polygon | null;
  /** Five digits where the list names one, for a city without boundary. */
  readonly county: string;
}

export interface Listed {
  readonly cities: readonly ListedCity[];
  /** The publisher's point of every ZIP. */
  readonly points: readonly ZipPoint[];
  /** Whether a spot lies in a city or town whose boundary is held. */
  isInCity(spot: Spot): boolean;
}

/** The row that holds in a county on the day, null where the city is not listed there. */
export function rowIn(city: ListedCity, county: string): RateRow | null {
  const general = city.rows.filter((row) => row.county === '');
  return city.rows.filter((row) => row.county === county).at(-1) ?? general.at(-1) ?? null;
}

/** Whether a spot lies inside, by the parity of edges north of it. */
export function isInside(polygon: Polygon, { lat, lng }: Spot): boolean {
  const { coords } = polygon;
  if (lng < polygon.minX || lng > polygon.maxX || lat < polygon.minY || lat > polygon.maxY) {
    return false;
  }
  let inside = false;
  forEachEdge(polygon, (vertex) => {
    const [ax, ay, bx, by] = [
      coords[vertex * 2]!,
      coords[vertex * 2 + 1]!,
      coords[vertex * 2 + 2]!,
      coords[vertex * 2 + 3]!,
    ];
    if (ax <= lng === bx <= lng) return;
    if (ay + ((lng - ax) / (bx - ax)) * (by - ay) > lat) inside = !inside;
  });
  return inside;
}

/** Millionths of a degree; what is narrower may be a bend of the line. */
const STRETCH_MIN = 100;

/** The middle of the widest stretch of land on a parallel, null where there is none. */
function widest(polygon: Polygon, lat: number): Spot | null {
  const { coords } = polygon;
  const crossings: number[] = [];
  forEachEdge(polygon, (vertex) => {
    const [ax, ay, bx, by] = [
      coords[vertex * 2]!,
      coords[vertex * 2 + 1]!,
      coords[vertex * 2 + 2]!,
      coords[vertex * 2 + 3]!,
    ];
    if (ay <= lat !== by <= lat) crossings.push(ax + ((lat - ay) / (by - ay)) * (bx - ax));
  });
  crossings.sort((one, other) => one - other);
  let [best, width] = [0, 0];
  for (let at = 0; at + 1 < crossings.length; at += 2) {
    const own = crossings[at + 1]! - crossings[at]!;
    if (own > width) [best, width] = [(crossings[at]! + crossings[at + 1]!) / 2, own];
  }
  return width < STRETCH_MIN ? null : { lat, lng: Math.round(best) };
}

/** Spots well inside, on three parallels. */
export function spotsIn(polygon: Polygon): readonly Spot[] {
  const height = polygon.maxY - polygon.minY;
  return [0.25, 0.5, 0.75].flatMap(
    (share) => widest(polygon, Math.round(polygon.minY + height * share)) ?? [],
  );
}

/** Half a degree. */
const CELL = 500_000;

function gridOf(polygons: Iterable<Polygon>): (spot: Spot) => boolean {
  const cells = new Map<string, Polygon[]>();
  for (const polygon of polygons) {
    for (let y = Math.floor(polygon.minY / CELL); y * CELL <= polygon.maxY; y += 1) {
      for (let x = Math.floor(polygon.minX / CELL); x * CELL <= polygon.maxX; x += 1) {
        const cell = cells.get(`${x} ${y}`);
        if (cell === undefined) cells.set(`${x} ${y}`, [polygon]);
        else cell.push(polygon);
      }
    }
  }
  return (spot) =>
    (cells.get(`${Math.floor(spot.lng / CELL)} ${Math.floor(spot.lat / CELL)}`) ?? []).some(
      (polygon) => isInside(polygon, spot),
    );
}

/** Whether a list's row makes a difference: a city that levies nothing does not, where it lies. */
function levies({ basis, sales, use }: RateRow): boolean {
  return basis !== 'own' || sales > 0 || use > 0;
}

function byCity(rows: readonly RateRow[]): ReadonlyMap<string, RateRow[]> {
  const groups = new Map<string, RateRow[]>();
  for (const row of rows) {
    const key = `${row.state}/${row.place || foldName(row.name)}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}

const TOWN_DIGITS = 10;

/** Two recipes have the same file. */
const GEOMETRIES: ReadGeometries = new Map();

/** Reads the lists of a recipe, and the boundaries of the cities that they name. */
export async function listedCities(
  name: string,
  sourcesDir: string | null,
  day: DateInt,
): Promise<Listed> {
  const { recipe, rates } = readRecipe(name);
  const files = new SourceFiles(`${datasetsDir()}/${recipe.facts}`, sourcesDir);
  const { factsDir } = files;
  const fips = new Map(loadStates(factsDir).map((state) => [state.code, state.fips]));
  const loaded = loadRates(rates, { factsDir, sourcesDir: sourcesDir ?? '', estimated: false });
  const boundaries = await readBoundaries(recipe, files, () => undefined, GEOMETRIES);
  const polygons = new Map(
    [...boundaries.places, ...boundaries.towns].map(({ polygon }) => [polygon.key, polygon]),
  );
  const places = new Map(loaded.input.places.map((place) => [place.geoid, place]));
  const rows = loaded.input.rows.filter(
    (row) => row.level === 'city' && row.from <= day && day <= row.to,
  );
  const cities = [...byCity(rows).values()].flatMap((own): ListedCity[] => {
    const { state, place, county } = own[0]!;
    const known = places.get(place);
    const names = [...own.map((row) => row.name), ...(known === undefined ? [] : [known.name])];
    const polygon = polygons.get(place) ?? null;
    if (polygon === null && !own.some(levies)) return [];
    return [
      {
        state,
        place,
        names: [...new Set(names)],
        rows: own,
        polygon,
        // A town's code begins with its county's.
        county: place.length === TOWN_DIGITS ? place.slice(0, 5) : county,
      },
    ];
  });
  const unplaced = loaded.reports
    .flatMap((report) => report.unplaced)
    .map(
      ({ state, name: own, place, county }): ListedCity => ({
        state,
        names: [own],
        place,
        rows: [],
        polygon: null,
        county,
      }),
    );
  return {
    cities: [...cities, ...unplaced],
    points: READERS.zips.points.read(
      files.text(recipe.zips.points),
      (code) => fips.get(code) ?? '',
    ),
    isInCity: gridOf(polygons.values()),
  };
}
