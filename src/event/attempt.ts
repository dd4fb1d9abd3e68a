/** What came of one attempt to send something. Outcomes are values; nothing throws. */
import { errorCode } from '../base/error-code.js';

interface SentOutcome {
  readonly result: 'sent';
  readonly status: number;
}

export interface FailedOutcome {
  readonly result: /** To be attempted again, while the schedule lasts. */
    | 'failed'
    /** Refused for good; not attempted again. */
    | 'refused'
    /** As `failed`; in addition the receiver wants no more events at all. */
    | 'gone';
  /** Null when there was no answer. */
  readonly status: number | null;
  /** A message that contains no address and no URL. */
  readonly error: string;
  /** Shortest wait until the next attempt, in milliseconds; 0 when the receiver asked for none. */
  readonly retryAfterMs: number;
  /** Whether the receiver is overloaded, so that all sending to it slows down. */
  readonly slow: boolean;
}

/** The attempt was cut short because the server stops; it counts as never made. */
interface InterruptedOutcome {
  readonly result: 'interrupted';
}

/** The message has no receiver any more. */
interface DroppedOutcome {
  readonly result: 'dropped';
}

export type Outcome = SentOutcome | FailedOutcome | InterruptedOutcome | DroppedOutcome;

/** A failed attempt, with members that differ from the usual ones. */
export function failed(
  error: string,
  differences: Partial<Omit<FailedOutcome, 'error'>> = {},
): FailedOutcome {
  return { result: 'failed', status: null, error, retryAfterMs: 0, slow: false, ...differences };
}

/** The code of an exception. Its message is not used, since it may contain an address or a URL. */
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

/**
 * Each wait is longer by a random part of up to this share, so that messages that failed together
 * are repeated at different times.
 */
export const JITTER_SHARE = 0.1;

/** Longest wait that a receiver can ask for. */
export const RETRY_AFTER_MS_MAX = 24 * HOUR;

/** Longest wait of any attempt. A record that is due later was written when the clock was wrong. */
const WAIT_MS_MAX = 27 * HOUR;

/** Whether an attempt that is due at `dueAt` has to wait; a time too far ahead is ignored. */
export function isLater(dueAt: number, now: number): boolean {
  return dueAt > now && dueAt - now <= WAIT_MS_MAX;
}

interface FailedAttempt {
  /** Attempts that failed, including this one. */
  readonly attempts: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** A random number from 0 to below 1. */
  readonly random: number;
  readonly retryAfterMs: number;
}

/** When the next attempt is due, or null when there is none. */
export function nextAttempt({ attempts, now, random, retryAfterMs }: FailedAttempt): number | null {
  const wait = RETRY_MS[attempts];
  if (wait === undefined) return null;
  return now + Math.round(Math.max(wait * (1 + JITTER_SHARE * random), retryAfterMs));
}

/** The form of HTTP dates that senders must use: "Sun, 06 Nov 1994 08:49:37 GMT". */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Reads a Retry-After field (RFC 9110, 10.2.3) as milliseconds; 0 when it asks for no wait. */
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
