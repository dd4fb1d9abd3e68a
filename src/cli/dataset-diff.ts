/** `situs dataset diff A B`: what a change of releases changes. */
import { loadConfig } from '../config.js';
import { openDataset } from '../dataset/open.js';
import { findRelease } from '../dataset/release.js';
import { diffReleases, type Change, type ReleaseDiff } from '../engine/rate/release-diff.js';
import { formatDate, parseDate, type DateInt } from '../tax/date.js';
import { print } from './line.js';
import { soundRelease } from './sound-release.js';
import { UsageError } from './usage.js';

/** Lines of a kind printed for people; --json has all. */
export const DIFF_LINES_MAX = 40;

function side(rates: readonly string[]): string {
  return rates.length === 0 ? 'absent' : rates.join(' ');
}

/** The heading of some changes with their number, and the first of them. */
export function section(
  title: string, changes: readonly Change[], most = DIFF_LINES_MAX,
): readonly string[] {
  const lines = changes.slice(0, most)
    .map(({ name, before, after }) => `  ${name}: ${side(before)} -> ${side(after)}`);
  const more = changes.length - lines.length;
  return [
    `${title}: ${changes.length}`, ...lines,
    ...(more > 0 ? [`  and ${more} more (--json has all)`] : []),
  ];
}

/** Formats a difference for people. */
export function diffText(diff: ReleaseDiff): string {
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
  from: string, to: string, asked: { readonly date?: string; readonly json?: boolean },
): Promise<void> {
  const date = dayOf(asked.date);
  const { varDir } = loadConfig();
  const names = [findRelease(varDir, from), findRelease(varDir, to)] as const;
  const before = openDataset(await soundRelease(varDir, names[0]));
  // One environment is opened once in a process.
  const after = names[0] === names[1] ? before : openDataset(await soundRelease(varDir, names[1]));
  try {
    const diff = diffReleases(before, after, date);
    const day = formatDate(date);
    print(asked.json
      ? JSON.stringify({ before: names[0], after: names[1], date: day, ...diff }, null, 1)
      : `${names[0]} -> ${names[1]} on ${day}\n${diffText(diff)}`);
  } finally {
    before.close();
    if (after !== before) after.close();
  }
}
