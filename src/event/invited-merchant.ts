/**
 * What a mail that waited is to say now: its merchant may have been renamed, given another contact,
 * connected, switched or deleted since it was invited.
 */
import { StoreFault } from '../store/fault.js';
import { countRecipient } from '../store/invited.js';
import { findMerchant, hasCredentials, statusOf } from '../store/merchants.js';
import type { MailRecord } from '../store/outbox-record.js';
import { readdress } from '../store/outbox.js';
import type { Store, StoreTransaction } from '../store/store.js';
import { LimitReached } from '../store/transaction.js';
import { codeOf, failed, type Outcome } from './attempt.js';

function asOfNow(
  transaction: StoreTransaction,
  record: MailRecord,
  now: number,
): MailRecord | Outcome {
  const merchant = findMerchant(transaction, record.account, record.merchantId);
  if (
    merchant === null ||
    statusOf(merchant, hasCredentials(transaction, merchant)) !== 'provider_invited'
  ) {
    return { result: 'dropped' };
  }
  const {
    name: merchantName,
    contacts: { first: contactFirst = null, last: contactLast = null, email },
  } = merchant;
  if (email === undefined) {
    return failed('the merchant has no address any more', { result: 'refused' });
  }
  const current = { ...record, merchantName, contactFirst, contactLast, email };
  if (email !== record.email) {
    // Kept, so that the new address is counted once and not with each attempt.
    countRecipient(transaction, email, now);
    readdress(transaction, record, current);
  }
  return current;
}

/**
 * The mail with the merchant's names and address of this moment, or what came of it where it is not
 * to be sent: dropped when the merchant is no longer one that is invited. Read in a transaction,
 * which sees what other servers on the store have written. Never rejects.
 * @param now milliseconds since 1970
 */
export async function currentMail(
  store: Store,
  record: MailRecord,
  now: number,
): Promise<MailRecord | Outcome> {
  try {
    return await store.write((transaction) => asOfNow(transaction, record, now), { quiet: true });
  } catch (error) {
    if (error instanceof LimitReached) return failed('its address had all invitations of a day');
    // A merchant that cannot be read may still be invited.
    return failed(
      error instanceof StoreFault ? codeOf(error) : 'its merchant cannot be read: it is damaged',
    );
  }
}
