/** A merchant's credentials with the compliance provider: set, get and delete. */
import { credentialsOf, deleteCredentials, setCredentials } from '../../store/credentials.js';
import type { StoreTransaction } from '../../store/store.js';
import {
  CREDENTIALS_SET, MERCHANT_ID, parseCredentialsBody, parseMerchantBody, type CredentialsBody,
} from './merchant-shape.js';
import { resultOf } from './merchant-answer.js';
import type { MerchantCaller } from '../../http/merchant-route.js';
import type { Reply } from '../../http/reply.js';
import type { Route } from '../../http/router.js';
import {
  addEvent, audit, isReply, ownMerchant, readRoute, writeRoute, type HandlerServices,
} from './services.js';

const CREDENTIALS_EVENT = 'merchant.credentials.set';

/** Answers with secrets in them are for nobody to keep. */
const NO_STORE = { 'Cache-Control': 'no-store' };

function noCredentials(caller: MerchantCaller): Reply {
  return caller.problem(404, 'No credentials are stored for this merchant.');
}

function set(
  services: HandlerServices, caller: MerchantCaller, transaction: StoreTransaction,
  body: CredentialsBody,
): Reply {
  const merchant = ownMerchant(caller, transaction, body.merchantId);
  if (isReply(merchant)) return merchant;
  if (merchant.type === 'self-managed') {
    return caller.problem(403, 'A self-managed merchant has no credentials.');
  }
  const now = services.now();
  const { merchantId, connectionId } = body;
  if (!setCredentials(transaction, services.vault, merchant, body, now)) {
    return caller.problem(409, 'Another merchant has this connection.', [{
      location: 'body.connectionId',
      message: 'expected a connection that no other merchant of the account has',
    }]);
  }
  const { account, referenceId } = merchant;
  const data = { merchantId, connectionId, ...(referenceId === undefined ? {} : { referenceId }) };
  addEvent(transaction, services.vault, { account, type: CREDENTIALS_EVENT, data, now });
  return caller.json(200, resultOf(merchantId, 'merchant credentials set successfully'));
}

/** The routes of credentials. */
export function credentialsRoutes(services: HandlerServices): readonly Route[] {
  return [
    writeRoute(
      services, {
        path: '/merchant/credentials/set', needs: 'provider',
        shape: CREDENTIALS_SET, parse: parseCredentialsBody,
        action: 'credentials.set', tells: () => true,
      },
      (caller, transaction, body) => set(services, caller, transaction, body),
    ),
    readRoute(
      services, {
        path: '/merchant/credentials/get', needs: 'merchants',
        shape: MERCHANT_ID, parse: parseMerchantBody,
      },
      async (caller, { merchantId }) => {
        const merchant = ownMerchant(caller, services.store, merchantId);
        if (isReply(merchant)) return merchant;
        const found = credentialsOf(services.store, services.vault, caller.account, merchantId);
        if (found === null) return noCredentials(caller);
        const { apiKey, connectionId } = found;
        // Before the answer: a reading that is not written down would be worse than none.
        await services.store.write((transaction) => {
          audit(transaction, caller, 'credentials.get', { merchantId }, services.now());
        }, { quiet: true });
        return caller.json(200, { apiKey, connectionId }, NO_STORE);
      },
    ),
    writeRoute(
      services, {
        path: '/merchant/credentials/delete', needs: 'provider',
        shape: MERCHANT_ID, parse: parseMerchantBody,
        action: 'credentials.delete',
      },
      (caller, transaction, { merchantId }) => {
        const merchant = ownMerchant(caller, transaction, merchantId);
        if (isReply(merchant)) return merchant;
        return deleteCredentials(transaction, merchant, services.now())
          ? caller.json(200, resultOf(merchantId, 'merchant credentials deleted successfully'))
          : noCredentials(caller);
      },
    ),
  ];
}
