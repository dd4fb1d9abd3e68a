/** Boundary files: TopoJSON, GeoJSON and shapefiles, plain, gzipped or in zip archives. */
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import type { Feature, FeatureCollection, Geometry, MultiPolygon, Polygon } from 'geojson';
import { open } from 'shapefile';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import { toMicrodegrees } from '../../geo/microdegrees.js';
import { createPolygon, type Position } from '../../geo/polygon.js';
import type { BoundaryFeature } from '../boundary/overlay.js';
import { readBytes, readWhole } from './container.js';
import { type GeometryLayers, readGeometryFile } from './geometry-file.js';
import { isShapes, partOf, partText } from './line-shapes.js';
import { withoutMark } from './table-text.js';
import { FileError, fileError, splitMember } from './zip.js';

/**
 * A readable for the library, whose types are those of browsers although it needs one of Node.js.
 * An error is put into `faults` and ends the input, because the library does not handle a failed
 * one.
 */
function source(path: string, faults: unknown[]): never {
  async function* bytes(): AsyncGenerator<Buffer> {
    try {
      yield* readBytes(path);
    } catch (error) {
      faults.push(error);
    }
  }
  return Readable.from(bytes(), { objectMode: false }) as never;
}

/** Columns of the Census Bureau whose names end in the year of their geography (GEOID20). */
const OF_A_YEAR = /^([A-Z]+)(?:10|20)$/;

/**
 * The feature, with such columns also under their names without the year, as other years have them.
 */
function plainlyNamed(feature: Feature): Feature {
  const found = feature.properties ?? {};
  const plain = Object.entries(found).flatMap(([name, value]) => {
    const [, bare] = OF_A_YEAR.exec(name) ?? [];
    return bare === undefined || bare in found ? [] : [[bare, value] as const];
  });
  return plain.length === 0
    ? feature
    : { ...feature, properties: { ...found, ...Object.fromEntries(plain) } };
}

/**
 * Yields the features of "FILE.shp", "FILE.zip" with one shapefile in it, or "FILE.zip!NAME.shp".
 * @throws Error with the file and the reason.
 */
async function* readShapes(path: string): AsyncGenerator<Feature> {
  const encoding = (await partText(partOf(path, '.cpg'))).trim() || 'utf-8';
  const faults: unknown[] = [];
  try {
    const features = await open(
      source(partOf(path, '.shp'), faults),
      source(partOf(path, '.dbf'), faults),
      { encoding },
    );
    for (;;) {
      const { done, value } = await features.read();
      if (faults.length > 0) break;
      if (done) return;
      yield plainlyNamed(value);
    }
  } catch (error) {
    // If the input ended because of a fault, the library's own error is not the reason.
    if (faults.length === 0) throw fileError(path, error);
  }
  throw fileError(splitMember(path).file, faults[0]);
}

/** Converts a position of the file to [longitude, latitude] in degrees. */
type ToDegrees = (position: readonly number[]) => readonly number[];

type Proj4 = (from: string, to: string) => { forward(position: number[]): number[] };

const DEGREES = 'EPSG:4326';
/**
 * Names of reference systems with coordinates in degrees: WGS 84 and the Census Bureau's NAD 83.
 */
const IN_DEGREES = /(?:EPSG:{1,2}(?:4326|4269)|CRS:?84|CRS:?83)$/i;
const PROJECTED = /^\s*PROJCS\["([^"]*)"/;
const EPSG = /EPSG:{1,2}(\d+)$/i;

/**
 * How to convert positions to degrees. `definition` is the text of a .prj file, or the name of a
 * reference system; "" for none.
 * @returns null where positions already are degrees.
 * @throws RangeError for an unknown projection.
 */
function degreesOf(definition: string): ToDegrees | null {
  const [, wkt] = PROJECTED.exec(definition) ?? [];
  const [, code] = EPSG.exec(definition.trim()) ?? [];
  if (wkt === undefined && (code === undefined || IN_DEGREES.test(definition.trim()))) return null;
  const named = wkt ?? `EPSG:${code ?? ''}`;
  try {
    // The library is only needed for projected layers, and is a CommonJS module.
    const proj4 = createRequire(import.meta.url)('proj4') as Proj4;
    const { forward } = proj4(wkt === undefined ? named : definition, DEGREES);
    return ([east = 0, north = 0]) => forward([east, north]);
  } catch (error) {
    throw new RangeError(
      `its coordinates are those of ${named}, which is not known here; convert ` +
        `it to EPSG:4326 or take the publisher's file in degrees (${(error as Error).message})`,
    );
  }
}

export interface BoundaryFile {
  readonly path: string;
  /** Name of the object in a topology; not needed for GeoJSON. */
  readonly object?: string;
  /**
   * Property with the key; if absent, the feature's own id. For "A|B", the first that is not empty.
   */
  readonly key?: string;
  /** Put before the key. */
  readonly prefix?: string;
  /** The property is padded with zeros to this many digits. */
  readonly width?: number;
  /** Expression with named groups for the property, and how the key is made of them ("50$<c>"). */
  readonly pattern?: string;
  readonly template?: string;
}

function rawKey(properties: Feature['properties'], key: string): unknown {
  const [first = '', ...others] = key.split('|');
  return [first, ...others]
    .map((name): unknown => properties?.[name])
    .find((value) => others.length === 0 || String(value ?? '').trim() !== '');
}

function keyOf(raw: string, file: BoundaryFile): string {
  const text = raw.padStart(file.width ?? 0, '0');
  if (file.pattern === undefined || file.template === undefined) {
    return `${file.prefix ?? ''}${text}`;
  }
  return text.replace(new RegExp(file.pattern), file.template);
}

