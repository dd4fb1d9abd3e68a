/** Merchants: create, update, delete, get and list (specification, merchants). */
import { countInvitation } from '../../store/invited.js';
import {
  createMerchant,
  deleteMerchant,
  findMerchant,
  hasCredentials,
  type MerchantRecord,
  type ReadyMerchant,
  readyMerchant,
  statusOf,
  updateMerchant,
} from '../../store/merchants.js';
import { PLAN_FEATURES } from '../../store/plan.js';
import type { StoreTransaction } from '../../store/store.js';
import { merchantListRoute } from './merchant-list.js';
import {
  MERCHANT_CREATE,
  MERCHANT_ID,
  MERCHANT_UPDATE,
  parseCreate,
  parseMerchantBody,
  parseUpdate,
  type CreateBody,
  type UpdateBody,
} from './merchant-shape.js';
import { merchantMembers, resultOf } from './checked-body.js';
import type { WireObject } from '../../wire/tree.js';
import type { MerchantCaller } from '../../http/merchant-route.js';
import type { Reply } from '../../http/reply.js';
import type { Route } from '../../http/router.js';
import {
  addInvitation,
  newInvitationId,
  type Change,
  type HandlerServices,
  isReply,
  ownMerchant,
  preparedRoute,
  readRoute,
  vouchForNone,
  writeRoute,
} from './services.js';

/**
 * Refuses a merchant of the provider type, created or switched to, where the plan does not include
 * it.
 */
function needsEnterprise(caller: MerchantCaller): Reply | null {
  return PLAN_FEATURES[caller.key.plan].provider
    ? null
    : caller.problem(403, 'Merchants of the provider type need the Enterprise plan.');
}

function noAddress(caller: MerchantCaller, location: string): Reply {
  return caller.problem(400, 'An invitation needs a contactEmail.', [
    { location, message: 'expected an e-mail address where an invitation is sent' },
  ]);
}

function referenceTaken(caller: MerchantCaller, location: string, value?: string): Reply {
  const message = 'expected a referenceId that no other merchant of the account has';
  return caller.problem(409, 'Another merchant has this referenceId.', [
    { location, message, ...(value === undefined ? {} : { value }) },
  ]);
}

/**
 * Puts the invitation of a merchant that has an e-mail address into the outbox.
 * @throws LimitReached when enough were sent on this day.
 */
function invite(
  transaction: StoreTransaction,
  merchant: MerchantRecord,
  now: number,
  id?: string,
): void {
  const {
    account,
    merchantId,
    name,
    contacts: { first, last, email },
  } = merchant;
  if (email === undefined) throw new Error('an invitation without an address');
  countInvitation(transaction, account, email, now);
  addInvitation(transaction, {
    id,
    account,
    merchantId,
    merchantName: name,
    email,
    now,
    ...(first === undefined ? {} : { contactFirst: first }),
    ...(last === undefined ? {} : { contactLast: last }),
  });
}

/**
 * The answer to a change. It says so where an invitation has to wait, since no mail server is set.
 */
function told(
  { sendsMails, log }: HandlerServices,
  merchantId: string,
  done: string,
  invited: boolean,
): WireObject {
  if (!invited || sendsMails) return resultOf(merchantId, done);
  log.warn('an invitation waits for SITUS_SMTP_URL', { merchant: merchantId });
  return resultOf(merchantId, `${done}; the invitation waits until this service can send mails`);
}

/** A merchant that is ready to be stored, and its answer. Both are made before the transaction. */
interface Ready {
  readonly merchant: ReadyMerchant;
  /** Null where the answer depends on an invitation, which needs the transaction. */
  readonly reply: Reply | null;
}

function createdReply(
  services: HandlerServices,
  caller: MerchantCaller,
  merchantId: string,
  invited: boolean,
): Reply {
  return caller.json(201, told(services, merchantId, 'merchant created successfully', invited));
}

/** Makes a merchant of a body before the transaction begins, or refuses the body. */
function readyToCreate(
  services: HandlerServices,
  caller: MerchantCaller,
  body: CreateBody,
): Ready | Reply {
  const refused = body.type === 'provider' ? needsEnterprise(caller) : null;
  if (refused !== null) return refused;
  if (body.invite && body.contacts.email === undefined) {
    return noAddress(caller, 'body.contactEmail');
  }
  const now = services.now();
  const { name, contacts, referenceId, type, invite: wanted } = body;
  const [merchantId, { account }] = [services.newId(), caller];
  const merchant = readyMerchant(
    referenceId === undefined
      ? { name, contacts, type, merchantId, account, now }
      : { name, contacts, referenceId, type, merchantId, account, now },
  );
  return { merchant, reply: wanted ? null : createdReply(services, caller, merchantId, false) };
}

