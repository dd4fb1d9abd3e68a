/**
 * Checks a body before it is relayed to the compliance provider, and turns the provider's outcome
 * into an answer for the caller.
 */
import { kept } from '../../base/growing-bytes.js';
import { type JsonSummary, JsonText, summaryOf } from '../../base/json-text.js';
import { PacedBytes } from '../../base/turns.js';
import { PARSED_BYTES_MAX } from '../../http/json-body.js';
import type { MerchantCaller } from '../../http/merchant-route.js';
import { headOf, JSON_TYPE, type Reply } from '../../http/reply.js';
import { unpackWithRest } from '../../pool/value.js';
import {
  type EndpointName,
  PROVIDER_ENDPOINTS,
  type ProviderEndpoint,
} from '../../provider/operation-call.js';
import {
  fault,
  judge,
  needsSummary,
  type ProviderAnswer,
  type ProviderFault,
  type ProviderOutcome,
  type Relayed,
} from '../../provider/provider.js';
import { SUCCESS } from '../../wire/response-code.js';
import type { BodyRequest } from '../../pool/types.js';
import { withoutMember } from '../../base/json-member.js';
import { type JsonObject, parseJsonObject } from '../../base/json-object.js';
import { isProblem, type Problem, type ProblemStatus } from '../../base/problem.js';
import { relayProblem } from './relay-shape.js';

/** Workers that read bodies; they need no dataset for that. */
export interface BodyWorkers {
  submit(request: BodyRequest): void;
}

/** What was found in a body. Of the parsed body, only short members are kept. */
export interface RelayLook {
  /** The id as it was sent; null where it is not text or is too long. */
  readonly merchantId: string | null;
  readonly problem: Problem | null;
  /** Members that become the path and query of the call; none where there is a problem. */
  readonly members: JsonObject;
}

/** A longer text is not taken for a merchant's id; a UUID has 36 characters. */
const ID_CHARS_MAX = 36;

function pathMembers({ ids, query }: ProviderEndpoint, body: JsonObject): JsonObject {
  return Object.fromEntries(
    [...ids, ...query].flatMap((name) =>
      body[name] === undefined ? [] : [[name, body[name]] as const],
    ),
  );
}

/** Checks a body of an operation; returns a problem where it is not a JSON object. */
export function lookAtRelayed(name: EndpointName, body: Uint8Array): RelayLook | Problem {
  const read = parseJsonObject(body);
  if (isProblem(read)) return read;
  const endpoint: ProviderEndpoint = PROVIDER_ENDPOINTS[name];
  const { merchantId } = read.object;
  const refused = relayProblem(name, endpoint.ids, read.object);
  return {
    merchantId:
      typeof merchantId === 'string' && merchantId.length <= ID_CHARS_MAX ? merchantId : null,
    problem: refused,
    members: refused === null ? pathMembers(endpoint, read.object) : {},
  };
}

/** The bytes of a body that are sent to the provider. */
export function relayedBytes(body: Uint8Array): Uint8Array {
  return withoutMember(body, 'merchantId');
}

/*
 * A worker checks a long answer of the provider, as it does long bodies of requests. For 16 MiB
 * this takes a fifth of a second, in which the main thread could not answer anyone.
 */

/** Checks on this thread whether an answer is JSON, some of it in each turn of the event loop. */
function inTurns(answer: ProviderAnswer): Promise<ProviderAnswer> {
  const text = new JsonText();
  return new Promise((resolve) => {
    const done = (): void => resolve({ ...answer, summary: summaryOf(text, answer.isUtf8) });
    const pieces = new PacedBytes((bytes) => text.push(bytes), done);
    pieces.push(answer.body, true, false);
    if (!pieces.holds) done();
  });
}

/**
 * The outcome with a summary of a long answer, so that `judge` need not walk through it. The
 * provider may have carried the request out already, so where no worker takes the answer, it is
 * read here.
 */
