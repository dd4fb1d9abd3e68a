/**
 * What becomes of a provider's answer: relayed as it is, or a refusal of our own. Statuses that
 * speak of the merchant's request are the merchant's to read; those that speak of Situs's side of
 * the conversation (keys, methods, redirects, faults) would mislead a caller of Situs.
 */
import { jsonSummary, type JsonSummary } from '../base/json-text.js';
import type { ProviderAnswer } from './port.js';

/** Success as contract and clients know it. */
const RELAYED_SUCCESS: readonly number[] = [200, 201, 204];

/** Refusals of the request itself. */
const RELAYED_REFUSALS: readonly number[] = [400, 404, 409, 413, 422, 429];

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

export type Verdict =
  | Relayed
  /** Refused with a relayed status, without a JSON body that says why. */
  | { readonly verdict: 'unexplained'; readonly status: number }
  | { readonly verdict: 'credentials' }
  | { readonly verdict: 'garbage'; readonly reason: string };

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

function summaryOf({ body, summary }: ProviderAnswer): JsonSummary {
  return summary ?? jsonSummary(body);
}

/** A body without a content type is taken for JSON when it is JSON. */
function isJsonAnswer(answer: ProviderAnswer): boolean {
  const { contentType } = answer;
  return (contentType === null || JSON_TYPE.test(contentType)) && summaryOf(answer).isJson;
}

function relayed(answer: ProviderAnswer): Relayed {
  const { status, location, body } = answer;
  const only = body.byteLength === 0 ? null : summaryOf(answer).only;
  const element = only === null ? body : body.subarray(only.from, only.to);
  const contentType = body.byteLength === 0 ? null : answer.contentType ?? 'application/json';
  return { verdict: 'relay', status, contentType, location, body, element };
}

/** Decides on an answer. */
export function judge(answer: ProviderAnswer): Verdict {
  const { status, body } = answer;
  if (status === 204) {
    return body.byteLength === 0
      ? relayed(answer) : { verdict: 'garbage', reason: '204 with body' };
  }
  if (RELAYED_SUCCESS.includes(status)) {
    return isJsonAnswer(answer) ? relayed(answer) : { verdict: 'garbage', reason: 'not JSON' };
  }
  if (CREDENTIAL_REFUSALS.includes(status)) return { verdict: 'credentials' };
  if (RELAYED_REFUSALS.includes(status)) {
    return isJsonAnswer(answer) ? relayed(answer) : { verdict: 'unexplained', status };
  }
  return { verdict: 'garbage', reason: `status ${status}` };
}
