/** Endless rows for a bulk file: doors, points and ZIPs of a dataset, and rows that are wrong. */
import { join } from 'node:path';
import { openTables } from '../../src/dataset/layout.js';
import { DATA_FILE, readManifest } from '../../src/dataset/manifest.js';
import { openDataset } from '../../src/dataset/open.js';
import type { Dataset } from '../../src/dataset/dataset.js';
import { GRANT_ALL } from '../../src/pool/types.js';
import { Engine } from '../../src/engine/engine.js';
import { isFailure } from '../../src/failure.js';
import { formatMicrodegrees } from '../../src/geo/microdegrees.js';
import { addressLines } from '../case/addresses.js';
import { seeded } from '../case/case.js';
import { parseQuery } from '../../src/api/lookup/query-answer.js';

export const POOL_HEADER = 'id,street,city,state,zip,lat,lng\n';

/** How many different rows a pool has; a file has each of them many times, with other ids. */
const POOL_ROWS = 20_000;
const FIXTURE_DOORS = 200;

/** A row without its id. */
export interface PoolRow {
  /** The row after the id and its comma, without the line end. */
  readonly body: Buffer;
  /** The query of a single lookup with the same answer; null where there is none. */
  readonly query: string | null;
}

type Random = () => number;

/** The parts of a line like "1 Main St, Elmton, QA 91010". */
export function partsOf(line: string): readonly string[] {
  const parts = line.split(', ');
  const [state = '', zip = ''] = (parts.at(-1) ?? '').split(' ');
  return [parts.slice(0, -2).join(' '), parts.at(-2) ?? '', state, zip];
}

function rowOf(cells: readonly string[], query: string | null): PoolRow {
  const quoted = cells.map((cell) =>
    /[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell,
  );
  return { body: Buffer.from(quoted.join(',')), query };
}

function doorRow(line: string): PoolRow {
  const [street = '', city = '', state = '', zip = ''] = partsOf(line);
  const address = encodeURIComponent(`${street}, ${city}, ${state} ${zip}`);
  return rowOf([street, city, state, zip, '', ''], `address=${address}`);
}

/** The point of a door; a point anywhere in the country where that is not known. */
function pointRow(engine: Engine, line: string, random: Random): PoolRow {
  let lat = (25 + random() * 24).toFixed(6);
  let lng = (-124 + random() * 57).toFixed(6);
  const parsed = parseQuery(`address=${encodeURIComponent(line)}`, 60, GRANT_ALL);
  const outcome = isFailure(parsed) ? parsed : engine.lookup(parsed.query, Date.now());
  if (!isFailure(outcome) && outcome.kind === 'situs') {
    lat = formatMicrodegrees(outcome.situs.lat);
    lng = formatMicrodegrees(outcome.situs.lng);
  }
  return rowOf(['', '', '', '', lat, lng], `lat=${lat}&lng=${lng}`);
}

function oddRow(index: number): PoolRow {
  const odd = [
    ['nowhere at all', '', '', '', '', ''],
    ['', '', '', '', '', ''],
    ['', '', '', '1234567', '', ''],
    ['', '', '', '', '91.5', 'x'],
    ['1 "Quoted", Street', 'Ümläut', 'ZZ', '00000', '', ''],
  ];
  return rowOf(odd[index % odd.length]!, null);
}

/** Of every hundred rows 65 are doors, 15 points, 15 ZIPs, and 5 are wrong. */
function poolRow(
  engine: Engine,
  lines: readonly string[],
  zips: readonly number[],
  index: number,
  random: Random,
): PoolRow {
  const line = lines[Math.floor(random() * lines.length)]!;
  const kind = index % 100;
  if (kind < 65) return doorRow(line);
  if (kind < 80) return pointRow(engine, line, random);
  const zip = String(zips[Math.floor(random() * zips.length)]).padStart(5, '0');
  // A row has room for one rate, while a lookup by ZIP returns all, so their codes may differ.
  if (kind < 95) return rowOf(['', '', '', zip, '', ''], null);
  return oddRow(Math.floor(index / 100) + index);
}

async function linesOf(dataset: Dataset, dir: string): Promise<readonly string[]> {
  if (readManifest(dir).recipe !== 'fixture') return addressLines(dataset, dir);
  return Array.from(
    { length: FIXTURE_DOORS },
    (_, index) => `${100 + index} Main St, Elmton, QA 91010`,
  );
}

/** Makes rows from a release. */
export async function rowPool(dir: string, seed: number): Promise<readonly PoolRow[]> {
  const dataset = openDataset(dir);
  try {
    const engine = new Engine(dataset);
    const lines = await linesOf(dataset, dir);
    const zips = [...openTables(join(dir, DATA_FILE), 'read').number.zips.getKeys({})] as number[];
    const random = seeded(seed);
    return Array.from({ length: POOL_ROWS }, (_, index) =>
      poolRow(engine, lines, zips, index, random),
    );
  } finally {
    dataset.close();
  }
}

/** Draws rows of a pool; the order is the same for the same seed. */
export function drawing(pool: readonly PoolRow[], seed: number): () => number {
  const random = seeded(seed);
  return () => Math.floor(random() * pool.length);
}
