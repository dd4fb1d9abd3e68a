/**
 * Findings: doubts about the contents of a release whose bytes are sound. An error is a fault by
 * which an answer may be wrong, so verification fails. A warning is only reported: places are
 * refused, or figures are unusual but may be right.
 */
import type { Finding } from '../../dataset/manifest.js';
import type { Overlap } from '../boundary/overlaps.js';
import type { Boundaries } from '../boundary/overlay.js';
import type { PlaceFact } from '../model.js';
import type { RateBookInput } from '../rates/book.js';
import type { CountyFact } from '../rates/facts.js';

/** Kinds of findings, each with its severity, unless figures decide. */
export const FINDING_KINDS = {
  /**
   * Two jurisdictions of one level have the same land. An error if the share reaches ERROR_SHARE.
   */
  overlap: 'warning',
  /** There are rates for a jurisdiction without a boundary, so its land is refused. */
  'jurisdiction-without-boundary': 'warning',
  /** Land of an unknown jurisdiction would be taken for land of another one. */
  'boundary-without-jurisdiction': 'error',
  /** The sum of a place's rates is not possible by law. */
  'total-out-of-bounds': 'error',
  'county-outside-state': 'error',
  /** No part of a ZIP lies in its post office's state. */
  'zip-outside-state': 'warning',
  /** A rate changes by more than three points from one day to the next. */
  'rate-jump': 'warning',
  /**
   * A list has a tenth fewer rows than in the release before. An error if it has only half or less.
   */
  'list-shrunk': 'warning',
} as const satisfies Readonly<Record<string, Finding['severity']>>;
type FindingKind = keyof typeof FINDING_KINDS;

/** Makes a finding of a kind; `severity` where the figures decide. */
export function finding(
  kind: FindingKind,
  place: string,
  figures: string,
  severity: Finding['severity'] = FINDING_KINDS[kind],
): Finding {
  return { kind, place, figures, severity };
}

/** A finding as text. */
export function findingText({ kind, place, figures, severity }: Finding): string {
  return `${severity} ${kind}: ${place}: ${figures}`;
}

/** Smaller overlaps are differences between lines that were drawn in different years. */
const OVERLAP_KM2_MIN = 0.1;
const WARNING_SHARE = 0.001;
const ERROR_SHARE = 0.01;

/** What a build knows after its boundaries are overlaid. */
interface Drawn {
  readonly boundaries: Boundaries;
  readonly overlaps: readonly Overlap[];
  readonly places: readonly PlaceFact[];
  readonly counties: readonly CountyFact[];
  readonly input: Pick<RateBookInput, 'rows' | 'members' | 'states' | 'districtNames'>;
}

function overlapFindings({ overlaps, boundaries }: Drawn): readonly Finding[] {
  // A province is no county. Where one publisher draws the line between the two coarsely, the
  // county's line counts.
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

/** Polygons whose key has no fact. */
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

/** Counties that levy something and have no polygon, in states where other counties have one. */
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

/** Findings about boundaries and their jurisdictions. */
export function boundaryFindings(drawn: Drawn): readonly Finding[] {
  return [...overlapFindings(drawn), ...nameless(drawn), ...undrawn(drawn), ...strangers(drawn)];
}
