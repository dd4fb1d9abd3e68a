/** What the handlers of merchants share: services, reading of bodies, access to own merchants. */
import { bodyBytesMax } from '../../base/body-size.js';
import type { Shape } from '../../base/shape.js';
import { addAudit, keyActor, type AuditAction } from '../../store/audit.js';
import { addEvent, addInvitation, newInvitationId } from '../../store/outbox.js';
import type { CredentialsVault } from '../../store/credentials.js';
import { findMerchant, type MerchantRecord } from '../../store/merchants.js';
import { Store, type StoreTransaction } from '../../store/store.js';
import { isProblem, type Problem } from '../../base/problem.js';
import { PARSED_BYTES_MAX, readJsonObject } from '../../http/json-body.js';
import type { BodyWorkers } from './relay-answer.js';
import {
  merchantRoute,
  type MerchantCaller,
  type MerchantServices,
  type MerchantOperation,
} from '../../http/merchant-route.js';
import { isReply, type Reply, type Request } from '../../http/reply.js';
import type { Route } from '../../http/router.js';

export interface HandlerServices extends MerchantServices {
  readonly store: Store;
  readonly vault: CredentialsVault;
  /** Workers that read bodies that are too long for the main thread. */
  readonly bodyWorkers: BodyWorkers;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Time of the service's own clock, which changes of the machine's clock do not affect. */
  readonly age: () => number;
  /** A new UUID. */
  readonly newId: () => string;
  /** Whether a mail server is set; without one, invitations wait. */
  readonly sendsMails: boolean;
}

/** These write to the outbox, in the transaction of the change that the message is about. */
export { addEvent, addInvitation, newInvitationId };

export { isReply };

/** Reads the body of a request; returns the refusal where it is wrong. */
export function readBodyOf<T extends object>(
  caller: MerchantCaller,
  request: Request,
  parse: (input: unknown) => T | Problem,
): T | Reply {
  const read = readJsonObject(request.body);
  const parsed = isProblem(read) ? read : parse(read.object);
  return isProblem(parsed) ? caller.refuse(parsed) : parsed;
}

/** The refusal for a merchant without credentials. */
export function noCredentials(caller: MerchantCaller): Reply {
  return caller.problem(404, 'No credentials are stored for this merchant.');
}

/**
 * Where records are read: from the store, or in a write transaction, which always sees the newest.
 */
export type Reader = Store | Pick<StoreTransaction, 'get'>;

/**
 * Call this before telling a caller that something does not exist.
 * @throws StoreFault where this server's store may not have it yet.
 */
export function vouchForNone(reader: Reader): void {
  if (reader instanceof Store) reader.vouchForNone();
}

/** The caller's merchant, or the refusal where there is none. @throws StoreFault */
export function ownMerchant(
  caller: MerchantCaller,
  reader: Reader,
  merchantId: string,
): MerchantRecord | Reply {
  const found = findMerchant(reader, caller.account, merchantId);
  if (found !== null) return found;
  vouchForNone(reader);
  // The answer is the same for unknown, foreign and deleted merchants, so that it does not tell
  // which ids exist.
  return caller.problem(403, 'The account has no such merchant.');
}

interface ReadOperation<T> {
  readonly path: string;
  readonly needs: MerchantOperation['needs'];
  /** Shape of the body that `parse` reads. */
  readonly shape: Shape<unknown>;
  readonly parse: (input: unknown) => T | Problem;
}

interface WriteOperation<T> extends ReadOperation<T> {
  readonly action: AuditAction;
  /** Whether a body leads to something that is sent, whose sender has to be woken. */
  readonly tells?: (body: T) => boolean;
}

/** The merchant, or its location, that an operation is about. */
interface Named {
  readonly merchantId: string;
  readonly locationId?: string;
}

/** Writes to the audit log what a caller did to a merchant, its credentials or its nexus. */
export function audit(
  transaction: StoreTransaction,
  { key, account }: MerchantCaller,
  action: AuditAction,
  { merchantId, locationId }: Named,
  now: number,
): void {
  const object = locationId === undefined ? merchantId : `${merchantId}/${locationId}`;
  addAudit(transaction, { actor: keyActor(key), account, action, object }, now);
}

/** A change that was made: its answer, and what was changed. */
export interface Change extends Named {
  readonly reply: Reply;
}

/** A route with a body. Operations that write count as requests of merchants. */
function bodyRoute<T extends object>(
  services: HandlerServices,
  { path, needs, shape, parse }: ReadOperation<T>,
  writes: boolean,
  answer: (caller: MerchantCaller, body: T) => Reply | Promise<Reply>,
): Route {
  return merchantRoute(
    services,
    {
      method: 'POST',
      path,
      bodyBytesMax: bodyBytesMax(shape, PARSED_BYTES_MAX),
      needs,
      metered: writes,
      writes,
    },
    (caller, request) => {
      const body = readBodyOf(caller, request, parse);
      return isReply(body) ? body : answer(caller, body);
    },
  );
}

/** Carries out an operation in a transaction, from a body or what was prepared from it. */
type Write<T> = (caller: MerchantCaller, transaction: StoreTransaction, of: T) => Change | Reply;

/**
 * A route that changes something in one transaction. `write` runs inside it and returns the answer,
 * which is kept for the Idempotency-Key when it is a success. A refusal must not have written
 * anything.
 */
export function writeRoute<T extends object>(
  services: HandlerServices,
  operation: WriteOperation<T>,
  write: Write<T>,
): Route {
  return preparedRoute(services, operation, (_, body) => body, write);
}

/**
 * Like `writeRoute`, but `write` gets what `prepare` makes of the body. Since other writes wait for
 * the transaction to end, this is made before it; where it is a refusal, there is no transaction.
 */
export function preparedRoute<T extends object, R extends object>(
  services: HandlerServices,
  operation: WriteOperation<T>,
  prepare: (caller: MerchantCaller, body: T) => R | Reply,
  write: Write<R>,
): Route {
  const { action, tells = () => false } = operation;
  return bodyRoute(services, operation, true, (caller, body) => {
    const prepared = prepare(caller, body);
    if (isReply(prepared)) return prepared;
    return services.store.write(
      (transaction) => {
        const done = write(caller, transaction, prepared);
        if (isReply(done)) return done;
        caller.keep(transaction, done.reply);
        audit(transaction, caller, action, done, services.now());
        return done.reply;
      },
      { quiet: !tells(body) },
    );
  });
}

/** A route with a body that changes nothing. */
export function readRoute<T extends object>(
  services: HandlerServices,
  operation: ReadOperation<T>,
  read: (caller: MerchantCaller, body: T) => Reply | Promise<Reply>,
): Route {
  return bodyRoute(services, operation, false, read);
}
