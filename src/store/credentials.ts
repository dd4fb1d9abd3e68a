/**
 * A merchant's credentials with the compliance provider. Both members are sealed before they are
 * stored. A keyed hash ensures that no two merchants of an account share a connection, so that none
 * has to be opened for that.
 */
import {
  connectionKey,
  credentialsKey,
  merchantKey,
  parseCredentials,
  parseOwner,
  type CredentialsRecord,
  type MerchantRecord,
  type OwnerRecord,
} from './merchant-format.js';
import type { Sealed, SealPlace } from './sealed.js';
import type { StoreReader } from './merchants.js';
import { putShared, removeShared } from './share.js';
import type { StoreTransaction } from './store.js';

/** The part of the vault that is used here. */
export interface CredentialsVault {
  seal(text: string, place: SealPlace): Sealed;
  open(sealed: Sealed, place: SealPlace): string;
  /** A keyed hash of a secret. */
  index(text: string, account: string): string;
}

export interface Credentials {
  /** Key of the provider's API. */
  readonly apiKey: string;
  readonly connectionId: string;
}

function placeOf(account: string, merchant: string, field: keyof Credentials): SealPlace {
  return { account, merchant, field };
}

/**
 * Opens the credentials of a merchant; null when none are stored.
 * @throws Error when they were altered or moved, or their key is not available.
 */
export function credentialsOf(
  store: StoreReader,
  vault: Pick<CredentialsVault, 'open'>,
  account: string,
  merchantId: string,
): Credentials | null {
  const found = store.get(credentialsKey(account, merchantId));
  if (found === undefined) return null;
  const { apiKey, connectionId } = parseCredentials(found);
  return {
    apiKey: vault.open(apiKey, placeOf(account, merchantId, 'apiKey')),
    connectionId: vault.open(connectionId, placeOf(account, merchantId, 'connectionId')),
  };
}

/** Stores credentials; false when another merchant of the account has the connection. */
export function setCredentials(
  transaction: StoreTransaction,
  vault: CredentialsVault,
  merchant: MerchantRecord,
  { apiKey, connectionId }: Credentials,
  now: number,
): boolean {
  const { account, merchantId } = merchant;
  const connection = vault.index(connectionId, account);
  const owner = parseOwner(transaction.get(connectionKey(account, connection)));
  if (owner !== null && owner !== merchantId) return false;
  forgetCredentials(transaction, account, merchantId);
  const record: CredentialsRecord = {
    v: 1,
    apiKey: vault.seal(apiKey, placeOf(account, merchantId, 'apiKey')),
    connectionId: vault.seal(connectionId, placeOf(account, merchantId, 'connectionId')),
    connection,
    updatedAt: now,
  };
  putShared(transaction, account, credentialsKey(account, merchantId), record, undefined);
  const own: OwnerRecord = { v: 1, merchantId };
  transaction.put(connectionKey(account, connection), own);
  return true;
}

/**
 * Removes credentials on request, and records that the merchant was connected. False when it has
 * none.
 */
export function deleteCredentials(
  transaction: StoreTransaction,
  merchant: MerchantRecord,
  now: number,
): boolean {
  const { account, merchantId } = merchant;
  if (!forgetCredentials(transaction, account, merchantId)) return false;
  const record: MerchantRecord = { ...merchant, connectedBefore: true, updatedAt: now };
  putShared(transaction, account, merchantKey(account, merchantId), record, merchant);
  return true;
}

/** Removes everything stored of a merchant's credentials; false when there was nothing. */
export function forgetCredentials(
  transaction: StoreTransaction,
  account: string,
  merchantId: string,
): boolean {
  const key = credentialsKey(account, merchantId);
  const found = transaction.get(key);
  if (found === undefined) return false;
  transaction.remove(connectionKey(account, parseCredentials(found).connection));
  removeShared(transaction, account, key, found);
  return true;
}
