/**
 * Bodies that are too long for the main thread: a worker of bulk files looks at one, and the main
 * thread gets a few members in place of it.
 */
import { kept } from '../../base/growing-bytes.js';
import { malformationOf, parseJsonObject } from '../../base/json-object.js';
import { isProblem, type Problem } from '../../base/problem.js';
import type { MerchantCaller } from '../../http/merchant-route.js';
import type { Reply } from '../../http/reply.js';
import type {
  Answer, BodyFields, BodyPart, BodyRequest, PoolFailure,
} from '../../pool/types.js';
import { packValue, unpackWithRest } from '../../pool/value.js';
import type { EndpointName } from '../../provider/operation-call.js';
import { SUCCESS } from '../../wire/response-code.js';
import { merchantIdOf } from '../cart/cart-text.js';
import { parseNexusCreate, type NexusCreateBody } from './nexus-shape.js';
import { lookAtRelayed, relayedBytes, type RelayLook } from './relay-shape.js';

/** Whose carts a body holds; null for nobody's. */
export interface CartOwner {
  readonly merchantId: string | null;
}

function cartOwner(body: Uint8Array): CartOwner | Problem {
  const merchantId = merchantIdOf(body);
  return merchantId === null ? malformationOf(body) ?? { merchantId } : { merchantId };
}

function nexus(body: Uint8Array): NexusCreateBody | Problem {
  const read = parseJsonObject(body);
  return isProblem(read) ? read : parseNexusCreate(read.object);
}

function packed(asked: BodyFields, body: Uint8Array): readonly BodyPart[] {
  switch (asked.kind) {
    case 'cart-owner': {
      const owner = cartOwner(body);
      // The body goes back with the answer, since it was given away.
      return isProblem(owner) || owner.merchantId === null
        ? packValue(owner) : packValue(owner, body);
    }
    case 'nexus': return packValue(nexus(body));
    case 'relayed': {
      const look = lookAtRelayed(asked.operation, body);
      return isProblem(look) || look.problem !== null
        ? packValue(look) : packValue(look, relayedBytes(body));
    }
  }
}

/** A worker's answer about a body. */
export function answerBody(asked: BodyFields, body: Uint8Array): Answer {
  return {
    status: SUCCESS.http, code: SUCCESS.code, precision: 0, flags: 0, body: packed(asked, body),
  };
}

/** Workers that look at bodies; they need no dataset for it. */
export interface BodyWorkers {
  submit(request: BodyRequest): void;
}

function failureReply(caller: MerchantCaller, failure: PoolFailure): Reply {
  return failure === 'overloaded'
    ? caller.problem(503, 'The service has more to do than it can take.')
    : caller.problem(500, 'The service failed to answer.');
}

interface Looked<T> {
  readonly told: T;
  /** The body where it goes on: as it was sent, or what is relayed of it. */
  readonly bytes: Uint8Array;
}

/** What a worker says of a body, which is given away; else the answer. */
function look<T extends object>(
  workers: BodyWorkers, caller: MerchantCaller, body: Uint8Array, asked: BodyFields,
): Promise<Looked<T> | Reply> {
  return new Promise((resolve) => {
    workers.submit({
      ...asked, payload: body, gives: true,
      answered: ({ status, body: answer }) => {
        if (status !== SUCCESS.http) return resolve(failureReply(caller, 'internal'));
        const { value, rest } = unpackWithRest<T | Problem>(answer);
        resolve(isProblem(value) ? caller.refuse(value) : { told: value, bytes: kept(rest) });
      },
      failed: (failure) => resolve(failureReply(caller, failure)),
    });
  });
}

/** The merchant whose carts a body holds; or the answer that refuses it. */
export function ownerOfLarge(
  workers: BodyWorkers, caller: MerchantCaller, body: Uint8Array,
): Promise<Looked<CartOwner> | Reply> {
  return look(workers, caller, body, { kind: 'cart-owner' });
}

/** What is known of a body that is relayed, with the bytes that are sent. */
export function lookAtLarge(
  workers: BodyWorkers, caller: MerchantCaller, body: Uint8Array, operation: EndpointName,
): Promise<Looked<RelayLook> | Reply> {
  return look(workers, caller, body, { kind: 'relayed', operation });
}

/** Reads the body of nexus/create. */
export function readLargeNexus(
  workers: BodyWorkers, caller: MerchantCaller, body: Uint8Array,
): Promise<Looked<NexusCreateBody> | Reply> {
  return look(workers, caller, body, { kind: 'nexus' });
}
