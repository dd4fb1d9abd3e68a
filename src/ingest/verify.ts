/** Checks a finished release: that its bytes are what was built, and that its records agree. */
import { join } from 'node:path';
import type { Database } from 'lmdb';
import type { Unpackr } from 'msgpackr';
import {
  byteTable,
  NUMBER_TABLES,
  openTables,
  recordReader,
  type Tables,
  TEXT_TABLES,
} from '../dataset/layout.js';
import { DATA_FILE, type Manifest, readManifest } from '../dataset/manifest.js';
import type { AreaRecord, ComponentRecord, ZipRecord } from '../dataset/records.js';
import { RowHash } from '../dataset/row-hash.js';
import { RATE_ONE } from '../tax/rate.js';
import type { Progress } from './model.js';

/** No jurisdiction in any list levies more than this share of the price. */
const COMPONENT_RATE_MAX = RATE_ONE / 4;

function hashTables(tables: Tables, progress: Progress): string {
  const hash = new RowHash();
  const total = NUMBER_TABLES.length + TEXT_TABLES.length;
  let done = 0;
  const add = <K extends number | string>(
    name: string,
    database: Database<Uint8Array, K>,
  ): void => {
    hash.table(name);
    for (const { key, value } of database.getRange({})) {
      hash.row(Buffer.from(String(key)), value);
    }
    progress('records', (done += 1), total);
  };
  for (const name of NUMBER_TABLES) add(name, tables.number[name]);
  for (const name of TEXT_TABLES) add(name, tables.text[name]);
  return hash.digest();
}

function checkComponent(component: ComponentRecord, sources: number): string | null {
  let last = 0;
  for (const period of component.periods) {
    if (period.from > period.to) return `component ${component.id} has an empty period`;
    if (period.from <= last) return `component ${component.id} has overlapping periods`;
    for (const rate of [period.sales, period.use]) {
      if (!Number.isSafeInteger(rate) || rate < 0 || rate > COMPONENT_RATE_MAX) {
        return `component ${component.id} has a rate out of bounds: ${rate}`;
      }
    }
    if (period.source < 0 || period.source >= sources) {
      return `component ${component.id} names no source`;
    }
    last = period.to;
  }
  return null;
}

function* recordProblems(tables: Tables, reader: Unpackr, manifest: Manifest): Generator<string> {
  const components = new Set<number>();
  for (const { value } of tables.number.components.getRange({})) {
    const component = reader.unpack(value) as ComponentRecord;
    components.add(component.id);
    const problem = checkComponent(component, manifest.sources.length);
    if (problem !== null) yield problem;
  }
  const areas = new Set<number>();
  for (const { value } of tables.number.areas.getRange({})) {
    const area = reader.unpack(value) as AreaRecord;
    areas.add(area.id);
    for (const id of area.components) {
      if (!components.has(id)) yield `tax area ${area.id} names no component ${id}`;
    }
  }
  for (const { value } of tables.number.zips.getRange({})) {
    const zip = reader.unpack(value) as ZipRecord;
    for (const part of zip.parts) {
      if (!areas.has(part.area)) yield `ZIP ${zip.zip} names no tax area ${part.area}`;
    }
  }
}

const silent: Progress = () => undefined;

/**
 * Reads every record of a release, and returns its problems. The bytes must be sound: LMDB can end
 * the process if they never were.
 */
export async function checkRecords(
  dir: string,
  progress: Progress = silent,
): Promise<readonly string[]> {
  const manifest = readManifest(dir);
  let tables: Tables | null = null;
  try {
    tables = openTables(join(dir, DATA_FILE), 'read');
    if (hashTables(tables, progress) !== manifest.dataSha256) {
      return ['the data differ from what was built'];
    }
    const reader = recordReader(byteTable(tables.text.meta).get('structures'));
    return [...recordProblems(tables, reader, manifest)];
  } catch (error) {
    return [`the data cannot be read: ${(error as Error).message}`];
  } finally {
    await tables?.root.close();
  }
}
