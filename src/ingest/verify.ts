/** Checks a finished release: that its bytes are what was built, and that its records agree. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Unpackr } from 'msgpackr';
import type { Database } from 'lmdb';
import {
  byteTable, NUMBER_TABLES, openTables, recordReader, TEXT_TABLES, type Tables,
} from '../dataset/format.js';
import {
  CHECKSUM_FILE, DATA_FILE, readManifest, releaseName, type Manifest,
} from '../dataset/manifest.js';
import type { AreaRecord, ComponentRecord, ZipRecord } from '../dataset/records.js';
import { RATE_ONE } from '../tax/rate.js';
import { fileSha256, hashRow, manifestId } from './writer.js';

/** No jurisdiction of any list held levies more than this share of the price. */
const COMPONENT_RATE_MAX = RATE_ONE / 4;

function hashTables(tables: Tables): string {
  const hash = createHash('sha256');
  const add = <K extends number | string>(
    name: string, database: Database<Uint8Array, K>,
  ): void => {
    hash.update(name);
    for (const { key, value } of database.getRange({})) hashRow(hash, key, value);
  };
  for (const name of NUMBER_TABLES) add(name, tables.number[name]);
  for (const name of TEXT_TABLES) add(name, tables.text[name]);
  return hash.digest('hex');
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

function isIntact(dir: string): boolean {
  try {
    const stated = readFileSync(join(dir, CHECKSUM_FILE), 'utf8').trim();
    return fileSha256(join(dir, DATA_FILE)) === stated;
  } catch {
    return false;
  }
}

/**
 * Returns what is wrong with the release in `dir`, nothing when it is sound.
 * @throws Error when there is no readable release at all.
 */
export async function verifyRelease(dir: string): Promise<readonly string[]> {
  const manifest = readManifest(dir);
  const problems: string[] = [];
  const { id, ...rest } = manifest;
  if (manifestId(rest) !== id) problems.push('the manifest is not the one that was built');
  if (!dir.endsWith(releaseName(manifest))) problems.push('the folder does not bear its name');
  // A damaged page could crash the reader of the map, so the file's own hash comes first.
  if (!isIntact(dir)) return [...problems, 'the data differ from what was built'];
  let tables: Tables | null = null;
  try {
    tables = openTables(join(dir, DATA_FILE), 'read');
    if (hashTables(tables) !== manifest.dataSha256) {
      problems.push('the data differ from what was built');
    } else {
      const reader = recordReader(byteTable(tables.text.meta).get('structures'));
      problems.push(...recordProblems(tables, reader, manifest));
    }
  } catch (error) {
    problems.push(`the data cannot be read: ${(error as Error).message}`);
  } finally {
    await tables?.root.close();
  }
  return problems;
}
