/** What came of one attempt to send something. Outcomes are values; nothing throws. */
import { errorCode } from '../base/error-code.js';

interface SentOutcome {
  readonly result: 'sent';
  readonly status: number;
}

export interface FailedOutcome {
  readonly result: /** To be attempted again, while the schedule lasts. */
    | 'failed'
    /** Not to be attempted again. */
    | 'refused'
    /** As `failed`, and the receiver wants no more of any. */
    | 'gone';
  /** Null when there was no answer. */
  readonly status: number | null;
  /** In words that hold no address and no URL. */
  readonly error: string;
  /** The least time until the next attempt, in milliseconds; 0 when the receiver said nothing. */
  readonly retryAfterMs: number;
  /** The receiver is overloaded: everything that goes there slows down. */
  readonly slow: boolean;
}

/** Cut short by the end of the server: as if it had not been. */
interface InterruptedOutcome {
  readonly result: 'interrupted';
}

/** Nobody is to be told any more. */
interface DroppedOutcome {
  readonly result: 'dropped';
}

export type Outcome = SentOutcome | FailedOutcome | InterruptedOutcome | DroppedOutcome;

/** An attempt that failed in the plainest way, with what is different given. */
export function failed(
  error: string,
  differences: Partial<Omit<FailedOutcome, 'error'>> = {},
): FailedOutcome {
  return { result: 'failed', status: null, error, retryAfterMs: 0, slow: false, ...differences };
}

/** The code of anything thrown. Messages are not used: they may repeat an address or a URL. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code = errorCode(error);
  return /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : error.name;
}

/** When a failed attempt is repeated. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/**
 * The wait before each attempt: the example schedule of Standard Webhooks 1.0.0. The last one is
 * 75 h 35 min 5 s after the first, jitter apart.
 */
export const RETRY_MS: readonly number[] = [
  0,
  5_000,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

/** A wait is longer by up to this share of it, so that what failed together comes back apart. */
export const JITTER_SHARE = 0.1;

/** A receiver cannot put off the next attempt for longer. */
export const RETRY_AFTER_MS_MAX = 24 * HOUR;

/** No attempt waits for longer: what is due later was put there by a clock that was wrong. */
const WAIT_MS_MAX = 27 * HOUR;

/** Whether an attempt has to wait. */
export function isLater(dueAt: number, now: number): boolean {
  return dueAt > now && dueAt - now <= WAIT_MS_MAX;
}

interface FailedAttempt {
  /** Attempts that failed, this one included. */
  readonly attempts: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** From 0 up to 1. */
  readonly random: number;
  readonly retryAfterMs: number;
}

/** When the next attempt is due, or null when there is none. */
export function nextAttempt({ attempts, now, random, retryAfterMs }: FailedAttempt): number | null {
  const wait = RETRY_MS[attempts];
  if (wait === undefined) return null;
  return now + Math.round(Math.max(wait * (1 + JITTER_SHARE * random), retryAfterMs));
}

/** An HTTP date in the only form that may be sent: "Sun, 06 Nov 1994 08:49:37 GMT". */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Reads a Retry-After field (RFC 9110, 10.2.3) as milliseconds; 0 when there is none to follow. */
export function retryAfter(field: string | null, now: number): number {
  if (field === null) return 0;
  const text = field.trim();
  const ms = /^\d{1,12}$/.test(text)
    ? Number(text) * 1_000
    : HTTP_DATE.test(text)
      ? Date.parse(text) - now
      : 0;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), RETRY_AFTER_MS_MAX) : 0;
}
