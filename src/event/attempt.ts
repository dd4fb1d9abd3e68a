/** What came of one attempt to send something. Outcomes are values; nothing throws. */

export interface SentOutcome {
  readonly result: 'sent';
  readonly status: number;
}

export interface FailedOutcome {
  readonly result:
    /** To be attempted again, while the schedule lasts. */
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
export interface InterruptedOutcome {
  readonly result: 'interrupted';
}

export type Outcome = SentOutcome | FailedOutcome | InterruptedOutcome;

/** An attempt that failed in the plainest way, with what is different given. */
export function failed(
  error: string, differences: Partial<Omit<FailedOutcome, 'error'>> = {},
): FailedOutcome {
  return { result: 'failed', status: null, error, retryAfterMs: 0, slow: false, ...differences };
}

/** The code of anything thrown. Messages are not used: they may repeat an address or a URL. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code = 'code' in error ? String(error.code) : '';
  return /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : error.name;
}
