/** The members that answers have of merchants and locations, and bodies that a worker reads. */
import { kept } from '../../base/growing-bytes.js';
import { malformationOf, parseJsonObject } from '../../base/json-object.js';
import { isProblem, type Problem } from '../../base/problem.js';
import { jsonSummary } from '../../base/json-text.js';
import type { Microdegrees } from '../../geo/microdegrees.js';
import { isReadHere } from '../../http/json-body.js';
import type { MerchantCaller } from '../../http/merchant-route.js';
import { isReply, type Reply } from '../../http/reply.js';
import type { Answer, BodyFields, BodyPart, PoolFailure } from '../../pool/types.js';
import { packValue, unpackWithRest } from '../../pool/value.js';
import type { EndpointName } from '../../provider/operation-call.js';
import { SUCCESS } from '../../wire/response-code.js';
import { degreesOf, type WireObject, type WireValue } from '../../wire/tree.js';
import { merchantIdOf } from './cart-owner.js';
import { type LocationBody, type NexusCreateBody, parseNexusCreate } from './nexus-shape.js';
import { type BodyWorkers, lookAtRelayed, relayedBytes, type RelayLook } from './relay-answer.js';
import { FAULT_DETAIL } from '../../http/problem-reply.js';

/**
 * Members are added one by one, since spreading into a literal makes a new object layout each time.
 */
type Members = Record<string, WireValue>;

/**
 * The answer of operations that change something. `status` is that of the operation, not of the
 * merchant.
 */
export function resultOf(merchantId: string, message: string): Members {
  return { merchantId, message, status: 'success' };
}

interface MerchantFacts {
  readonly merchantId: string;
  readonly name: string;
  readonly contacts: { readonly first?: string; readonly last?: string; readonly email?: string };
  readonly referenceId?: string;
}

function addGiven(members: Members, name: string, value: string | undefined): void {
  if (value !== undefined) members[name] = value;
}

/** The members of a merchant; those without a value are left out. */
export function merchantMembers(merchant: MerchantFacts, status: string): WireObject {
  const { merchantId, name, contacts, referenceId } = merchant;
  const members: Members = { merchantId, merchantName: name };
  addGiven(members, 'contactFirst', contacts.first);
  addGiven(members, 'contactLast', contacts.last);
  addGiven(members, 'contactEmail', contacts.email);
  addGiven(members, 'referenceId', referenceId);
  members['status'] = status;
  return members;
}

