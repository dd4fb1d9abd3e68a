/** `situs secrets …`: the keys that seal the secrets in a store; also works while a server runs. */
import { placeOf } from '../bulk/job/ownership.js';
import { jobsDirOf } from '../bulk/job/space.js';
import { type Config, loadConfig } from '../config.js';
import { emptyCoreDumps } from '../base/process.js';
import type { StoreKey } from '../store/format.js';
import { KekFile } from '../store/kek-file.js';
import { listNodes } from '../store/nodes.js';
import {
  auditRotation,
  rewrapAll,
  rotateKek,
  type RotationProgress,
  sealedCounts,
} from '../store/rotation.js';
import type { Store } from '../store/store.js';
import { openKeys } from '../store/vault.js';
import { commandActor, tellDamaged, withStore } from './open-store.js';
import { print, progress } from './command-line.js';

const FROM_ENVIRONMENT = `the key-encryption key comes from SITUS_KEK, so it cannot be changed here.
To rotate it:
  1. make a new key:                    openssl rand -base64 32
  2. restart the server with the new key in SITUS_KEK and the old one in SITUS_KEK_PREVIOUS
  3. with the same two settings, run:   situs secrets rotate
  4. restart the server without SITUS_KEK_PREVIOUS`;

function report({ done, total }: RotationProgress): void {
  progress(`wrapped ${done} of ${total} data keys`);
}

/** Wraps all data keys with SITUS_KEK, once the server has this key too. */
async function rewrapOnly(config: Config, store: Store): Promise<readonly StoreKey[]> {
  if (config.kekPrevious.length === 0) throw new Error(FROM_ENVIRONMENT);
  const { source } = await openKeys(config, store);
  await store.write(
    (transaction) => auditRotation(transaction, commandActor(), source.current().id, Date.now()),
    { quiet: true },
  );
  const { done, damaged } = await rewrapAll(store, source, report);
  const wrapped = `${done} data keys wrapped with ${source.current().id}`;
  print(damaged.length > 0 ? wrapped : `${wrapped}; restart the server without SITUS_KEK_PREVIOUS`);
  return damaged;
}

/** Rotates the keys, and returns the store keys of damaged records. */
async function rotate(config: Config, store: Store): Promise<readonly StoreKey[]> {
  const { source } = await openKeys(config, store);
  if (!(source instanceof KekFile)) return rewrapOnly(config, store);
  const place = placeOf(jobsDirOf(config.varDir));
  let waits = false;
  const { current, dropped, rewrapped, damaged } = await rotateKek(
    store,
    source,
    new Date(),
    commandActor(),
    {
      report,
      begun: (resumed) =>
        progress(
          resumed
            ? 'a rotation was under way; it is finished now'
            : `a new key ${source.current().id} is in ${source.path}`,
        ),
      elsewhere: () => {
        waits = listNodes(store).some((node) => node.place !== place);
        return waits;
      },
    },
  );
  print(
    `${rewrapped} data keys wrapped with ${current}; ` +
      `${dropped.length === 0 ? 'no key' : dropped.join(', ')} dropped from ${source.path}`,
  );
  if (waits) {
    progress(
      `other servers have files of their own: copy ${source.path} to them, then run this ` +
        'again, which drops the old key',
    );
  }
  if (dropped.length > 0) {
    progress('backups made before this rotation need the dropped key: make a new backup');
  }
  return damaged;
}

async function status(config: Config, store: Store, json: boolean): Promise<readonly StoreKey[]> {
  const damaged: StoreKey[] = [];
  const counts = await sealedCounts(store, (key) => damaged.push(key));
  const { source } = await openKeys(config, store);
  const current = source.current().id;
  const ids = [...new Set([...source.all().map(({ id }) => id), ...counts.keys()])];
  const known = new Set(source.all().map(({ id }) => id));
  const keys = ids.map((id) => ({
    id,
    state: id === current ? 'current' : known.has(id) ? 'previous' : 'missing',
    secrets: counts.get(id) ?? 0,
  }));
  const from = source instanceof KekFile ? source.path : 'SITUS_KEK';
  if (json) {
    print(JSON.stringify({ from, keys }));
    return damaged;
  }
  print(`keys from ${from}`);
  for (const { id, state, secrets } of keys) print(`${id}  ${state.padEnd(8)}  ${secrets} secrets`);
  return damaged;
}

/** Runs `situs secrets rotate`; the exit code tells whether every record could be read. */
export async function rotateCommand(asked: {
  readonly status?: boolean;
  readonly json?: boolean;
}): Promise<number> {
  const config = loadConfig();
  if (!config.coreDumps) emptyCoreDumps();
  return withStore(async (store) => {
    const damaged = asked.status
      ? await status(config, store, asked.json ?? false)
      : await rotate(config, store);
    const kept = asked.status
      ? 'passed over'
      : 'passed over, and no previous key may be dropped before they are repaired';
    return tellDamaged(damaged, kept);
  });
}
