/** `situs key …`: API keys of the store, also while a server runs. */
import type { KeyRecord } from '../store/format.js';
import {
  createKey,
  disableKey,
  listKeys,
  updateKey,
  type KeyChange,
  type KeySettings,
} from '../store/keys.js';
import { entitlementsOf, grantsOf, type Entitlement, type Plan } from '../store/plan.js';
import { ALL_SCOPES, scopeBits, scopesOfBits, type Scope } from '../store/scope.js';
import type { Store } from '../store/store.js';
import { listUsage } from '../store/usage.js';
import { type Counts, monthAt, NO_COUNTS } from '../store/usage-meter.js';
import { commandActor, withNewStore, withStore } from './open-store.js';
import { print, UsageError } from './command-line.js';

const ACCOUNT_CHARS_MAX = 255;
/** Names are printed in single lines, on terminals and in the audit log. */
const ACCOUNT = /^[^\p{Cc}\p{Cs}]+$/u;

/** Settings of a key that differ from those of its plan. */
interface SettingsAsked {
  readonly rate?: number;
  readonly coreLimit?: number;
  readonly geoLimit?: number;
  readonly merchantLimit?: number;
  readonly grant?: readonly Entitlement[];
  readonly deny?: readonly Entitlement[];
  readonly scope?: readonly Scope[];
}

interface Printed {
  readonly json?: boolean;
}

function settingsOf({
  rate,
  coreLimit,
  geoLimit,
  merchantLimit,
  grant: granted,
  deny: denied,
  scope,
}: SettingsAsked): KeySettings {
  const [grant, deny] = [grantsOf(granted ?? []), grantsOf(denied ?? [])];
  if ((grant & deny) !== 0) throw new UsageError('the same name is granted and denied');
  return {
    grant,
    deny,
    ...(scope === undefined ? {} : { scopes: scopeBits(scope) }),
    ...(rate === undefined ? {} : { rate }),
    ...(coreLimit === undefined ? {} : { coreLimit }),
    ...(geoLimit === undefined ? {} : { geoLimit }),
    ...(merchantLimit === undefined ? {} : { merchantLimit }),
  };
}

/** "12 of 1000", or "12" where there is no limit. */
function share(count: number, limit: number): string {
  return limit === 0 ? String(count) : `${count} of ${limit}`;
}

function line(record: KeyRecord, used: Counts): string {
  const { id, prefix, account, plan, rate, grants, scopes, active } = record;
  return [
    id.slice(0, 12),
    `${prefix}…`,
    account,
    plan,
    `${rate}/min`,
    active ? 'active' : 'disabled',
    entitlementsOf(grants).join(',') || 'no entitlements',
    scopes === ALL_SCOPES ? 'all scopes' : `only ${scopesOfBits(scopes).join(',')}`,
    `core ${share(used.core, record.coreLimit)}`,
    `geo ${share(used.geo, record.geoLimit)}`,
    `merchant ${share(used.merchant, record.merchantLimit)}`,
  ].join('  ');
}

/** A key as JSON. The key itself is not known; its stored hash is no secret. */
function shown(record: KeyRecord, used: Counts, month: string): object {
  const { core, geo, merchant } = used;
  const entitlements = entitlementsOf(record.grants);
  const scopes = scopesOfBits(record.scopes);
  return { ...record, entitlements, scopes, usage: { month, core, geo, merchant } };
}

/** Prints keys with their use in this month, as far as it has been stored. */
function printKeys(store: Store, records: readonly KeyRecord[], json: boolean): string {
  const month = monthAt(Date.now()).name;
  const usage = new Map(listUsage(store, month).map((used) => [used.id, used]));
  const each = (record: KeyRecord): Counts => usage.get(record.id) ?? NO_COUNTS;
  return json
    ? JSON.stringify(records.map((record) => shown(record, each(record), month)))
    : records.map((record) => line(record, each(record))).join('\n');
}

/** Runs `situs key create`. */
export async function createCommand(
  asked: SettingsAsked & Printed & { readonly plan: Plan; readonly account?: string },
): Promise<void> {
  const { plan, account } = asked;
  if (account !== undefined && (account.length > ACCOUNT_CHARS_MAX || !ACCOUNT.test(account))) {
    throw new UsageError(
      `--account has 1 to ${ACCOUNT_CHARS_MAX} characters and no control characters`,
    );
  }
  const settings = settingsOf(asked);
  const { text, record } = await withNewStore((store) =>
    createKey(
      store,
      {
        plan,
        ...settings,
        ...(account === undefined ? {} : { account }),
      },
      Date.now(),
      commandActor(),
    ),
  );
  const { id, rate, grants, scopes, coreLimit, geoLimit, merchantLimit } = record;
  print(
    asked.json
      ? JSON.stringify({
          key: text,
          id,
          account: record.account,
          plan,
          rate,
          entitlements: entitlementsOf(grants),
          scopes: scopesOfBits(scopes),
          coreLimit,
          geoLimit,
          merchantLimit,
        })
      : `${text}\nThis key is shown once and cannot be shown again.`,
  );
}

/** Runs `situs key list`. */
export async function listCommand({ json = false }: Printed): Promise<void> {
  const text = await withStore((store) => printKeys(store, listKeys(store), json));
  if (text !== '') print(text);
}

async function change(
  { json = false }: Printed,
  apply: (store: Store) => Promise<KeyRecord>,
): Promise<void> {
  const text = await withStore(async (store) => printKeys(store, [await apply(store)], json));
  // Prints the only key as an object instead of a list.
  print(json ? text.slice(1, -1) : text);
}

/** Runs `situs key update KEY`. */
export async function updateCommand(
  key: string,
  asked: SettingsAsked & Printed & { readonly plan?: Plan },
): Promise<void> {
  const { plan } = asked;
  const update: KeyChange = { ...settingsOf(asked), ...(plan === undefined ? {} : { plan }) };
  await change(asked, (store) => updateKey(store, key, update, commandActor()));
}

/** Runs `situs key enable KEY` and `disable KEY`. */
export async function enableCommand(key: string, active: boolean, asked: Printed): Promise<void> {
  await change(asked, (store) =>
    active
      ? updateKey(store, key, { active }, commandActor())
      : disableKey(store, key, commandActor()),
  );
}
