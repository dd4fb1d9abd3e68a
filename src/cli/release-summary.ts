/** What a new release changes beside the active one, in a few lines. */
import { type Manifest, readManifest } from '../dataset/manifest.js';
import { openDataset } from '../dataset/open.js';
import { diffReleases } from '../engine/rate/release-diff.js';
import { coverageCell } from '../ingest/coverage.js';
import { parseDate, type DateInt } from '../tax/date.js';
import { section } from './dataset-diff.js';

/** Lines of a kind; `dataset diff` has all of them. */
const LINES_MAX = 12;

function shortened(title: string, lines: readonly string[], more: string): readonly string[] {
  const rest = lines.length - LINES_MAX;
  return [`${title}: ${lines.length}`, ...lines.slice(0, LINES_MAX).map((line) => `  ${line}`),
    ...(rest > 0 ? [`  and ${rest} more${more}`] : [])];
}

/** Files of publishers that are new, changed or gone. */
function filesChanged(before: Manifest, after: Manifest): readonly string[] {
  const sums = ({ files }: Manifest): Map<string, string> =>
    new Map(files.map(({ path, sha256 }) => [path, sha256]));
  const [old, now] = [sums(before), sums(after)];
  return [...new Set([...old.keys(), ...now.keys()])].sort().flatMap((path) => {
    const [one, other] = [old.get(path), now.get(path)];
    if (one === other) return [];
    return `${one === undefined ? 'new' : other === undefined ? 'gone' : 'changed'} ${path}`;
  });
}

/** Levels of states that are otherwise covered. */
function coverageChanged(before: Manifest, after: Manifest): readonly string[] {
  const cells = ({ coverage }: Manifest): Map<string, string> =>
    new Map(coverage.flatMap(({ state, levels, addressPoints }) => [
      ...levels.map((level): [string, string] => [`${state} ${level.level}`, coverageCell(level)]),
      [`${state} doors`, String(addressPoints)],
    ]));
  const [old, now] = [cells(before), cells(after)];
  return [...new Set([...old.keys(), ...now.keys()])].sort().flatMap((name) => {
    const [one = 'none', other = 'none'] = [old.get(name), now.get(name)];
    return one === other ? [] : `${name}: ${one} -> ${other}`;
  });
}

function dayOf(now: Date): DateInt {
  const day = parseDate(now.toISOString().slice(0, 10));
  if (day === null) throw new RangeError('no such day');
  return day;
}

/** Lists changed, rates changed on the day, and coverage before and after; of sound releases. */
export function releaseSummary(beforeDir: string, afterDir: string, now: Date): string {
  const [one, other] = [readManifest(beforeDir), readManifest(afterDir)];
  const [before, after] = [openDataset(beforeDir), openDataset(afterDir)];
  try {
    const { jurisdictions, areas, zips } = diffReleases(before, after, dayOf(now));
    return [
      ...shortened('files that differ', filesChanged(one, other), ''),
      ...section('jurisdictions with other rates today', jurisdictions, LINES_MAX),
      `tax areas with other rates today: ${areas.length}`,
      `ZIPs with other rates today: ${zips.length}`,
      ...shortened('coverage that differs', coverageChanged(one, other), ' (dataset coverage)'),
    ].join('\n');
  } finally {
    before.close();
    after.close();
  }
}
