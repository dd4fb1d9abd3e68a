/** Differences between releases: `situs dataset diff A B`, and a summary for an update. */
import { loadConfig } from '../config.js';
import { type Manifest, readManifest } from '../dataset/manifest.js';
import { openDataset } from '../dataset/open.js';
import { findRelease } from '../dataset/release.js';
import { type Change, diffReleases, type ReleaseDiff } from '../engine/release-diff.js';
import { coverageCell } from '../ingest/coverage.js';
import { type DateInt, formatDate, parseDate } from '../tax/date.js';
import { print, UsageError } from './command-line.js';
import { soundRelease } from './sound-release.js';

/** Most lines of a kind that are printed for people; --json has all. */
const DIFF_LINES_MAX = 40;

function side(rates: readonly string[]): string {
  return rates.length === 0 ? 'absent' : rates.join(' ');
}

/** A heading with the number of some changes, and the first of them. */
function section(
  title: string,
  changes: readonly Change[],
  most = DIFF_LINES_MAX,
): readonly string[] {
  const lines = changes
    .slice(0, most)
    .map(({ name, before, after }) => `  ${name}: ${side(before)} -> ${side(after)}`);
  const more = changes.length - lines.length;
  return [
    `${title}: ${changes.length}`,
    ...lines,
    ...(more > 0 ? [`  and ${more} more (--json has all)`] : []),
  ];
}

/** The difference of two releases as text. */
function diffText(diff: ReleaseDiff): string {
  return [
    ...section('jurisdictions that differ', diff.jurisdictions),
    ...section('tax areas that differ', diff.areas),
    ...section('ZIPs that differ', diff.zips),
  ].join('\n');
}

/** The day asked for, or today in UTC. */
function dayOf(text: string | undefined): DateInt {
  const day = parseDate(text ?? new Date().toISOString().slice(0, 10));
  if (day === null) throw new UsageError('--date is a day written YYYY-MM-DD');
  return day;
}

/** Runs `situs dataset diff A B`. */
export async function diffCommand(
  from: string,
  to: string,
  asked: { readonly date?: string; readonly json?: boolean },
): Promise<void> {
  const date = dayOf(asked.date);
  const { varDir } = loadConfig();
  const names = [findRelease(varDir, from), findRelease(varDir, to)] as const;
  const before = openDataset(await soundRelease(varDir, names[0]));
  // The same release is opened only once, since LMDB opens an environment once in a process.
  const after = names[0] === names[1] ? before : openDataset(await soundRelease(varDir, names[1]));
  try {
    const diff = diffReleases(before, after, date);
    const day = formatDate(date);
    print(
      asked.json
        ? JSON.stringify({ before: names[0], after: names[1], date: day, ...diff }, null, 1)
        : `${names[0]} -> ${names[1]} on ${day}\n${diffText(diff)}`,
    );
  } finally {
    before.close();
    if (after !== before) after.close();
  }
}

/** Most lines of a kind in the summary; `dataset diff` has all of them. */
const LINES_MAX = 12;

function shortened(title: string, lines: readonly string[], more: string): readonly string[] {
  const rest = lines.length - LINES_MAX;
  return [
    `${title}: ${lines.length}`,
    ...lines.slice(0, LINES_MAX).map((line) => `  ${line}`),
    ...(rest > 0 ? [`  and ${rest} more${more}`] : []),
  ];
}

/** Publishers' files that are new, changed or gone. */
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

/** Levels of states whose coverage has changed. */
function coverageChanged(before: Manifest, after: Manifest): readonly string[] {
  const cells = ({ coverage }: Manifest): Map<string, string> =>
    new Map(
      coverage.flatMap(({ state, levels, addressPoints }) => [
        ...levels.map((level): [string, string] => [
          `${state} ${level.level}`,
          coverageCell(level),
        ]),
        [`${state} doors`, String(addressPoints)],
      ]),
    );
  const [old, now] = [cells(before), cells(after)];
  return [...new Set([...old.keys(), ...now.keys()])].sort().flatMap((name) => {
    const [one = 'none', other = 'none'] = [old.get(name), now.get(name)];
    return one === other ? [] : `${name}: ${one} -> ${other}`;
  });
}

function utcDay(now: Date): DateInt {
  const day = parseDate(now.toISOString().slice(0, 10));
  if (day === null) throw new RangeError('no such day');
  return day;
}

/** What changed in lists, in rates on the day, and in coverage. Both releases must be sound. */
export function releaseSummary(beforeDir: string, afterDir: string, now: Date): string {
  const [one, other] = [readManifest(beforeDir), readManifest(afterDir)];
  const [before, after] = [openDataset(beforeDir), openDataset(afterDir)];
  try {
    const { jurisdictions, areas, zips } = diffReleases(before, after, utcDay(now));
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
