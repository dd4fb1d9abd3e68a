/** What a release whose bytes are sound says that cannot be, or that is told to be looked at. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { byteTable, openTables, recordReader } from '../../dataset/layout.js';
import {
  type CoverageLevel, type CoverageState, DATA_FILE, type Finding, type Manifest, readManifest,
} from '../../dataset/manifest.js';
import type { AreaRecord, ComponentRecord, ZipRecord } from '../../dataset/records.js';
import { UNPLACED_GAP } from '../coverage.js';
import { datasetsDir } from '../source-files.js';
import { finding } from './finding.js';
import {
  jumpFindings, type LocalBounds, readBounds, stateFindings, totalFindings, unplacedFindings,
  withoutLocals,
} from './record-faults.js';

/** What states' laws allow: beside the recipes, since it is no source of any figure. */
const BOUNDS = join('checks', 'rate_bounds.tsv');
/** Shares of what a list had: with less of it a warning is told, an error. */
const WARNING_SHARE = 0.9;
const ERROR_SHARE = 0.5;

function boundsOf({ coverage }: Manifest): LocalBounds {
  const file = join(datasetsDir(), BOUNDS);
  const held = existsSync(file) ? readBounds(readFileSync(file, 'utf8')) : new Map();
  return new Map([...withoutLocals(coverage), ...held]);
}

/** Whether a release should have all that an earlier one had: its recipe, with every layer. */
export function isComparable(before: Manifest, now: Manifest): boolean {
  const layers = new Set(now.recipe.split('+'));
  return before.recipe.split('+').every((layer) => layers.has(layer));
}

function shrunk(place: string, before: number, now: number): readonly Finding[] {
  if (before === 0 || now > before * WARNING_SHARE) return [];
  const lost = (((before - now) / before) * 100).toFixed(1);
  return [finding('list-shrunk', place, `${now} where there were ${before}, ${lost} % fewer`,
    now <= before * ERROR_SHARE ? 'error' : 'warning')];
}

function sum(counts: readonly (readonly [string, number])[]): number {
  return counts.reduce((total, [, count]) => total + count, 0);
}

/**
 * Each list of a level with that of the same source. Sources that only one of the releases has took
 * one another's place: they are compared together, as is all where either does not tell its lists.
 */
function levelFindings(
  state: string, before: readonly CoverageLevel[], now: readonly CoverageLevel[],
): readonly Finding[] {
  return before.flatMap((old) => {
    const { level, source } = old;
    const own = now.find((one) => one.level === level);
    const place = (name: string): string =>
      `${state} ${level} list${name === '' ? '' : ` (${name})`}`;
    if (old.lists === undefined || own?.lists === undefined) {
      return shrunk(place(source), old.jurisdictions, own?.jurisdictions ?? 0);
    }
    const earlier = new Map(Object.entries(old.lists));
    const later = new Map(Object.entries(own.lists));
    const gone = [...earlier].filter(([name]) => !later.has(name));
    const come = [...later].filter(([name]) => !earlier.has(name));
    return [
      ...[...earlier].flatMap(([name, count]) => (later.has(name)
        ? shrunk(place(name), count, later.get(name)!) : [])),
      ...shrunk(place(gone.map(([name]) => name).join(', ')), sum(gone), sum(come)),
    ];
  });
}

/**
 * Lists of rates by state, level and source, doors by state, and the release's ZIPs, a tenth of
 * whose rows are gone since a release before.
 */
function shrunkFindings(before: Manifest, now: Manifest): readonly Finding[] {
  const states = new Map(now.coverage.map((state) => [state.state, state]));
  return [
    ...before.coverage.flatMap((old): readonly Finding[] => {
      const own: CoverageState | undefined = states.get(old.state);
      return [
        ...levelFindings(old.state, old.levels, own?.levels ?? []),
        ...shrunk(`${old.state} doors`, old.addressPoints, own?.addressPoints ?? 0),
      ];
    }),
    ...shrunk('ZIPs', before.counts['zips'] ?? 0, now.counts['zips'] ?? 0),
  ];
}

/**
 * Findings of the release in `dir`, those of its build first; `before` is the manifest of a release
 * to compare its lists with. Holds areas and components in memory, streets and leaves are not read.
 * @throws Error when there is no readable release.
 */
export async function findingsOf(
  dir: string, before: Manifest | null,
): Promise<readonly Finding[]> {
  const manifest = readManifest(dir);
  const tables = openTables(join(dir, DATA_FILE), 'read');
  try {
    const reader = recordReader(byteTable(tables.text.meta).get('structures'));
    const all = function* all<T>(name: 'areas' | 'components' | 'zips'): Generator<T> {
      for (const { value } of tables.number[name].getRange({})) yield reader.unpack(value) as T;
    };
    const areas = new Map([...all<AreaRecord>('areas')].map((area) => [area.id, area]));
    const components = new Map([...all<ComponentRecord>('components')].map((one) => [one.id, one]));
    return [
      ...manifest.findings ?? [],
      ...unplacedFindings(manifest.coverage, UNPLACED_GAP),
      ...totalFindings(areas.values(), components, boundsOf(manifest)),
      ...jumpFindings(areas.values(), components),
      ...stateFindings(all<ZipRecord>('zips'), areas),
      ...(before === null ? [] : shrunkFindings(before, manifest)),
    ];
  } finally {
    await tables.root.close();
  }
}
