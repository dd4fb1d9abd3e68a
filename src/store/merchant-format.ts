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
import { damaged, present, textOf, upgraded, type RecordFields } from './record.js';
import { parseSealed, type Sealed } from './sealed.js';

export const MERCHANT_PREFIX = 'merchant';
export const REFERENCE_PREFIX = 'merchant-reference';
export const CREDENTIALS_PREFIX = 'credentials';
export const CONNECTION_PREFIX = 'connection';
export const NEXUS_PREFIX = 'nexus';

/** Key of a merchant. */
export function merchantKey(account: string, merchantId: string): StoreKey {
  return [MERCHANT_PREFIX, account, merchantId];
}

/** Key of a caller's own identifier; hashed, because it may hold anything and be long. */
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

export const MERCHANT_TYPES = ['provider', 'self-managed'] as const;
/** Who files and remits: the compliance provider, or the merchant on its own. */
export type MerchantType = (typeof MERCHANT_TYPES)[number];

export interface Contacts {
  readonly first?: string;
  readonly last?: string;
  /** Where invitations go. */
  readonly email?: string;
}

export interface MerchantRecord {
  readonly v: 1;
  /** UUID in lower case. */
  readonly merchantId: string;
  readonly account: string;
  readonly name: string;
  readonly contacts: Contacts;
  /** The caller's own identifier; one live merchant of an account has it. */
  readonly referenceId?: string;
  readonly type: MerchantType;
  /** Credentials were held and taken away since it became a provider merchant. */
  readonly connectedBefore: boolean;
  /** Milliseconds since 1970, as are the two below. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletedAt?: number;
}

export interface CredentialsRecord {
  readonly v: 1;
  readonly apiKey: Sealed;
  readonly connectionId: Sealed;
  /** Keyed hash of the connection id: its key in the index of connections. */
  readonly connection: string;
  readonly updatedAt: number;
}

/** What points from an index to a merchant. */
export interface OwnerRecord {
  readonly v: 1;
  readonly merchantId: string;
}

function isMerchantType(value: unknown): value is MerchantType {
  return value === 'provider' || value === 'self-managed';
}

function contactsOf(value: unknown, kind: string): Contacts {
  if (typeof value !== 'object' || value === null) throw damaged(kind);
  const fields: RecordFields = Object.fromEntries(Object.entries(value));
  return present({
    first: textOf(fields, 'first', kind),
    last: textOf(fields, 'last', kind),
    email: textOf(fields, 'email', kind),
  });
}

/**
 * Reads a merchant.
 * @throws Error when the record has another shape.
 */
export function parseMerchant(value: unknown): MerchantRecord {
  const kind = 'merchant';
  const fields = upgraded(value, kind);
  const { merchantId, account, name, type, connectedBefore, createdAt, updatedAt, deletedAt } =
    fields;
  if (
    typeof merchantId !== 'string' || typeof account !== 'string' || typeof name !== 'string' ||
    !isMerchantType(type) || typeof connectedBefore !== 'boolean' ||
    typeof createdAt !== 'number' || typeof updatedAt !== 'number' ||
    (deletedAt !== undefined && typeof deletedAt !== 'number')
  ) {
    throw damaged(kind);
  }
  return {
    v: 1, merchantId, account, name,
    contacts: contactsOf(fields['contacts'], kind),
    ...present({ referenceId: textOf(fields, 'referenceId', kind) }),
    type, connectedBefore, createdAt, updatedAt,
    ...(deletedAt === undefined ? {} : { deletedAt }),
  };
}

/**
 * Reads credentials, sealed as they are.
 * @throws Error when the record has another shape.
 */
export function parseCredentials(value: unknown): CredentialsRecord {
  const fields = upgraded(value, 'credentials');
  const { connection, updatedAt } = fields;
  if (typeof connection !== 'string' || typeof updatedAt !== 'number') {
    throw damaged('credentials');
  }
  return {
    v: 1,
    apiKey: parseSealed(fields['apiKey']),
    connectionId: parseSealed(fields['connectionId']),
    connection, updatedAt,
  };
}

/**
 * Reads an entry of an index; null when there is none.
 * @throws Error when the record has another shape.
 */
export function parseOwner(value: unknown): string | null {
  if (value === undefined) return null;
  const { merchantId } = upgraded(value, 'index');
  if (typeof merchantId !== 'string') throw damaged('index');
  return merchantId;
}