/** Name of the reference system in GeoJSON, as before RFC 7946 and by some tools since. */
function namedSystem(json: object): string {
  const { crs } = json as { readonly crs?: { readonly properties?: { readonly name?: unknown } } };
  const name = crs?.properties?.name;
  return typeof name === 'string' ? name : '';
}

/** A polygon or multipolygon with positions in degrees; other geometries are unchanged. */
function inDegrees(geometry: Geometry | null, toDegrees: ToDegrees): Geometry | null {
  const ring = (positions: number[][]): number[][] =>
    positions.map((position) => [...toDegrees(position)]);
  if (geometry?.type === 'Polygon') {
    return { ...geometry, coordinates: geometry.coordinates.map(ring) };
  }
  if (geometry?.type !== 'MultiPolygon') return geometry;
  return { ...geometry, coordinates: geometry.coordinates.map((rings) => rings.map(ring)) };
}

/**
 * Yields the features of a file, with polygons converted to degrees if it names a projection. All
 * files but shapefiles are held in memory.
 */
export async function* featuresOf(file: BoundaryFile): AsyncGenerator<Feature<Geometry | null>> {
  const isShape = isShapes(file.path);
  const text = isShape ? '' : withoutMark((await readWhole(file.path)).toString('utf8'));
  const found = isShape ? null : collection(text, file);
  const toDegrees = degreesOf(
    found === null ? await partText(partOf(file.path, '.prj')) : namedSystem(found),
  );
  for await (const each of found?.features ?? readShapes(file.path)) {
    yield toDegrees === null ? each : { ...each, geometry: inDegrees(each.geometry, toDegrees) };
  }
}

type Polygonal = Polygon | MultiPolygon;

function collection(text: string, file: BoundaryFile): FeatureCollection {
  const json = JSON.parse(text) as Topology | FeatureCollection | Feature | Polygonal;
  if (json.type === 'Feature') return { type: 'FeatureCollection', features: [json] };
  if (json.type === 'FeatureCollection') return json;
  if (json.type === 'Polygon' || json.type === 'MultiPolygon') {
    const whole: Feature = { type: 'Feature', properties: {}, geometry: json };
    return { type: 'FeatureCollection', features: [whole] };
  }
  if (json.type !== 'Topology')
    throw new FileError(file.path, `${file.path} is neither GeoJSON nor TopoJSON`);
  const object = json.objects[file.object ?? ''];
  if (object === undefined)
    throw new FileError(file.path, `${file.path} has no object "${file.object ?? ''}"`);
  return feature(json, object as GeometryCollection);
}

/** @throws RangeError for a position that is none on earth. */
function positionOf([lng = 0, lat = 0]: readonly number[]): Position {
  if (!(Math.abs(lng) <= 180 && Math.abs(lat) <= 90)) {
    throw new RangeError(`its coordinates are no degrees: ${lng}, ${lat}`);
  }
  return [toMicrodegrees(lng), toMicrodegrees(lat)];
}

/** Rings of a polygon or multipolygon in microdegrees; none for other geometries. */
export function ringsOf(geometry: Geometry | null): readonly (readonly Position[])[] {
  const ring = (positions: readonly (readonly number[])[]): readonly Position[] =>
    positions.map(positionOf);
  if (geometry?.type === 'Polygon') return geometry.coordinates.map(ring);
  if (geometry?.type === 'MultiPolygon') return geometry.coordinates.flat().map(ring);
  return [];
}

function layerOf(layers: GeometryLayers, file: BoundaryFile): readonly BoundaryFeature[] {
  const layer = layers.get(file.object ?? '');
  if (layer === undefined)
    throw new FileError(file.path, `${file.path} has no object "${file.object ?? ''}"`);
  return layer;
}

/** Files with all layers, by path, for callers that read one file for several layers. */
export type ReadGeometries = Map<string, GeometryLayers>;

/**
 * Reads the polygons of a file, ascending by key. Parts with the same key become one polygon, and
 * positions of a projection become degrees. A file with all layers is taken from `read`, or added
 * to it.
 * @throws Error with the file where a feature has no key, or its coordinates are not degrees.
 */
export async function readBoundaryFile(
  file: BoundaryFile,
  read: ReadGeometries = new Map(),
): Promise<readonly BoundaryFeature[]> {
  if (file.path.endsWith('.geometry.gz')) {
    const layers = read.get(file.path) ?? readGeometryFile(file.path);
    read.set(file.path, layers);
    return layerOf(layers, file);
  }
  try {
    return await readPolygons(file);
  } catch (error) {
    throw fileError(file.path, error);
  }
}

async function readPolygons(file: BoundaryFile): Promise<readonly BoundaryFeature[]> {
  const rings = new Map<string, (readonly Position[])[]>();
  const properties = new Map<string, Readonly<Record<string, string>>>();
  for await (const { id, properties: found, geometry } of featuresOf(file)) {
    const raw: unknown = file.key === undefined ? id : rawKey(found, file.key);
    if (raw === undefined || raw === null) throw new Error('a feature has no key');
    const key = keyOf(String(raw), file);
    const known = rings.get(key);
    if (known !== undefined) {
      known.push(...ringsOf(geometry));
      continue;
    }
    rings.set(key, [...ringsOf(geometry)]);
    properties.set(
      key,
      Object.fromEntries(
        Object.entries(found ?? {}).map(([name, value]) => [name, String(value ?? '')]),
      ),
    );
  }
  return [...rings.keys()].sort().flatMap((key) => {
    const polygon = createPolygon(key, rings.get(key)!);
    return polygon === null ? [] : [{ polygon, properties: properties.get(key)! }];
  });
}
