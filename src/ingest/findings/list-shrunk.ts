/**
 * What a release has lost since an earlier one: a tenth of a list, of a state's doors, or of ZIPs.
 */
import type { CoverageLevel, CoverageState, Finding, Manifest } from '../../dataset/manifest.js';
import { finding } from './finding.js';

/**
 * Shares of an earlier list. With less than the first there is a warning, with no more than the
 * second an error.
 */
const WARNING_SHARE = 0.9;
const ERROR_SHARE = 0.5;

/**
 * Whether a release should have all that an earlier one had: both have the same recipe with all
 * layers.
 */
export function isComparable(before: Manifest, now: Manifest): boolean {
  const layers = new Set(now.recipe.split('+'));
  return before.recipe.split('+').every((layer) => layers.has(layer));
}

function shrunk(place: string, before: number, now: number): readonly Finding[] {
  if (before === 0 || now > before * WARNING_SHARE) return [];
  const lost = (((before - now) / before) * 100).toFixed(1);
  return [
    finding(
      'list-shrunk',
      place,
      `${now} where there were ${before}, ${lost} % fewer`,
      now <= before * ERROR_SHARE ? 'error' : 'warning',
    ),
  ];
}

function sum(counts: readonly (readonly [string, number])[]): number {
  return counts.reduce((total, [, count]) => total + count, 0);
}

/**
 * Compares each list of a level with that of the same source. Sources that only one of the releases
 * has replaced one another, so they are compared together; so is the whole level if a release does
 * not state its lists. A list that counts from some day on, beside older ones for the past, is
 * compared with the whole earlier level: what it lacks is no longer levied.
 */
function levelFindings(
  state: string,
  before: readonly CoverageLevel[],
  now: readonly CoverageLevel[],
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
      ...[...earlier].flatMap(([name, count]) =>
        later.has(name) ? shrunk(place(name), count, later.get(name)!) : [],
      ),
      ...shrunk(place(gone.map(([name]) => name).join(', ')), sum(gone), sum(come)),
      ...(later.has(source) && own.source !== source && !earlier.has(own.source)
        ? shrunk(place(own.source), old.jurisdictions, later.get(own.source) ?? 0)
        : []),
    ];
  });
}

/**
 * Lists of rates by state, level and source, doors by state, and ZIPs, that have lost a tenth of
 * their rows since an earlier release.
 */
export function shrunkFindings(
  before: Pick<Manifest, 'coverage' | 'counts'>,
  now: Pick<Manifest, 'coverage' | 'counts'>,
): readonly Finding[] {
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
