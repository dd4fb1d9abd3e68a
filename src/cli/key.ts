/** `situs key …`: API keys of the store, also while a server runs. */
import { parseArgs } from 'node:util';
import type { KeyRecord } from '../store/format.js';
import {
  createKey, disableKey, listKeys, updateKey, type KeyChange, type KeyTerms,
} from '../store/keys.js';
import {
  ENTITLEMENTS, entitlementsOf, grantsOf, isEntitlement, PLANS, type Entitlement, type Plan,
} from '../store/plan.js';
import type { Store } from '../store/store.js';
import { listUsage } from '../store/usage.js';
import { NO_COUNTS, type Counts } from '../store/usage-meter.js';
import { monthAt } from '../store/usage-month.js';
import { withNewStore, withStore } from './open-store.js';
import { refuseExtra, UsageError } from './usage.js';

export const USAGE = `situs key create --plan PLAN [--account NAME] [TERMS] [--json]   shown once
situs key list [--json]                      with what each used in this month
situs key update KEY [--plan PLAN] [TERMS] [--json]
situs key disable KEY [--json]
situs key enable KEY [--json]
KEY: the key, or the beginning of its id. PLAN: ${PLANS.join(', ')}.
TERMS, each against the plan's own:
  --rate N              requests a minute
  --core-limit N        lookups a calendar month (UTC); 0 is unmetered
  --geo-limit N         lookups by address or coordinates a month; 0 is unmetered
  --merchant-limit N    merchant operations a month; 0 is unmetered
  --grant NAME          may ask this, repeatable: ${Object.keys(ENTITLEMENTS).join(', ')}
  --deny NAME           may not
A running server follows within a second.
`;

const OPTIONS = {
  plan: { type: 'string' },
  account: { type: 'string' },
  rate: { type: 'string' },
  'core-limit': { type: 'string' },
  'geo-limit': { type: 'string' },
  'merchant-limit': { type: 'string' },
  grant: { type: 'string', multiple: true },
  deny: { type: 'string', multiple: true },
  json: { type: 'boolean', default: false },
} as const;

/** Digits of the largest rate and quota, small enough to be counted exactly. */
const RATE_DIGITS_MAX = 9;
const LIMIT_DIGITS_MAX = 12;
const ACCOUNT_CHARS_MAX = 255;

function planOf(text: string | undefined): Plan | undefined {
  const plan = PLANS.find((name) => name === text);
  if (text !== undefined && plan === undefined) {
    throw new UsageError(`no plan "${text}"; there are: ${PLANS.join(', ')}`);
  }
  return plan;
}

function numberOf(
  option: string, text: string | undefined, digitsMax: number,
): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text) || text.length > digitsMax) {
    throw new UsageError(`--${option} "${text}" is no number of at most ${digitsMax} digits`);
  }
  return Number(text);
}

function namesOf(names: readonly string[]): readonly Entitlement[] {
  return names.map((name) => {
    if (isEntitlement(name)) return name;
    const known = Object.keys(ENTITLEMENTS).join(', ');
    throw new UsageError(`no entitlement "${name}"; there are: ${known}`);
  });
}

interface KeyOptions {
  readonly plan?: string;
  readonly account?: string;
  readonly rate?: string;
  readonly 'core-limit'?: string;
  readonly 'geo-limit'?: string;
  readonly 'merchant-limit'?: string;
  readonly grant?: readonly string[];
  readonly deny?: readonly string[];
  readonly json: boolean;
}

