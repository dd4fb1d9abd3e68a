/** Problem documents that clients of lookups understand too, by their response code. */
import { fail, type FailureKind } from '../failure.js';
import { failureMessage, RESPONSE_CODES } from '../wire/response-code.js';
import { metadata } from '../wire/v60-envelope.js';
import { problemReply } from './problem.js';
import type { Fields, Reply } from './reply.js';

const STATUSES = {
  'invalid-key': 401,
  'feature-not-enabled': 405,
  'rate-limited': 429,
} as const satisfies Partial<Readonly<Record<FailureKind, number>>>;

export type CodedKind = keyof typeof STATUSES;

/** A refusal with `metadata.response` beside the members of a problem document. */
export function codedProblem(
  kind: CodedKind, instance: string, baseUrl: string, fields: Fields, detail?: string,
): Reply {
  const { code, name } = RESPONSE_CODES[kind];
  const message = failureMessage(fail(kind, detail));
  return problemReply({
    status: STATUSES[kind], detail: message, instance,
    members: metadata({ code, name, message }, baseUrl),
  }, fields);
}
