/**
 * Doubts about what a release says, though its bytes are sound. An error is a fault by which an
 * answer may be wrong: verification fails. A warning is told: places are refused, or figures are
 * unusual and may be right.
 */
import type { Finding } from '../../dataset/manifest.js';

/** Kinds of findings with the severity each has, unless its figures say otherwise. */
export const FINDING_KINDS = {
  /** Two jurisdictions of one level hold the same land: an error from ERROR_SHARE of one on. */
  'overlap': 'warning',
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
export type FindingKind = keyof typeof FINDING_KINDS;

/** A finding of a kind; `severity` where its figures decide. */
export function finding(
  kind: FindingKind, place: string, figures: string,
  severity: Finding['severity'] = FINDING_KINDS[kind],
): Finding {
  return { kind, place, figures, severity };
}

/** A finding as people read it. */
export function findingText({ kind, place, figures, severity }: Finding): string {
  return `${severity} ${kind}: ${place}: ${figures}`;
}
