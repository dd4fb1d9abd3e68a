/**
 * Merchants in the store (the layout of the rest is in format.ts). Every key begins with the
 * account, so that no scan and no id leads from one account to another's records.
 *
 * key                                          record
 * ["merchant", account, merchant]              MerchantRecord, kept after deletion
 * ["merchant-reference", account, hash]        which live merchant has a reference id
 * ["credentials", account, merchant]           CredentialsRecord
 * ["connection", account, keyed hash]          which merchant has a connection id
 * ["nexus", account, merchant, location]       NexusRecord, kept after deletion
 */
import { createHash } from 'node:crypto';
import type { StoreKey } from './format.js';
import {
  choice,
  flag,
  members,
  number,
  optional,
  recordReader,
  text,
  type MembersRead,
} from './record-reader.js';
import { parseSealed } from './sealed.js';

export const MERCHANT_PREFIX = 'merchant';
const REFERENCE_PREFIX = 'merchant-reference';
export const CREDENTIALS_PREFIX = 'credentials';
const CONNECTION_PREFIX = 'connection';
export const NEXUS_PREFIX = 'nexus';

/** Key of a merchant. */
export function merchantKey(account: string, merchantId: string): StoreKey {
  return [MERCHANT_PREFIX, account, merchantId];
}

/** Key of a caller's own identifier, hashed because it may be long and contain anything. */
export function referenceKey(account: string, referenceId: string): StoreKey {
  const hash = createHash('sha256').update(referenceId, 'utf8').digest('hex');
  return [REFERENCE_PREFIX, account, hash];
}

/** Key of a merchant's credentials. */
export function credentialsKey(account: string, merchantId: string): StoreKey {
  return [CREDENTIALS_PREFIX, account, merchantId];
}

/** Key of a connection by the keyed hash of its id. */
export function connectionKey(account: string, index: string): StoreKey {
  return [CONNECTION_PREFIX, account, index];
}

/** Key of a nexus location. */
export function nexusKey(account: string, merchantId: string, locationId: string): StoreKey {
  return [NEXUS_PREFIX, account, merchantId, locationId];
}

const MERCHANT_TYPES = ['provider', 'self-managed'] as const;
/** Who files and remits: the compliance provider, or the merchant itself. */
export type MerchantType = (typeof MERCHANT_TYPES)[number];

const CONTACTS = {
  first: optional(text),
  last: optional(text),
  /** The address that invitations are sent to. */
  email: optional(text),
};

export type Contacts = MembersRead<typeof CONTACTS>;

export type MerchantRecord = ReturnType<typeof parseMerchant>;

export const parseMerchant = recordReader('merchant', 1, {
  /** UUID in lower case. */
  merchantId: text,
  account: text,
  name: text,
  contacts: members(CONTACTS),
  /** The caller's own identifier, which only one live merchant of an account has. */
  referenceId: optional(text),
  type: choice(MERCHANT_TYPES),
  /** Set if credentials were removed since the merchant became one of the provider's. */
  connectedBefore: flag,
  /**
   * Id of the mail of the last switch to the provider, empty where none was asked for; other mails
   * are not sent any more. Absent where it never was switched, and in older records.
   */
  invitation: optional(text),
  /** Milliseconds since 1970, as are the other times of the record. */
  createdAt: number,
  updatedAt: number,
  deletedAt: optional(number),
});

/**
 * The record, with its reference id and invitation if there is one. Written as one literal each,
 * because spreading objects makes shapes that other code is not optimized for; few have an
 * invitation.
 */
export function recordOf(
  {
    v,
    merchantId,
    account,
    name,
    contacts,
    type,
    connectedBefore,
    createdAt,
    updatedAt,
  }: Omit<MerchantRecord, 'referenceId' | 'invitation' | 'deletedAt'>,
  referenceId: string | undefined,
  invitation?: string,
): MerchantRecord {
  const record =
    referenceId === undefined
      ? { v, merchantId, account, name, contacts, type, connectedBefore, createdAt, updatedAt }
      : {
          v,
          merchantId,
          account,
          name,
          contacts,
          referenceId,
          type,
          connectedBefore,
          createdAt,
          updatedAt,
        };
  return invitation === undefined ? record : { ...record, invitation };
}

/** Sealed credentials of a merchant. */
export type CredentialsRecord = ReturnType<typeof parseCredentials>;

export const parseCredentials = recordReader('credentials', 1, {
  /** Keyed hash of the connection id, which is its key in the index of connections. */
  connection: text,
  updatedAt: number,
  apiKey: parseSealed,
  connectionId: parseSealed,
});

const readOwner = recordReader('index', 1, { merchantId: text });

/** An entry of an index, which names a merchant. */
export type OwnerRecord = ReturnType<typeof readOwner>;

/**
 * The merchant of an index entry; null when there is none.
 * @throws Error when the record has another shape.
 */
export function parseOwner(value: unknown): string | null {
  return value === undefined ? null : readOwner(value).merchantId;
}
