/** What the handlers of merchants share: services, reading of bodies, ownership. */
import { bodyBytesMax } from '../../base/body-size.js';
import type { Shape } from '../../base/shape.js';
import { addAudit, keyActor, type AuditAction } from '../../store/audit.js';
import { addEvent, addInvitation } from '../../store/outbox.js';
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
  /** Looks at bodies that are too long for the main thread. */
  readonly bodyWorkers: BodyWorkers;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Time of the service's own clock, which no setting of the machine's moves. */
  readonly age: () => number;
  /** A new UUID. */
  readonly newId: () => string;
  /** Whether a mail server is set; without one invitations wait. */
  readonly sendsMails: boolean;
}

/** Both write to the outbox within the transaction of the change they tell of. */
export { addEvent, addInvitation };

export { isReply };

/** Reads the body of a request, or the answer that refuses it. */
export function readBodyOf<T extends object>(
  caller: MerchantCaller,
  request: Request,
  parse: (input: unknown) => T | Problem,
): T | Reply {
  const read = readJsonObject(request.body);
  const parsed = isProblem(read) ? read : parse(read.object);
  return isProblem(parsed) ? caller.refuse(parsed) : parsed;
}

/** The answer for a merchant without credentials. */
export function noCredentials(caller: MerchantCaller): Reply {
  return caller.problem(404, 'No credentials are stored for this merchant.');
}

/** What a thing is looked up in: the store, or a write, which sees the newest there is. */
export type Reader = Store | Pick<StoreTransaction, 'get'>;

/**
 * To be called before a caller is told that there is no such thing.
 * @throws StoreFault where the store at hand may not have it yet.
 */
export function vouchForNone(reader: Reader): void {
  if (reader instanceof Store) reader.vouchForNone();
}

/** The caller's live merchant, or the answer for everything else. @throws StoreFault */
export function ownMerchant(
  caller: MerchantCaller,
  reader: Reader,
  merchantId: string,
): MerchantRecord | Reply {
  const found = findMerchant(reader, caller.account, merchantId);
  if (found !== null) return found;
  vouchForNone(reader);
  // Unknown, foreign and deleted ones are told the same, so that no id gives itself away.
  return caller.problem(403, 'The account has no such merchant.');
}

interface ReadOperation<T> {
  readonly path: string;
  readonly needs: MerchantOperation['needs'];
  /** Of the body that `parse` takes. */
  readonly shape: Shape<unknown>;
  readonly parse: (input: unknown) => T | Problem;
}

interface WriteOperation<T> extends ReadOperation<T> {
  readonly action: AuditAction;
  /** Whether a body leads to something to be sent, whose sender watches the store. */
  readonly tells?: (body: T) => boolean;
}

/** What something was done to: a merchant, or a location of it. */
interface Named {
  readonly merchantId: string;
  readonly locationId?: string;
}

/** Writes down what a caller does to a merchant, its credentials or its nexus. */
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

/** A change that was made: its answer, and what it was done to. */
export interface Change extends Named {
  readonly reply: Reply;
}

/** A route whose body is read; what writes counts as a request. */
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

/** What becomes of a body, or of what was prepared of it, in a transaction. */
type Write<T> = (caller: MerchantCaller, transaction: StoreTransaction, of: T) => Change | Reply;

/**
 * A route whose body is read, and whose change is one transaction: `write` runs inside it and
 * returns the answer, which is kept for the Idempotency-Key when it is a success. A refusal must
 * not have written anything.
 */
export function writeRoute<T extends object>(
  services: HandlerServices,
  operation: WriteOperation<T>,
  write: Write<T>,
): Route {
  return preparedRoute(services, operation, (_, body) => body, write);
}

/**
 * The same, where `write` is given what `prepare` makes of the body, unless that is a refusal. It
 * is made before the transaction, for whose end others wait; a refusal needs none.
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

/** A route that reads a body and changes nothing. */
export function readRoute<T extends object>(
  services: HandlerServices,
  operation: ReadOperation<T>,
  read: (caller: MerchantCaller, body: T) => Reply | Promise<Reply>,
): Route {
  return bodyRoute(services, operation, false, read);
}
