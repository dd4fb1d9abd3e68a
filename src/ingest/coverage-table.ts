/** Coverage as a table for people, in Markdown so that the documentation can carry it. */
import type { CoverageLevel, CoverageState } from '../dataset/manifest.js';

function cell(level: CoverageLevel | undefined): string {
  if (level === undefined) return '';
  const until = level.until === '' ? '' : `, until ${level.until}`;
  const asOf = level.asOf === '' ? '' : ` ${level.asOf}${until}`;
  const count = level.jurisdictions > 0 ? ` (${level.jurisdictions})` : '';
  return `${level.completeness}${count}${asOf}`;
}

/** Formats one line per state: how each level is known, boundaries, doors, gaps. */
export function coverageTable(states: readonly CoverageState[]): string {
  const lines = [
    '| State | State rate | Counties | Cities | Districts | City boundaries | Doors | Gaps |',
    '|---|---|---|---|---|---|---|---|',
  ];
  for (const state of states) {
    const level = (name: string): string =>
      cell(state.levels.find((entry) => entry.level === name));
    lines.push(`| ${[
      state.state, level('state'), level('county'), level('city'), level('district'),
      state.placeBoundaries ? 'yes' : 'no', state.addressPoints || '', state.gaps.join('; '),
    ].join(' | ')} |`);
  }
  return lines.join('\n');
}
