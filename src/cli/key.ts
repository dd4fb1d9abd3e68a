/** `situs key …`: API keys of the store, also while a server runs. */
import { parseArgs } from 'node:util';
import { loadConfig } from '../config.js';
import { createKey, disableKey, listKeys, updateKey } from '../store/keys.js';
import type { KeyRecord } from '../store/format.js';
import { PLANS, type Plan } from '../store/plan.js';
import { Store } from '../store/store.js';
import { UsageError } from './usage.js';

const USAGE = `situs key create --plan PLAN [--account NAME] [--rate N] [--json]   shown once
situs key list [--json]
situs key update KEY [--plan PLAN] [--rate N]    KEY: the key, or the beginning of its id
situs key disable KEY
PLAN is one of ${PLANS.join(', ')}; --rate is requests a minute.
`;

const OPTIONS = {
  plan: { type: 'string' },
  account: { type: 'string' },
  rate: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;

function planOf(text: string | undefined): Plan | undefined {
  const plan = PLANS.find((name) => name === text);
  if (text !== undefined && plan === undefined) {
    throw new UsageError(`no plan "${text}"; there are: ${PLANS.join(', ')}`);
  }
  return plan;
}

function rateOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw new UsageError(`--rate "${text}" is no number of requests`);
  }
  return Number(text);
}

function line(record: KeyRecord): string {
  return [
    record.id.slice(0, 12), `${record.prefix}…`, record.account, record.plan,
    `${record.rate}/min`, record.active ? 'active' : 'disabled',
  ].join('  ');
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function withStore<T>(use: (store: Store) => T | Promise<T>): Promise<T> {
  const store = await Store.open(loadConfig().varDir);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

interface KeyOptions {
  readonly plan?: string;
  readonly account?: string;
  readonly rate?: string;
  readonly json: boolean;
}

async function create(values: KeyOptions): Promise<void> {
  const plan = planOf(values.plan);
  if (plan === undefined) throw new UsageError(`create needs --plan\n\n${USAGE}`);
  const rate = rateOf(values.rate);
  const { text, record } = await withStore((store) => createKey(store, {
    plan,
    ...(values.account === undefined ? {} : { account: values.account }),
    ...(rate === undefined ? {} : { rate }),
  }));
  print(values.json
    ? JSON.stringify({ key: text, id: record.id, account: record.account, plan, rate: record.rate })
    : `${text}\nThis key is shown once and cannot be shown again.`);
}

async function list(json: boolean): Promise<void> {
  const records = await withStore((store) => listKeys(store));
  if (json) print(JSON.stringify(records));
  else records.forEach((record) => print(line(record)));
}

/** Runs `situs key ARGS`. */
export async function keyCommand(args: readonly string[]): Promise<number> {
  const [verb, ...rest] = args;
  if (verb === undefined || verb === '--help') {
    process.stdout.write(USAGE);
    return verb === undefined ? 2 : 0;
  }
  const { values, positionals } = parseArgs({
    args: rest, allowPositionals: true, options: OPTIONS,
  });
  const [selector] = positionals;
  if (verb === 'create') await create(values);
  else if (verb === 'list') await list(values.json);
  else if (selector !== undefined && verb === 'disable') {
    print(line(await withStore((store) => disableKey(store, selector))));
  } else if (selector !== undefined && verb === 'update') {
    const [plan, rate] = [planOf(values.plan), rateOf(values.rate)];
    print(line(await withStore((store) => updateKey(store, selector, {
      ...(plan === undefined ? {} : { plan }), ...(rate === undefined ? {} : { rate }),
    }))));
  } else throw new UsageError(USAGE);
  return 0;
}