function create(
  services: HandlerServices,
  caller: MerchantCaller,
  transaction: StoreTransaction,
  ready: Ready,
): Change | Reply {
  const merchant = createMerchant(transaction, ready.merchant);
  if (merchant === 'reference-taken') {
    return referenceTaken(caller, 'body.referenceId', ready.merchant.record.referenceId);
  }
  const { merchantId, createdAt } = merchant;
  if (ready.reply !== null) return { merchantId, reply: ready.reply };
  invite(transaction, merchant, createdAt);
  return { merchantId, reply: createdReply(services, caller, merchantId, true) };
}

function update(
  services: HandlerServices,
  caller: MerchantCaller,
  transaction: StoreTransaction,
  body: UpdateBody,
): Change | Reply {
  const before = ownMerchant(caller, transaction, body.merchantId);
  if (isReply(before)) return before;
  const { block, type } = body;
  const connects = type === 'provider' && before.type !== 'provider';
  const refused = connects ? needsEnterprise(caller) : null;
  if (refused !== null) return refused;
  const invited = connects && body.invite;
  const invitation = invited ? newInvitationId() : undefined;
  const { email } = (block ?? before).contacts;
  if (invited && email === undefined) {
    return noAddress(caller, block === undefined ? 'body.update' : 'body.update.contactEmail');
  }
  const now = services.now();
  const merchant = updateMerchant(transaction, before, { now, block, type, invitation });
  if (merchant === 'reference-taken') {
    return referenceTaken(caller, 'body.update.referenceId', block?.referenceId);
  }
  if (invitation !== undefined) invite(transaction, merchant, now, invitation);
  const { merchantId } = merchant;
  const members = told(services, merchantId, 'merchant updated successfully', invited);
  return { merchantId, reply: caller.json(200, members) };
}

function remove(
  services: HandlerServices,
  caller: MerchantCaller,
  transaction: StoreTransaction,
  merchantId: string,
): Change | Reply {
  const merchant = ownMerchant(caller, transaction, merchantId);
  if (isReply(merchant)) return merchant;
  deleteMerchant(transaction, merchant, services.now(), services.age());
  const members = resultOf(merchantId, 'merchant deleted successfully');
  return { merchantId, reply: caller.json(200, members) };
}

function membersOf(services: HandlerServices, merchant: MerchantRecord): WireObject {
  return merchantMembers(merchant, statusOf(merchant, hasCredentials(services.store, merchant)));
}

/** The routes of merchants themselves. */
export function merchantRoutes(services: HandlerServices): readonly Route[] {
  const needs = 'merchants';
  return [
    preparedRoute(
      services,
      {
        path: '/merchant/create',
        needs,
        shape: MERCHANT_CREATE,
        parse: parseCreate,
        action: 'merchant.create',
        tells: ({ invite }) => invite,
      },
      (caller, body) => readyToCreate(services, caller, body),
      (caller, transaction, ready) => create(services, caller, transaction, ready),
    ),
    writeRoute(
      services,
      {
        path: '/merchant/update',
        needs,
        shape: MERCHANT_UPDATE,
        parse: parseUpdate,
        action: 'merchant.update',
        tells: ({ type, invite }) => type === 'provider' && invite,
      },
      (caller, transaction, body) => update(services, caller, transaction, body),
    ),
    writeRoute(
      services,
      {
        path: '/merchant/delete',
        needs,
        shape: MERCHANT_ID,
        parse: parseMerchantBody,
        action: 'merchant.delete',
      },
      (caller, transaction, { merchantId }) => remove(services, caller, transaction, merchantId),
    ),
    readRoute(
      services,
      {
        path: '/merchant/get',
        needs,
        shape: MERCHANT_ID,
        parse: parseMerchantBody,
      },
      (caller, { merchantId }) => {
        const merchant = findMerchant(services.store, caller.account, merchantId);
        if (merchant !== null) return caller.json(200, membersOf(services, merchant));
        vouchForNone(services.store);
        return caller.problem(404, 'The account has no such merchant.');
      },
    ),
    merchantListRoute(services),
  ];
}