export async function summarized(
  workers: BodyWorkers,
  outcome: ProviderOutcome,
): Promise<ProviderOutcome> {
  if (outcome.kind !== 'answer' || !needsSummary(outcome)) return outcome;
  const { body } = outcome;
  const { length } = body;
  if (length <= PARSED_BYTES_MAX) return outcome;
  const looked = await new Promise<ProviderAnswer | null>((resolve) => {
    workers.submit({
      kind: 'answer',
      payload: body,
      gives: true,
      answered: ({ status, body: answer }) => {
        if (status !== SUCCESS.http) return resolve(null);
        const { value: summary, rest } = unpackWithRest<JsonSummary>(answer);
        resolve({ ...outcome, body: kept(rest), summary });
      },
      failed: () => resolve(null),
    });
  });
  if (looked !== null) return looked;
  // The body was transferred to a worker; if that has ended, the body is lost.
  return body.length === length ? inTurns(outcome) : fault('garbage', 'unread');
}

const UNKNOWN = 'Whether it carried the request out is not known.';

/** Status and detail of the refusal for each fault. */
const FAULTS: Readonly<Record<ProviderFault['kind'], readonly [ProblemStatus, string]>> = {
  timeout: [504, `The compliance provider did not answer in time. ${UNKNOWN}`],
  unreachable: [502, `The compliance provider could not be reached, or cut the call. ${UNKNOWN}`],
  'too-large': [502, `The answer of the compliance provider is too long. ${UNKNOWN}`],
  garbage: [502, `The compliance provider gave no usable answer. ${UNKNOWN}`],
  busy: [503, 'Too many calls to the compliance provider are under way.'],
  // The caller has closed the connection, so nobody reads this.
  gone: [504, 'The caller has gone.'],
  'unusable-credentials': [404, 'The credentials stored for this merchant cannot be used.'],
};

/** The refusal of a call that the provider did not answer, or not properly. */
export function faultReply(caller: MerchantCaller, kind: ProviderFault['kind']): Reply {
  return caller.problem(...FAULTS[kind]);
}

function relayedReply(caller: MerchantCaller, endpoint: ProviderEndpoint, relayed: Relayed): Reply {
  const { status, contentType, location } = relayed;
  const isSingle = endpoint.single === true && status < 300;
  const body = isSingle ? relayed.element : relayed.body;
  const head = headOf(contentType ?? JSON_TYPE, {
    ...caller.fields,
    ...(location === null ? {} : { Location: location }),
  });
  return { status, head, body };
}

interface RelayReply {
  readonly reply: Reply;
  /** What went wrong at the provider, for the log; null when it answered properly. */
  readonly trouble: string | null;
  /** Whether the provider carried the request out. */
  readonly changed: 'yes' | 'no' | 'unknown';
}

/** Turns an outcome of the provider into an answer for the caller. */
export function relayReply(
  caller: MerchantCaller,
  endpoint: ProviderEndpoint,
  outcome: ProviderOutcome,
): RelayReply {
  if (outcome.kind !== 'answer') {
    const { kind, reason, sent } = outcome;
    const trouble = kind === 'gone' ? null : `${kind} ${reason}`;
    return { reply: faultReply(caller, kind), trouble, changed: sent ? 'unknown' : 'no' };
  }
  const verdict = judge(outcome);
  switch (verdict.verdict) {
    case 'relay':
      return {
        reply: relayedReply(caller, endpoint, verdict),
        trouble: null,
        changed: verdict.status < 300 ? 'yes' : 'no',
      };
    case 'garbage':
      return {
        reply: faultReply(caller, 'garbage'),
        trouble: `garbage ${verdict.reason}`,
        changed: 'unknown',
      };
    case 'credentials':
      return {
        reply: caller.problem(
          404,
          'The compliance provider does not accept the credentials stored for this merchant.',
        ),
        trouble: `credentials status ${outcome.status}`,
        changed: 'no',
      };
    case 'unexplained': {
      const { status } = verdict;
      return {
        reply: caller.problem(
          status,
          `The compliance provider answered ${status} and did not say why.`,
        ),
        trouble: null,
        changed: 'no',
      };
    }
  }
}
