/** Temporary folders in place of SITUS_VAR, and releases without data in them. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Dataset } from '../../src/dataset/dataset.js';
import { FORMAT_VERSION } from '../../src/dataset/manifest.js';

/** A new empty folder, removed after the test. */
export function newVarDir(context: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'situs-'));
  mkdirSync(join(dir, 'datasets'));
  context.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** The name of the nth release. */
export function releaseNumber(number: number): string {
  return `2026-01-01-${String(number).padStart(12, '0')}`;
}

/** Writes a release that has a manifest and nothing else. */
export function writeRelease(varDir: string, name: string, areas = 7): void {
  const dir = join(varDir, 'datasets', name);
  mkdirSync(dir, { recursive: true });
  const stale = { level: 'state', source: 'a-list', until: '2020-12-31' };
  writeFileSync(
    join(dir, 'manifest.json'),
    JSON.stringify({
      format: FORMAT_VERSION,
      recipe: 'none',
      id: name,
      counts: { areas },
      sources: [],
      layers: [],
      coverage: [{ state: 'WA', name: 'Washington', levels: [stale] }],
    }),
  );
}

/** Names the active release, as activation does: by one rename. */
export function activate(varDir: string, name: string): void {
  const file = join(varDir, 'datasets', 'CURRENT');
  writeFileSync(`${file}.new`, `${name}\n`);
  renameSync(`${file}.new`, file);
}

/** A dataset that knows one state and nothing of it. */
export function emptyDataset(dir: string, closed: (id: string) => void = () => undefined): Dataset {
  const id = basename(dir);
  const missing = (): never => {
    throw new Error('this dataset is empty');
  };
  const state = {
    code: 'WA',
    fips: '53',
    name: 'Washington',
    country: 'USA',
    timeZone: 'UTC',
    rules: [],
  } as const;
  return {
    id,
    hasLayer: () => false,
    area: missing,
    component: missing,
    source: missing,
    states: () => [state],
    state: () => null,
    zip: () => null,
    city: () => null,
    document: () => null,
    get cells() {
      return missing();
    },
    get streets() {
      return missing();
    },
    close: () => closed(id),
  };
}
