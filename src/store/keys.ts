/** API keys: made, listed and changed. The key itself is shown once and never kept. */
import { createHash, randomBytes } from 'node:crypto';
import { KEY_CHARS_MAX, KEY_CHARS_MIN } from '../config.js';
import { addAudit, type Actor, type AuditAction } from './audit.js';
import { apiKeyKey, KEY_PREFIX, parseKeyRecord, type KeyRecord, type Quotas } from './format.js';
import { PLAN_FEATURES, type Plan } from './plan.js';
import { ALL_SCOPES } from './scope.js';
import type { Store, StoreTransaction } from './store.js';

const RANDOM_BYTES = 24;
const PREFIX_CHARS_MAX = 10;
/** A prefix shows at most one part in this many of a key. */
const PREFIX_SHARE = 4;
const NO_KEY_TEXT = `a key has ${KEY_CHARS_MIN} to ${KEY_CHARS_MAX} characters`;
/** Shortest beginning of an id that selects a key. */
const ID_CHARS_MIN = 6;

/** Settings of a key that may differ from its plan. */
export interface KeySettings extends Partial<Quotas> {
  /** The plan's own unless set. */
  readonly rate?: number;
  /** All entitlement bits; the plan's own unless set. */
  readonly grants?: number;
  /** Bits to add to the entitlements. */
  readonly grant?: number;
  /** Bits to take from the entitlements. */
  readonly deny?: number;
  /** Bits of its scopes; all of them unless set. */
  readonly scopes?: number;
}

export interface NewKey extends KeySettings {
  /** The key itself, where the operator chooses it; random if absent. */
  readonly text?: string;
  readonly account?: string;
  readonly plan: Plan;
}

export interface KeyChange extends KeySettings {
  readonly plan?: Plan;
  readonly active?: boolean;
}

interface CreatedKey {
  /** The key itself, which is not available later. */
  readonly text: string;
  readonly record: KeyRecord;
}

/** A random key with 192 bits. */
export function randomKey(): string {
  return `situs_${randomBytes(RANDOM_BYTES).toString('base64url')}`;
}

