/** Seeded lookups over the active dataset: ZIPs, points and addresses that can be answered. */
import type { Dataset } from '../../src/dataset/dataset.js';
import { Engine } from '../../src/engine/engine.js';
import { isFailure } from '../../src/failure.js';
import { openTables } from '../../src/dataset/layout.js';
import { DATA_FILE } from '../../src/dataset/manifest.js';
import { GRANT_ALL } from '../../src/pool/types.js';
import { join } from 'node:path';
import { seeded } from './case.js';
import { parseQuery } from '../../src/api/lookup/query-answer.js';
import { openDataset } from '../../src/dataset/open.js';

export type QueryKind = 'zip' | 'point' | 'address';

/** How many queries a sample has. */
const SAMPLE = 2_000;
/** More than there are ZIPs. */
export const EVERY = 60_000;

function answers(engine: Engine, raw: string): boolean {
  const parsed = parseQuery(raw, 60, GRANT_ALL);
  if (isFailure(parsed)) return false;
  return !isFailure(engine.lookup(parsed.query, Date.now()));
}

function* zipQueries(datasetDir: string, random: () => number): Generator<string> {
  const tables = openTables(join(datasetDir, DATA_FILE), 'read');
  const zips = [...tables.number.zips.getKeys({})] as number[];
  for (let at = zips.length - 1; at >= 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [zips[at], zips[other]] = [zips[other]!, zips[at]!];
    yield `postalcode=${String(zips[at]).padStart(5, '0')}`;
  }
}

function* pointQueries(random: () => number): Generator<string> {
  for (;;) {
    const lat = (25 + random() * 24).toFixed(6);
    const lng = (-124 + random() * 57).toFixed(6);
    yield `lat=${lat}&lng=${lng}`;
  }
}

function* addressQueries(lines: readonly string[], random: () => number): Generator<string> {
  for (;;) {
    const line = lines[Math.floor(random() * lines.length)]!;
    yield `address=${encodeURIComponent(line).replaceAll('%20', '+')}`;
  }
}

/**
 * Draws queries of a kind until `count` can be answered, or 20 times as many were drawn. A ZIP is
 * drawn only once.
 */
export function sampleQueries(
  kind: QueryKind,
  dataset: Dataset,
  datasetDir: string,
  addresses: readonly string[],
  count = SAMPLE,
): readonly string[] {
  const random = seeded(20_261_121);
  const source =
    kind === 'zip'
      ? zipQueries(datasetDir, random)
      : kind === 'point'
        ? pointQueries(random)
        : addressQueries(addresses, random);
  const engine = new Engine(dataset);
  const found: string[] = [];
  for (let drawn = 0; drawn < count * 20 && found.length < count; drawn += 1) {
    const next = source.next();
    if (next.done === true) break;
    if (answers(engine, next.value)) found.push(next.value);
  }
  if (found.length === 0) throw new Error(`no ${kind} lookup of this dataset answers`);
  return found;
}

/** Paths of lookups by ZIP. */
export function zipPaths(datasetDir: string): readonly string[] {
  const dataset = openDataset(datasetDir);
  const queries = sampleQueries('zip', dataset, datasetDir, []);
  dataset.close();
  return queries.map((query) => `/request/v60?${query}`);
}