interface NexusFacts extends LocationBody {
  readonly locationId: string;
  readonly normalizedAddress: string;
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The members of a location. */
export function nexusMembers(location: NexusFacts): WireObject {
  const { locationId, name, line1, line2, city, state, zip, normalizedAddress } = location;
  const { createdAt, updatedAt } = location;
  const members: Members = { locationId, nexusType: 'physical' };
  addGiven(members, 'name', name);
  members['line1'] = line1;
  addGiven(members, 'line2', line2);
  members['city'] = city;
  members['state'] = state;
  members['zip'] = zip;
  members['countryCode'] = 'US';
  members['normalizedAddress'] = normalizedAddress;
  members['geoLat'] = degreesOf(location.lat);
  members['geoLng'] = degreesOf(location.lng);
  const created = new Date(createdAt).toISOString();
  members['createdAt'] = created;
  members['updatedAt'] = updatedAt === createdAt ? created : new Date(updatedAt).toISOString();
  return members;
}

/*
 * Bodies that are too long for the main thread: a worker of bulk files reads them, and the main
 * thread gets only a few members.
 */

/** The merchant that a body of carts is for; null where it names none. */
interface CartOwner {
  readonly merchantId: string | null;
}

function cartOwner(body: Uint8Array): CartOwner | Problem {
  const merchantId = merchantIdOf(body);
  return merchantId === null ? (malformationOf(body) ?? { merchantId }) : { merchantId };
}

function nexus(body: Uint8Array): NexusCreateBody | Problem {
  const read = parseJsonObject(body);
  return isProblem(read) ? read : parseNexusCreate(read.object);
}

function packed(asked: BodyFields, body: Uint8Array): readonly BodyPart[] {
  switch (asked.kind) {
    case 'cart-owner': {
      const owner = cartOwner(body);
      // The body was transferred to the worker, so it is returned with the answer.
      return isProblem(owner) || owner.merchantId === null
        ? packValue(owner)
        : packValue(owner, body);
    }
    case 'nexus':
      return packValue(nexus(body));
    case 'answer':
      return packValue(jsonSummary(body), body);
    case 'relayed': {
      const look = lookAtRelayed(asked.operation, body);
      return isProblem(look) || look.problem !== null
        ? packValue(look)
        : packValue(look, relayedBytes(body));
    }
  }
}

/** A worker's answer about a body. */
export function answerBody(asked: BodyFields, body: Uint8Array): Answer {
  return {
    status: SUCCESS.http,
    code: SUCCESS.code,
    precision: 0,
    flags: 0,
    body: packed(asked, body),
  };
}

/** The refusal of a request that the workers did not answer. */
export function failureReply(caller: MerchantCaller, failure: PoolFailure): Reply {
  return failure === 'overloaded'
    ? caller.problem(503, 'The service has more to do than it can take.')
    : caller.problem(500, FAULT_DETAIL);
}

interface Looked<T> {
  readonly told: T;
  /** The body to go on with: as it was sent, or the part of it that is relayed. */
  readonly bytes: Uint8Array;
}

/**
 * Has a worker read a body, which is transferred to it. Returns what the worker found, or a
 * refusal.
 */
function look<T extends object>(
  workers: BodyWorkers,
  caller: MerchantCaller,
  body: Uint8Array,
  asked: BodyFields,
): Promise<Looked<T> | Reply> {
  return new Promise((resolve) => {
    workers.submit({
      ...asked,
      payload: body,
      gives: true,
      answered: ({ status, body: answer }) => {
        if (status !== SUCCESS.http) return resolve(failureReply(caller, 'internal'));
        const { value, rest } = unpackWithRest<T | Problem>(answer);
        resolve(isProblem(value) ? caller.refuse(value) : { told: value, bytes: kept(rest) });
      },
      failed: (failure) => resolve(failureReply(caller, failure)),
    });
  });
}

/** The merchant that a long body of carts is for, and the body; or the refusal. */
export function ownerOfLarge(
  workers: BodyWorkers,
  caller: MerchantCaller,
  body: Uint8Array,
): Promise<Looked<CartOwner> | Reply> {
  return look(workers, caller, body, { kind: 'cart-owner' });
}

/** What a worker finds in a long body that is relayed, and the bytes to send; or the refusal. */
function lookAtLarge(
  workers: BodyWorkers,
  caller: MerchantCaller,
  body: Uint8Array,
  operation: EndpointName,
): Promise<Looked<RelayLook> | Reply> {
  return look(workers, caller, body, { kind: 'relayed', operation });
}

/** Has a worker read a long body of nexus/create. */
export function readLargeNexus(
  workers: BodyWorkers,
  caller: MerchantCaller,
  body: Uint8Array,
): Promise<Looked<NexusCreateBody> | Reply> {
  return look(workers, caller, body, { kind: 'nexus' });
}

/** Checks a body that is relayed, here or in a worker, and calls `go` with the result. */
export function withLook(
  { bodyWorkers }: { readonly bodyWorkers: BodyWorkers },
  caller: MerchantCaller,
  body: Uint8Array,
  name: EndpointName,
  go: (look: RelayLook, bytes: Uint8Array) => Reply | Promise<Reply>,
): Reply | Promise<Reply> {
  if (isReadHere(body)) {
    const look = lookAtRelayed(name, body);
    return isProblem(look) ? caller.refuse(look) : go(look, relayedBytes(body));
  }
  return lookAtLarge(bodyWorkers, caller, body, name).then((found) =>
    isReply(found) ? found : go(found.told, found.bytes),
  );
}

/** The refusal of a body that names no merchant. */
export function noMerchantId(caller: MerchantCaller): Reply {
  return caller.problem(400, 'merchantId must be a UUID.', [
    { location: 'body.merchantId', message: 'expected a UUID' },
  ]);
}