/** The id that a key is stored under. */
export function keyId(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** Whether a text has the form of a key. */
export function isKeyText(text: string): boolean {
  return text.length >= KEY_CHARS_MIN && text.length <= KEY_CHARS_MAX;
}

/** The settings of a record: those that are asked for, or else those it had or its new plan has. */
function settingsOf(
  settings: KeySettings,
  base: { readonly rate: number; readonly grants: number },
  kept: Quotas & { readonly scopes: number },
): Pick<KeyRecord, 'rate' | 'grants' | 'scopes' | keyof Quotas> {
  const grants = (settings.grants ?? base.grants) | (settings.grant ?? 0);
  return {
    rate: settings.rate ?? base.rate,
    grants: grants & ~(settings.deny ?? 0),
    scopes: settings.scopes ?? kept.scopes,
    coreLimit: settings.coreLimit ?? kept.coreLimit,
    geoLimit: settings.geoLimit ?? kept.geoLimit,
    merchantLimit: settings.merchantLimit ?? kept.merchantLimit,
  };
}

const UNMETERED = { coreLimit: 0, geoLimit: 0, merchantLimit: 0, scopes: ALL_SCOPES };

/** The part of a key that may be shown: its first characters, fewer for a short key. */
export function keyPrefix(text: string): string {
  return text.slice(0, Math.min(PREFIX_CHARS_MAX, Math.floor(text.length / PREFIX_SHARE)));
}

function newRecord(key: NewKey, text: string, now: number): KeyRecord {
  return {
    v: 1,
    id: keyId(text),
    prefix: keyPrefix(text),
    account: key.account ?? 'default',
    plan: key.plan,
    ...settingsOf(key, PLAN_FEATURES[key.plan], UNMETERED),
    active: true,
    createdAt: now,
  };
}

/** Changes of keys are in the operator's list of the audit log, whoever has the key. */
function auditKey(
  transaction: StoreTransaction,
  actor: Actor,
  action: AuditAction,
  id: string,
  now: number,
): void {
  addAudit(transaction, { actor, account: null, action, object: id.slice(0, 12) }, now);
}

/** Makes a key. @throws Error when the text does not have the form of a key, or is one already. */
export async function createKey(
  store: Store,
  key: NewKey,
  now = Date.now(),
  actor: Actor = { kind: 'server' },
): Promise<CreatedKey> {
  const text = key.text ?? randomKey();
  if (!isKeyText(text)) throw new Error(NO_KEY_TEXT);
  const record = newRecord(key, text, now);
  await store.write((transaction) => {
    if (transaction.get(apiKeyKey(record.id)) !== undefined) throw new Error('the key exists');
    putNew(transaction, record, actor);
  });
  return { text, record };
}

function putNew(transaction: StoreTransaction, record: KeyRecord, actor: Actor): void {
  transaction.put(apiKeyKey(record.id), record);
  auditKey(transaction, actor, 'key.create', record.id, record.createdAt);
}

/** All keys, the oldest first. */
export function listKeys(store: Store): readonly KeyRecord[] {
  return store
    .list([KEY_PREFIX])
    .map(parseKeyRecord)
    .sort((left, right) => left.createdAt - right.createdAt || (left.id < right.id ? -1 : 1));
}

/**
 * Finds one key by the key itself, its id or a beginning of its id.
 * @throws Error when none or several match.
 */
export function selectKey(store: Store, selector: string): KeyRecord {
  const exact = store.get(apiKeyKey(keyId(selector)));
  if (exact !== undefined) return parseKeyRecord(exact);
  const matches =
    selector.length < ID_CHARS_MIN
      ? []
      : listKeys(store).filter(({ id }) => id.startsWith(selector.toLowerCase()));
  if (matches.length === 1) return matches[0]!;
  throw new Error(
    matches.length === 0
      ? 'no such key; name it by the key itself or the beginning of its id (situs key list)'
      : `${matches.length} keys match`,
  );
}

/**
 * Changes plan, rate, entitlements or quotas. A new plan replaces rate and entitlements unless they
 * are given too.
 * @throws Error when none or several keys match.
 */
export async function updateKey(
  store: Store,
  selector: string,
  change: KeyChange,
  actor: Actor = { kind: 'server' },
): Promise<KeyRecord> {
  const { id } = selectKey(store, selector);
  return store.write((transaction) => {
    const before = parseKeyRecord(transaction.get(apiKeyKey(id)));
    const settings = change.plan === undefined ? before : PLAN_FEATURES[change.plan];
    const record: KeyRecord = {
      ...before,
      plan: change.plan ?? before.plan,
      ...settingsOf(change, settings, before),
      active: change.active ?? before.active,
    };
    transaction.put(apiKeyKey(id), record);
    const { active } = change;
    const action = active === undefined ? 'key.update' : active ? 'key.enable' : 'key.disable';
    auditKey(transaction, actor, action, id, Date.now());
    return record;
  });
}

/** Disables a key; servers refuse it within a second. */
export async function disableKey(
  store: Store,
  selector: string,
  actor?: Actor,
): Promise<KeyRecord> {
  return updateKey(store, selector, { active: false }, actor);
}

/**
 * Makes the first key of an empty store, with all entitlements of an Enterprise key.
 * @returns the key when one was made, otherwise null.
 */
export async function bootstrapKey(
  store: Store,
  text: string | null,
  rate: number,
): Promise<CreatedKey | null> {
  // A key with a damaged record counts as a key.
  const isEmpty = (): boolean => store.keys([KEY_PREFIX], 1).length === 0;
  if (!isEmpty()) return null;
  const made = text ?? randomKey();
  if (!isKeyText(made)) throw new Error(NO_KEY_TEXT);
  const record = newRecord({ plan: 'enterprise', rate }, made, Date.now());
  return store.write((transaction) => {
    // Where several servers start together, only one makes the key.
    if (!isEmpty()) return null;
    putNew(transaction, record, { kind: 'server' });
    return { text: made, record };
  });
}
