/** What a release lacks that the one before it had. */
import type { CoverageLevel, CoverageState, Finding, Manifest } from '../../dataset/manifest.js';
import { finding } from './finding.js';

const WARNING_SHARE = 0.9;
const ERROR_SHARE = 0.5;

function shrunk(place: string, before: number, now: number): readonly Finding[] {
  if (before === 0 || now > before * WARNING_SHARE) return [];
  const lost = (((before - now) / before) * 100).toFixed(1);
  return [finding('list-shrunk', place, `${now} where there were ${before}, ${lost} % fewer`,
    now <= before * ERROR_SHARE ? 'error' : 'warning')];
}

function levelFindings(
  state: string, before: readonly CoverageLevel[], now: readonly CoverageLevel[],
): readonly Finding[] {
  return before.flatMap(({ level, jurisdictions, source }) => shrunk(
    `${state} ${level} list${source === '' ? '' : ` (${source})`}`, jurisdictions,
    now.find((one) => one.level === level)?.jurisdictions ?? 0));
}

/**
 * Lists of rates by state and level, doors by state, and the release's ZIPs, a tenth of whose rows
 * are gone since a release before.
 */
export function shrunkFindings(before: Manifest, now: Manifest): readonly Finding[] {
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
