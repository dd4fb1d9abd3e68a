/**
 * Doubts about what a release says, though its bytes are sound. An error is a fault by which an
 * answer may be wrong: verification fails. A warning is told: places are refused, or figures are
 * unusual and may be right.
 */
import type { Finding } from '../../dataset/manifest.js';
import type { Overlap } from '../boundary/overlaps.js';
import type { Boundaries } from '../boundary/overlay.js';
import type { PlaceFact } from '../model.js';
import type { RateBookInput } from '../rates/book.js';
import type { CountyFact } from '../rates/facts.js';

/** Kinds of findings with the severity each has, unless its figures say otherwise. */
export const FINDING_KINDS = {
  /** Two jurisdictions of one level hold the same land: an error from ERROR_SHARE of one on. */
  overlap: 'warning',
  /** Rates are held of what has no boundary: its land is refused. */
  'jurisdiction-without-boundary': 'warning',
  /** Land of which nobody knows whose it is would be taken for another's. */
  'boundary-without-jurisdiction': 'error',
  /** The rates of a place add up to what the law does not allow. */
  'total-out-of-bounds': 'error',
  'county-outside-state': 'error',
  /** No part of a ZIP lies in the state of its post office. */
  'zip-outside-state': 'warning',
  /** A rate rises or falls by more than three points from one day to the next. */
  'rate-jump': 'warning',
  /** A list has a tenth fewer rows than in the release before: an error from half of them on. */
  'list-shrunk': 'warning',
} as const satisfies Readonly<Record<string, Finding['severity']>>;
type FindingKind = keyof typeof FINDING_KINDS;

/** A finding of a kind; `severity` where its figures decide. */
export function finding(
  kind: FindingKind,
  place: string,
  figures: string,
  severity: Finding['severity'] = FINDING_KINDS[kind],
): Finding {
  return { kind, place, figures, severity };
}

/** A finding as people read it. */
export function findingText({ kind, place, figures, severity }: Finding): string {
  return `${severity} ${kind}: ${place}: ${figures}`;
}

/** Overlaps of less are bends of lines that were drawn in different years. */
const OVERLAP_KM2_MIN = 0.1;
const WARNING_SHARE = 0.001;
const ERROR_SHARE = 0.01;

/** What a build knows when its boundaries are overlaid. */
interface Drawn {
  readonly boundaries: Boundaries;
  readonly overlaps: readonly Overlap[];
  readonly places: readonly PlaceFact[];
  readonly counties: readonly CountyFact[];
  readonly input: Pick<RateBookInput, 'rows' | 'members' | 'states' | 'districtNames'>;
}

function overlapFindings({ overlaps, boundaries }: Drawn): readonly Finding[] {
  // A province is no county: where one publisher draws the line between them coarsely, the
  // county's holds.
  const provinces = new Set(boundaries.provinces.map(({ polygon }) => polygon.key));
  return overlaps
    .filter(
      ({ km2, share, keys: [one, other] }) =>
        km2 >= OVERLAP_KM2_MIN &&
        share >= WARNING_SHARE &&
        provinces.has(one) === provinces.has(other),
    )
    .map(({ layer, keys, km2, share }) =>
      finding(
        'overlap',
        `${layer} ${keys[0]} and ${keys[1]}`,
        `both hold about ${km2.toFixed(1)} km², ${(share * 100).toFixed(1)} % of the smaller`,
        share >= ERROR_SHARE ? 'error' : 'warning',
      ),
    );
}

/** Land whose key no fact names. */
function nameless({ boundaries, places, counties, input }: Drawn): readonly Finding[] {
  const known = {
    county: new Set(counties.map(({ fips }) => fips)),
    place: new Set(places.filter(({ name, geoid }) => name !== geoid).map(({ geoid }) => geoid)),
    district: new Set([
      ...input.rows.filter(({ level }) => level === 'district').map(({ code }) => code),
      ...input.members.map(({ code }) => code),
      ...[...input.districtNames.keys()].map((key) => key.slice(key.indexOf('/') + 1)),
    ]),
  };
  const of = (level: keyof typeof known, features: Boundaries['places']): readonly Finding[] =>
    features
      .filter(({ polygon }) => !known[level].has(polygon.key))
      .map(({ polygon }) =>
        finding(
          'boundary-without-jurisdiction',
          `${level} ${polygon.key}`,
          'no list and no fact names it',
        ),
      );
  return [
    ...of('county', boundaries.counties),
    ...of('place', boundaries.places),
    ...of('district', boundaries.districts),
  ];
}

/** Counties that levy something and that are drawn nowhere, in states of which others are. */
function undrawn({ boundaries, counties, input }: Drawn): readonly Finding[] {
  const drawn = new Set(boundaries.counties.map(({ polygon }) => polygon.key));
  const states = new Set([...drawn].map((key) => key.slice(0, 2)));
  const levying = new Set(
    input.rows
      .filter(({ level, sales, use }) => level === 'county' && (sales > 0 || use > 0))
      .map(({ county }) => county),
  );
  return [...levying]
    .filter((county) => states.has(county.slice(0, 2)) && !drawn.has(county))
    .sort()
    .map((county) =>
      finding(
        'jurisdiction-without-boundary',
        counties.find(({ fips }) => fips === county)?.fullName ?? `county ${county}`,
        `county ${county} has a rate and no boundary`,
      ),
    );
}

function strangers({ counties, input: { states } }: Drawn): readonly Finding[] {
  const fips = new Map(states.map((state) => [state.code, state.fips]));
  return counties
    .filter((county) => county.fips.slice(0, 2) !== fips.get(county.state))
    .map((county) =>
      finding(
        'county-outside-state',
        `${county.fullName}, ${county.state}`,
        `its code ${county.fips} is none of the state's, ${fips.get(county.state) ?? 'unknown'}`,
      ),
    );
}

/** What is wrong with boundaries and those they are of. */
export function boundaryFindings(drawn: Drawn): readonly Finding[] {
  return [...overlapFindings(drawn), ...nameless(drawn), ...undrawn(drawn), ...strangers(drawn)];
}
