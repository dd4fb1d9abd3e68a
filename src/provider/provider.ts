/**
 * The port to the compliance provider: one call, one outcome, as a value; and what becomes of an
 * answer: it is relayed as it is, or a refusal of our own. Statuses that speak of the merchant's
 * request are the merchant's to read; those that speak of Situs's side of the conversation (keys,
 * methods, redirects, faults) would mislead a caller of Situs.
 */
import { type JsonSummary, jsonSummary } from '../base/json-text.js';
import type { ProblemStatus } from '../base/problem.js';

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
  /** Nobody else's memory, with room before it (HEAD_ROOM_BYTES). */
  readonly body: Uint8Array;
  readonly isUtf8: boolean;
  /** What is known of the body; without it `judge` looks at the body as a whole. */
  readonly summary?: JsonSummary;
}

export interface ProviderFault {
  readonly kind: /** No whole answer within the time. */
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
export function fault(kind: ProviderFault['kind'], reason: string, sent = true): ProviderFault {
  return { kind, reason, sent };
}

/** Success as contract and clients know it. */
const RELAYED_SUCCESS: readonly number[] = [200, 201, 204];

/** Refusals of the request itself. */
const RELAYED_REFUSALS: readonly ProblemStatus[] = [400, 404, 409, 413, 422, 429];

function refusalOf(status: number): ProblemStatus | undefined {
  return RELAYED_REFUSALS.find((relayed) => relayed === status);
}

/** The provider does not take the stored key for the stored connection. */
const CREDENTIAL_REFUSALS: readonly number[] = [401, 403];

export interface Relayed {
  readonly verdict: 'relay';
  readonly status: number;
  /** Null with an empty body. */
  readonly contentType: string | null;
  readonly location: string | null;
  readonly body: Uint8Array;
  /** Of a list of one, its element; else the body. */
  readonly element: Uint8Array;
}

type Verdict =
  | Relayed
  /** Refused with a relayed status, without a JSON body that says why. */
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

/** A body without a content type is taken for JSON when it is JSON. */
function isJsonAnswer(answer: ProviderAnswer): boolean {
  return saysJson(answer) && summaryOf(answer).isJson;
}

/** Whether what becomes of an answer depends on its body. */
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

/** Decides on an answer. */
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
