/**
 * How many invitations were asked for on a day of UTC: mails go to people who did not ask for them.
 *
 * ["invited", day, "account", account]    InvitedRecord
 * ["invited", day, "recipient", hash]     InvitedRecord; hash of the address in small letters
 */
import { createHash } from 'node:crypto';
import type { StoreKey } from './format.js';
import { LimitReached } from './transaction.js';
import { choice, number, recordReader, text } from './record-reader.js';
import { savedTime } from './service-clock.js';
import { orSetAside } from './set-aside.js';
import type { StoreTransaction } from './store.js';

export const INVITED_PREFIX = 'invited';

/** Most invitations to one address on a day, from all accounts together. */
export const INVITATIONS_RECIPIENT_DAY_MAX = 3;
/** Most invitations of one account on a day. */
export const INVITATIONS_ACCOUNT_DAY_MAX = 500;

/** Most records of earlier days that are removed with each invitation. */
const SWEPT_MAX = 10;

const WHOSE = ['account', 'recipient'] as const;
type Whose = (typeof WHOSE)[number];

const parseInvited = recordReader('invited', 1, {
  /** YYYY-MM-DD. */
  day: text,
  whose: choice(WHOSE),
  id: text,
  count: number,
});

type InvitedRecord = ReturnType<typeof parseInvited>;

function invitedKey({ day, whose, id }: Pick<InvitedRecord, 'day' | 'whose' | 'id'>): StoreKey {
  return [INVITED_PREFIX, day, whose, id];
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

function countOne(
  transaction: StoreTransaction,
  day: string,
  whose: Whose,
  id: string,
  limit: number,
  message: string,
): void {
  const key = invitedKey({ day, whose, id });
  // There is nothing to count again from, so a damaged record is replaced by one that begins at 0.
  const found = orSetAside(transaction, key, () => transaction.get(key)) ?? undefined;
  const count = found === undefined ? 0 : parseInvited(found).count;
  if (count >= limit) throw new LimitReached(message, limit);
  const record: InvitedRecord = { v: 1, day, whose, id, count: count + 1 };
  transaction.put(invitedKey(record), record);
}

/**
 * Counts an invitation for its address only, when a waiting one is sent to a new address.
 * @param now milliseconds since 1970
 * @throws LimitReached when the address has had all of this day.
 */
export function countRecipient(transaction: StoreTransaction, email: string, now: number): void {
  const hash = createHash('sha256').update(email.toLowerCase(), 'utf8').digest('hex');
  countOne(
    transaction,
    dayOf(now),
    'recipient',
    hash,
    INVITATIONS_RECIPIENT_DAY_MAX,
    `An address is sent ${INVITATIONS_RECIPIENT_DAY_MAX} invitations a day. Nothing was done.`,
  );
}

/**
 * Counts an invitation.
 * @param now milliseconds since 1970
 * @throws LimitReached when the account or the address has had all of this day.
 */
export function countInvitation(
  transaction: StoreTransaction,
  account: string,
  email: string,
  now: number,
): void {
  const day = dayOf(now);
  // The earlier of both clocks, because the machine's clock may be set years ahead and back again.
  const first = dayOf(Math.min(now, savedTime(transaction) ?? 0));
  for (const value of transaction.list([INVITED_PREFIX], SWEPT_MAX)) {
    const record = parseInvited(value);
    if (record.day < first) transaction.remove(invitedKey(record));
  }
  countRecipient(transaction, email, now);
  countOne(
    transaction,
    day,
    'account',
    account,
    INVITATIONS_ACCOUNT_DAY_MAX,
    `An account may send ${INVITATIONS_ACCOUNT_DAY_MAX} invitations a day. Nothing was done.`,
  );
}
