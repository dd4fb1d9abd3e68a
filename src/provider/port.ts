/** The port to the compliance provider: one call, one outcome. Outcomes are values. */

import type { JsonSummary } from '../base/json-text.js';

export type ProviderMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface ProviderCall {
  readonly method: ProviderMethod;
  /** Below the provider's address, with its query: "/tax/connections/…". */
  readonly path: string;
  /** The merchant's own key. */
  readonly apiKey: string;
  /** JSON; null on calls without a body. */
  readonly body: Uint8Array | null;
}

/** What the provider said, reduced to the fields that travel on. */
export interface ProviderAnswer {
  readonly kind: 'answer';
  readonly status: number;
  /** Null when there was none, or one that cannot be relayed. */
  readonly contentType: string | null;
  readonly location: string | null;
  readonly body: Uint8Array;
  /** What was told of the body while it arrived; without it the body is looked at as a whole. */
  readonly summary?: JsonSummary;
}

export interface ProviderFault {
  readonly kind:
    /** No whole answer within the time. */
    | 'timeout'
    /** No connection, a certificate that is not trusted, or a connection cut. */
    | 'unreachable'
    /** The answer is longer than RESPONSE_BYTES_MAX. */
    | 'too-large'
    /** Something that is not HTTP, or not the JSON that was asked for. */
    | 'garbage'
    /** More calls under way than CALLS_MAX. */
    | 'busy'
    /** The caller has gone; nobody waits. */
    | 'gone'
    /** The merchant's key or connection cannot be sent. */
    | 'unusable-credentials';
  /** For the log: a code, never a part of the call. */
  readonly reason: string;
  /** Whether the provider may know of the call. */
  readonly sent: boolean;
}

export type ProviderOutcome = ProviderAnswer | ProviderFault;

export interface Provider {
  /** Sends one call. Never rejects. */
  send(call: ProviderCall, signal?: AbortSignal): Promise<ProviderOutcome>;
  /** Cuts what is under way. */
  close(): Promise<void>;
}

/** Makes a fault. */
export function fault(
  kind: ProviderFault['kind'], reason: string, sent = true,
): ProviderFault {
  return { kind, reason, sent };
}
