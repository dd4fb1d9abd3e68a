/** Bodies that are too long for the main thread, looked at by a worker of bulk files. */

import type { BodyFields, BodyRequest, PoolFailure } from '../../pool/types.js';
import type { EndpointName } from '../../provider/endpoint.js';
import type { BodyProblem } from './body.js';
import { readBodyAnswer } from './large-body.js';
import type { NexusCreateBody } from './nexus-shape.js';
import type { Malformed, RelayLook } from './relay-check.js';
import type { MerchantCaller } from '../../http/merchant-route.js';
import { isReply, type Reply } from '../../http/reply.js';

/** Workers that look at bodies; they need no dataset for it. */
export interface BodyWorkers {
  submit(request: BodyRequest): void;
}

interface Looked {
  readonly text: string;
  readonly bytes: Uint8Array;
}

function failureReply(caller: MerchantCaller, failure: PoolFailure): Reply {
  return failure === 'overloaded'
    ? caller.problem(503, 'The service has more to do than it can take.')
    : caller.problem(500, 'The service failed to answer.');
}

/** What a worker says of a body, which is given away, or the answer when it cannot. */
function look(
  workers: BodyWorkers, caller: MerchantCaller, body: Uint8Array, asked: BodyFields,
): Promise<Looked | Reply> {
  return new Promise((resolve) => {
    workers.submit({
      ...asked, payload: body, gives: true,
      answered: (slice) => resolve(slice.status === 200
        ? readBodyAnswer(slice.body) : failureReply(caller, 'internal')),
      failed: (failure) => resolve(failureReply(caller, failure)),
    });
  });
}

/** Whose carts a body holds, with its bytes: it was given away. */
export interface Owned {
  readonly merchantId: string | null;
  readonly bytes: Uint8Array;
}

/** The merchant whose carts a body holds, null for none; or the answer that refuses it. */
export async function ownerOfLarge(
  workers: BodyWorkers, caller: MerchantCaller, body: Uint8Array,
): Promise<Owned | Reply> {
  const looked = await look(workers, caller, body, { kind: 'cart-owner' });
  if (isReply(looked)) return looked;
  // The worker made this JSON itself, as it did below.
  const told: { readonly merchantId: string | null } | Malformed = JSON.parse(looked.text);
  if ('malformed' in told) return caller.problem(400, told.malformed);
  return { merchantId: told.merchantId, bytes: looked.bytes };
}

/** What is known of a body that is relayed, with the bytes that are sent. */
export interface LookedAt {
  readonly look: RelayLook | Malformed;
  readonly bytes: Uint8Array;
}

/** Looks at a body that is relayed. */
export async function lookAtLarge(
  workers: BodyWorkers, caller: MerchantCaller, body: Uint8Array, name: EndpointName,
): Promise<LookedAt | Reply> {
  const looked = await look(workers, caller, body, { kind: 'relayed', operation: name });
  if (isReply(looked)) return looked;
  const { text, bytes } = looked;
  return { look: JSON.parse(text), bytes };
}

/** Reads the body of nexus/create. */
export async function readLargeNexus(
  workers: BodyWorkers, caller: MerchantCaller, body: Uint8Array,
): Promise<NexusCreateBody | BodyProblem | Reply> {
  const looked = await look(workers, caller, body, { kind: 'nexus' });
  if (isReply(looked)) return looked;
  const told: { readonly parsed: NexusCreateBody | BodyProblem } | Malformed =
    JSON.parse(looked.text);
  return 'malformed' in told ? caller.problem(400, told.malformed) : told.parsed;
}
