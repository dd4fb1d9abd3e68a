/** Boundary files: TopoJSON, GeoJSON and shapefiles, plain, gzipped or in zip archives. */
import type { Feature, FeatureCollection, Geometry, MultiPolygon, Polygon } from 'geojson';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import { toMicrodegrees } from '../../geo/microdegrees.js';
import { createPolygon, type Position } from '../../geo/polygon.js';
import type { BoundaryFeature } from '../boundary/overlay.js';
import { readWhole } from './container.js';
import { readGeometryFile } from './geometry-file.js';
import { isShapes } from './shape-parts.js';
import { readShapes } from './shapes.js';

export interface BoundaryFile {
  readonly path: string;
  /** Object of a topology; not needed for GeoJSON. */
  readonly object?: string;
  /** Property that is the key; the feature's own id without. */
  readonly key?: string;
  /** Put before the key. */
  readonly prefix?: string;
  /** Zeros are put before the property until it has this many digits. */
  readonly width?: number;
  /** Expression with named groups over the property, and what the key is made of ("50$<c>"). */
  readonly pattern?: string;
  readonly template?: string;
}

function keyOf(raw: string, file: BoundaryFile): string {
  const text = raw.padStart(file.width ?? 0, '0');
  if (file.pattern === undefined || file.template === undefined) {
    return `${file.prefix ?? ''}${text}`;
  }
  return text.replace(new RegExp(file.pattern), file.template);
}

/** Streams the features of a file; only a shapefile's are not held whole. */
export async function* featuresOf(
  file: BoundaryFile,
): AsyncGenerator<Feature<Geometry | null>> {
  if (isShapes(file.path)) yield* readShapes(file.path);
  else yield* collection((await readWhole(file.path)).toString('utf8'), file).features;
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
  if (json.type !== 'Topology') throw new Error(`${file.path} is neither GeoJSON nor TopoJSON`);
  const object = json.objects[file.object ?? ''];
  if (object === undefined) throw new Error(`${file.path} has no object "${file.object ?? ''}"`);
  return feature(json, object as GeometryCollection);
}

/** Rings of a polygon or of several, in microdegrees; none of another geometry. */
export function ringsOf(geometry: Geometry | null): readonly (readonly Position[])[] {
  const ring = (positions: readonly (readonly number[])[]): readonly Position[] =>
    positions.map(([lng = 0, lat = 0]) => [toMicrodegrees(lng), toMicrodegrees(lat)] as const);
  if (geometry?.type === 'Polygon') return geometry.coordinates.map(ring);
  if (geometry?.type === 'MultiPolygon') return geometry.coordinates.flat().map(ring);
  return [];
}

function layerOf(
  layers: ReadonlyMap<string, readonly BoundaryFeature[]>, file: BoundaryFile,
): readonly BoundaryFeature[] {
  const layer = layers.get(file.object ?? '');
  if (layer === undefined) throw new Error(`${file.path} has no object "${file.object ?? ''}"`);
  return layer;
}

/** Reads the polygons of a file, ascending by key; parts that share a key become one polygon. */
export async function readBoundaryFile(
  file: BoundaryFile,
): Promise<readonly BoundaryFeature[]> {
  if (file.path.endsWith('.geometry.gz')) return layerOf(readGeometryFile(file.path), file);
  const rings = new Map<string, (readonly Position[])[]>();
  const properties = new Map<string, Readonly<Record<string, string>>>();
  for await (const { id, properties: found, geometry } of featuresOf(file)) {
    const raw: unknown = file.key === undefined ? id : found?.[file.key];
    if (raw === undefined || raw === null) throw new Error(`a feature of ${file.path} has no key`);
    const key = keyOf(String(raw), file);
    const known = rings.get(key);
    if (known !== undefined) {
      known.push(...ringsOf(geometry));
      continue;
    }
    rings.set(key, [...ringsOf(geometry)]);
    properties.set(key, Object.fromEntries(
      Object.entries(found ?? {}).map(([name, value]) => [name, String(value ?? '')]),
    ));
  }
  return [...rings.keys()].sort().flatMap((key) => {
    const polygon = createPolygon(key, rings.get(key)!);
    return polygon === null ? [] : [{ polygon, properties: properties.get(key)! }];
  });
}
