/**
 * What is looked for in a body before it is relayed to the compliance provider, and what the caller
 * is told of the outcome.
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

/** Workers that look at bodies; they need no dataset for it. */
export interface BodyWorkers {
  submit(request: BodyRequest): void;
}

/** What is known of a body, without anything that was parsed of it beside small members. */
export interface RelayLook {
  /** As it was sent; null for what is no text. */
  readonly merchantId: string | null;
  readonly problem: Problem | null;
  /** Members that become the path and query of the call; none where there is a problem. */
  readonly members: JsonObject;
}

/** Longest text that is told of as a merchant's id; a UUID has 36 characters. */
const ID_CHARS_MAX = 36;

function pathMembers({ ids, query }: ProviderEndpoint, body: JsonObject): JsonObject {
  return Object.fromEntries(
    [...ids, ...query].flatMap((name) =>
      body[name] === undefined ? [] : [[name, body[name]] as const],
    ),
  );
}

/** Looks at a body of an operation; a problem where it is no JSON object. */
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

/** The bytes of a body that the provider gets. */
export function relayedBytes(body: Uint8Array): Uint8Array {
  return withoutMember(body, 'merchantId');
}

/*
 * A long answer is looked at by a worker, as long bodies of requests are: of 16 MiB that takes a
 * fifth of a second, and the thread that answers everyone would be at nothing else meanwhile.
 */

/** Looks at an answer on this thread, some of it a turn. */
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
 * An outcome whose answer `judge` need not walk through. What the provider did is done: where no
 * worker takes the answer it is looked at here.
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
  // A worker that ended has taken with it what was given to it.
  return body.length === length ? inTurns(outcome) : fault('garbage', 'unread');
}

const UNKNOWN = 'Whether it carried the request out is not known.';

/** What each fault is answered with. */
const FAULTS: Readonly<Record<ProviderFault['kind'], readonly [ProblemStatus, string]>> = {
  timeout: [504, `The compliance provider did not answer in time. ${UNKNOWN}`],
  unreachable: [502, `The compliance provider could not be reached, or cut the call. ${UNKNOWN}`],
  'too-large': [502, `The answer of the compliance provider is too long. ${UNKNOWN}`],
  garbage: [502, `The compliance provider gave no usable answer. ${UNKNOWN}`],
  busy: [503, 'Too many calls to the compliance provider are under way.'],
  // Nobody reads it.
  gone: [504, 'The caller has gone.'],
  'unusable-credentials': [404, 'The credentials stored for this merchant cannot be used.'],
};

/** The refusal of a call that the provider did not answer, or not as it should. */
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
  /** What went wrong at the provider, for the log; null when it answered as it should. */
  readonly trouble: string | null;
  /** Whether the provider carried the request out. */
  readonly changed: 'yes' | 'no' | 'unknown';
}

/** Turns an outcome into an answer. */
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
