/** All routes of merchants: records, credentials and nexus. */
import { randomUUID } from 'node:crypto';
import type { Gate } from '../../http/gate.js';
import type { MerchantCaller, MerchantUsage } from '../../http/merchant-route.js';
import type { Reply } from '../../http/reply.js';
import type { Route } from '../../http/router.js';
import { type Log, messageOf } from '../../log.js';
import { credentialsOf, deleteCredentials, setCredentials } from '../../store/credentials.js';
import { IdempotencyBook, SWEEP_MS } from '../../store/idempotency.js';
import { sweepRetired } from '../../store/retired.js';
import type { Store, StoreTransaction } from '../../store/store.js';
import type { Vault } from '../../store/vault.js';
import { merchantRoutes } from './handler.js';
import { resultOf } from './checked-body.js';
import type { BodyWorkers } from './relay-answer.js';
import {
  CREDENTIALS_SET,
  type CredentialsBody,
  MERCHANT_ID,
  parseCredentialsBody,
  parseMerchantBody,
} from './merchant-shape.js';
import { nexusRoutes, type NexusServices } from './nexus-handler.js';
import { type GeocodingUsage, type Locator, startTimer, type StartTimer } from './nexus-locator.js';
import {
  addEvent,
  audit,
  type Change,
  type HandlerServices,
  isReply,
  noCredentials,
  ownMerchant,
  readRoute,
  vouchForNone,
  writeRoute,
} from './services.js';

const CREDENTIALS_EVENT = 'merchant.credentials.set';

/** Answers with secrets must not be stored by anyone. */
const NO_STORE = { 'Cache-Control': 'no-store' };

function set(
  services: HandlerServices,
  caller: MerchantCaller,
  transaction: StoreTransaction,
  body: CredentialsBody,
): Change | Reply {
  const merchant = ownMerchant(caller, transaction, body.merchantId);
  if (isReply(merchant)) return merchant;
  if (merchant.type === 'self-managed') {
    return caller.problem(403, 'A self-managed merchant has no credentials.');
  }
  const now = services.now();
  const { merchantId, connectionId } = body;
  if (!setCredentials(transaction, services.vault, merchant, body, now)) {
    return caller.problem(409, 'Another merchant has this connection.', [
      {
        location: 'body.connectionId',
        message: 'expected a connection that no other merchant of the account has',
      },
    ]);
  }
  const { account, referenceId } = merchant;
  const data = { merchantId, connectionId, ...(referenceId === undefined ? {} : { referenceId }) };
  addEvent(transaction, services.vault, { account, type: CREDENTIALS_EVENT, data, now });
  const members = resultOf(merchantId, 'merchant credentials set successfully');
  return { merchantId, reply: caller.json(200, members) };
}

async function get(
  services: HandlerServices,
  caller: MerchantCaller,
  merchantId: string,
): Promise<Reply> {
  const merchant = ownMerchant(caller, services.store, merchantId);
  if (isReply(merchant)) return merchant;
  const found = credentialsOf(services.store, services.vault, caller.account, merchantId);
  if (found === null) {
    vouchForNone(services.store);
    return noCredentials(caller);
  }
  const { apiKey, connectionId } = found;
  // Written to the audit log before the answer, since no reading of secrets may go unrecorded.
  await services.store.write(
    (transaction) => {
      audit(transaction, caller, 'credentials.get', { merchantId }, services.now());
    },
    { quiet: true },
  );
  return caller.json(200, { apiKey, connectionId }, NO_STORE);
}

/** The routes of credentials. */
function credentialsRoutes(services: HandlerServices): readonly Route[] {
  return [
    writeRoute(
      services,
      {
        path: '/merchant/credentials/set',
        needs: 'provider',
        shape: CREDENTIALS_SET,
        parse: parseCredentialsBody,
        action: 'credentials.set',
        tells: () => true,
      },
      (caller, transaction, body) => set(services, caller, transaction, body),
    ),
    readRoute(
      services,
      {
        path: '/merchant/credentials/get',
        needs: 'merchants',
        shape: MERCHANT_ID,
        parse: parseMerchantBody,
      },
      (caller, { merchantId }) => get(services, caller, merchantId),
    ),
    writeRoute(
      services,
      {
        path: '/merchant/credentials/delete',
        needs: 'provider',
        shape: MERCHANT_ID,
        parse: parseMerchantBody,
        action: 'credentials.delete',
      },
      (caller, transaction, { merchantId }) => {
        const merchant = ownMerchant(caller, transaction, merchantId);
        if (isReply(merchant)) return merchant;
        const deleted = deleteCredentials(transaction, merchant, services.now());
        if (!deleted) return noCredentials(caller);
        const members = resultOf(merchantId, 'merchant credentials deleted successfully');
        return { merchantId, reply: caller.json(200, members) };
      },
    ),
  ];
}

interface MerchantOptions {
  readonly store: Store;
  readonly vault: Vault;
  readonly log: Log;
  readonly gate: Gate;
  readonly usage: MerchantUsage & GeocodingUsage;
  readonly locator: Locator;
  readonly bodyWorkers: BodyWorkers;
  /** Whether a mail server is set, so that invitations can be sent. */
  readonly sendsMails: boolean;
  /** Id of this server among those that share the store; left out where it is the only one. */
  readonly node?: string;
  /** The clock that tells the age of kept answers and deleted records. */
  readonly age: () => number;
  /** Clock and timer, which tests replace. */
  readonly now?: () => number;
  readonly timer?: StartTimer;
}

export interface MerchantParts {
  readonly routes: readonly Route[];
  /** The services of all merchant routes, for other routes behind the gate. */
  readonly services: NexusServices;
  /**
   * Removes what was deleted long ago from accounts that need the room, as a timer also does.
   * Returns how many records were removed.
   */
  sweep(bytesKept?: number): Promise<number>;
  close(): Promise<void>;
}

/** Makes the routes of merchants. Close them before the store. */
export function openMerchants(options: MerchantOptions): MerchantParts {
  const { store, vault, log, gate, usage, locator } = options;
  const { now = Date.now, timer = startTimer } = options;
  const idempotency = new IdempotencyBook(store, {
    vault,
    node: options.node ?? '',
    now: options.age,
    failed: (error) => log.error('kept answers not swept', { message: messageOf(error) }),
  });
  const sweep = (bytesKept?: number): Promise<number> =>
    sweepRetired(store, options.age(), bytesKept);
  const sweeping = setInterval(() => {
    sweep().catch((error: unknown) => {
      log.error('deleted merchants not swept', { message: messageOf(error) });
    });
  }, SWEEP_MS).unref();
  const services: NexusServices = {
    store,
    vault,
    log,
    gate,
    usage,
    geocoding: usage,
    idempotency,
    locator,
    now,
    age: options.age,
    timer,
    newId: randomUUID,
    bodyWorkers: options.bodyWorkers,
    sendsMails: options.sendsMails,
  };
  return {
    services,
    sweep,
    routes: [...merchantRoutes(services), ...credentialsRoutes(services), ...nexusRoutes(services)],
    close: async () => {
      clearInterval(sweeping);
      await idempotency.close();
    },
  };
}