function termsOf(values: KeyOptions): KeyTerms {
  const rate = numberOf('rate', values.rate, RATE_DIGITS_MAX);
  if (rate === 0) throw new UsageError('--rate is at least 1; to shut a key off, disable it');
  const limit = (name: 'core-limit' | 'geo-limit' | 'merchant-limit'): number | undefined =>
    numberOf(name, values[name], LIMIT_DIGITS_MAX);
  const [coreLimit, geoLimit] = [limit('core-limit'), limit('geo-limit')];
  const merchantLimit = limit('merchant-limit');
  const [grant, deny] = [values.grant ?? [], values.deny ?? []].map((names) =>
    grantsOf(namesOf(names))) as [number, number];
  if ((grant & deny) !== 0) throw new UsageError('the same name is granted and denied');
  return {
    grant, deny,
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
  const { id, prefix, account, plan, rate, grants, active } = record;
  return [
    id.slice(0, 12), `${prefix}…`, account, plan, `${rate}/min`, active ? 'active' : 'disabled',
    entitlementsOf(grants).join(',') || 'no entitlements',
    `core ${share(used.core, record.coreLimit)}`,
    `geo ${share(used.geo, record.geoLimit)}`,
    `merchant ${share(used.merchant, record.merchantLimit)}`,
  ].join('  ');
}

/** A key for programs; the stored hash is not a secret, the key itself is not known. */
function shown(record: KeyRecord, used: Counts, month: string): object {
  const { core, geo, merchant } = used;
  const entitlements = entitlementsOf(record.grants);
  return { ...record, entitlements, usage: { month, core, geo, merchant } };
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Prints keys with what they used in this month, as far as it is stored. */
function printKeys(store: Store, records: readonly KeyRecord[], json: boolean): string {
  const month = monthAt(Date.now()).name;
  const usage = new Map(listUsage(store, month).map((used) => [used.id, used]));
  const each = (record: KeyRecord): Counts => usage.get(record.id) ?? NO_COUNTS;
  return json
    ? JSON.stringify(records.map((record) => shown(record, each(record), month)))
    : records.map((record) => line(record, each(record))).join('\n');
}

async function create(values: KeyOptions): Promise<void> {
  const plan = planOf(values.plan);
  if (plan === undefined) throw new UsageError(`create needs --plan\n\n${USAGE}`);
  const { account } = values;
  if (account !== undefined && (account === '' || account.length > ACCOUNT_CHARS_MAX)) {
    throw new UsageError(`--account has 1 to ${ACCOUNT_CHARS_MAX} characters`);
  }
  const terms = termsOf(values);
  const { text, record } = await withNewStore((store) => createKey(store, {
    plan, ...terms, ...(account === undefined ? {} : { account }),
  }));
  const { id, rate, grants, coreLimit, geoLimit, merchantLimit } = record;
  print(values.json
    ? JSON.stringify({
      key: text, id, account: record.account, plan, rate, entitlements: entitlementsOf(grants),
      coreLimit, geoLimit, merchantLimit,
    })
    : `${text}\nThis key is shown once and cannot be shown again.`);
}

async function list(json: boolean): Promise<void> {
  const text = await withStore((store) => printKeys(store, listKeys(store), json));
  if (text !== '') print(text);
}

async function change(
  json: boolean, apply: (store: Store) => Promise<KeyRecord>,
): Promise<void> {
  const text = await withStore(async (store) => printKeys(store, [await apply(store)], json));
  // One key, not a list of one.
  print(json ? text.slice(1, -1) : text);
}

function changeOf(values: KeyOptions): KeyChange {
  if (values.account !== undefined) throw new UsageError('a key keeps its account');
  const plan = planOf(values.plan);
  return { ...termsOf(values), ...(plan === undefined ? {} : { plan }) };
}

/** Runs `situs key ARGS`. */
export async function keyCommand(args: readonly string[]): Promise<number> {
  const [verb, ...rest] = args;
  if (verb === undefined) throw new UsageError(USAGE);
  const { values, positionals } = parseArgs({
    args: rest, allowPositionals: true, options: OPTIONS,
  });
  const [selector] = positionals;
  const { json } = values;
  refuseExtra(positionals, verb === 'create' || verb === 'list' ? 0 : 1);
  if (verb === 'create') await create(values);
  else if (verb === 'list') await list(json);
  else if (selector !== undefined && verb === 'update') {
    const terms = changeOf(values);
    await change(json, (store) => updateKey(store, selector, terms));
  } else if (selector !== undefined && verb === 'disable') {
    await change(json, (store) => disableKey(store, selector));
  } else if (selector !== undefined && verb === 'enable') {
    await change(json, (store) => updateKey(store, selector, { active: true }));
  } else throw new UsageError(USAGE);
  return 0;
}
