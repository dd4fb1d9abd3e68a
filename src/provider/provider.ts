/**
 * The port to the compliance provider: one call has one outcome, as a value. Also decides what
 * follows from an answer: it is passed on as it is, or replaced by a refusal of this service.
 * Statuses about the merchant's request concern the merchant; those about Situs's own call (keys,
 * methods, redirects, faults) would mislead a caller of Situs.
 */
import { type JsonSummary, jsonSummary } from '../base/json-text.js';
import type { ProblemStatus } from '../base/problem.js';

export type ProviderMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface ProviderCall {
  readonly method: ProviderMethod;
  /** The path below the provider's address, with its query: "/tax/connections/…". */
  readonly path: string;
  /** The merchant's own key. */
  readonly apiKey: string;
  /** JSON; null for a call without a body. */
  readonly body: Uint8Array | null;
}

/** An answer of the provider, reduced to the fields that are passed on. */
export interface ProviderAnswer {
  readonly kind: 'answer';
  readonly status: number;
  /** Null where there was none, or one that cannot be passed on. */
  readonly contentType: string | null;
  readonly location: string | null;
  /** Memory of its own, with room before it (HEAD_ROOM_BYTES). */
  readonly body: Uint8Array;
  readonly isUtf8: boolean;
  /** The summary of the body, if it was made already; otherwise `judge` makes it. */
  readonly summary?: JsonSummary;
}

export interface ProviderFault {
  readonly kind: /** No whole answer within the time. */
    | 'timeout'
    /** There was no connection, its certificate is not trusted, or it was cut. */
    | 'unreachable'
    /** The answer is longer than RESPONSE_BYTES_MAX. */
    | 'too-large'
    /** The answer is not HTTP, or not JSON. */
    | 'garbage'
    /** More calls are under way than CALLS_MAX. */
    | 'busy'
    /** The caller has left, and nobody waits. */
    | 'gone'
    /** The merchant's key or connection cannot be sent. */
    | 'unusable-credentials';
  /** A code for the log, without any part of the call. */
  readonly reason: string;
  /** Whether the provider may know of the call. */
  readonly sent: boolean;
}

export type ProviderOutcome = ProviderAnswer | ProviderFault;

export interface Provider {
  /** Sends a call. Never rejects. */
  send(call: ProviderCall, signal?: AbortSignal): Promise<ProviderOutcome>;
  /** Cuts all calls under way. */
  close(): Promise<void>;
}

export function fault(kind: ProviderFault['kind'], reason: string, sent = true): ProviderFault {
  return { kind, reason, sent };
}

/** Statuses of success that the contract names and clients know. */
const RELAYED_SUCCESS: readonly number[] = [200, 201, 204];

/** Refusals that are about the merchant's request. */
const RELAYED_REFUSALS: readonly ProblemStatus[] = [400, 404, 409, 413, 422, 429];

function refusalOf(status: number): ProblemStatus | undefined {
  return RELAYED_REFUSALS.find((relayed) => relayed === status);
}

/** The provider does not accept the stored key for the stored connection. */
const CREDENTIAL_REFUSALS: readonly number[] = [401, 403];

export interface Relayed {
  readonly verdict: 'relay';
  readonly status: number;
  /** Null for an empty body. */
  readonly contentType: string | null;
  readonly location: string | null;
  readonly body: Uint8Array;
  /** The element of a list of one; otherwise the body. */
  readonly element: Uint8Array;
}

type Verdict =
  | Relayed
  /** Refused with a status that is passed on, but without a JSON body that says why. */
  | { readonly verdict: 'unexplained'; readonly status: ProblemStatus }
  | { readonly verdict: 'credentials' }
  | { readonly verdict: 'garbage'; readonly reason: string };

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

function summaryOf({ body, summary }: ProviderAnswer): JsonSummary {
  return summary ?? jsonSummary(body);
}

function saysJson({ contentType }: ProviderAnswer): boolean {
  return contentType === null || JSON_TYPE.test(contentType);
}

/** A body without a content type counts as JSON if it is JSON. */
function isJsonAnswer(answer: ProviderAnswer): boolean {
  return saysJson(answer) && summaryOf(answer).isJson;
}

/** Whether the verdict on an answer depends on its body. */
export function needsSummary(answer: ProviderAnswer): boolean {
  const { status } = answer;
  const isRead =
    status !== 204 && (RELAYED_SUCCESS.includes(status) || refusalOf(status) !== undefined);
  return isRead && saysJson(answer);
}

function relayed(answer: ProviderAnswer): Relayed {
  const { status, location, body } = answer;
  const only = body.byteLength === 0 ? null : summaryOf(answer).only;
  const element = only === null ? body : body.subarray(only.from, only.to);
  const contentType = body.byteLength === 0 ? null : (answer.contentType ?? 'application/json');
  return { verdict: 'relay', status, contentType, location, body, element };
}

/** Decides what follows from an answer. */
export function judge(answer: ProviderAnswer): Verdict {
  const { status, body } = answer;
  if (status === 204) {
    return body.byteLength === 0
      ? relayed(answer)
      : { verdict: 'garbage', reason: '204 with body' };
  }
  if (RELAYED_SUCCESS.includes(status)) {
    return isJsonAnswer(answer) ? relayed(answer) : { verdict: 'garbage', reason: 'not JSON' };
  }
  if (CREDENTIAL_REFUSALS.includes(status)) return { verdict: 'credentials' };
  const refusal = refusalOf(status);
  if (refusal !== undefined) {
    return isJsonAnswer(answer) ? relayed(answer) : { verdict: 'unexplained', status: refusal };
  }
  return { verdict: 'garbage', reason: `status ${status}` };
}
