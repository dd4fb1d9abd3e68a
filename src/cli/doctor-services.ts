/**
 * Checks of `situs doctor` that concern more than this process: store, fleet, files, limits,
 * servers.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isUnready, UNREADY } from '../api/system/health.js';
import type { Config } from '../config.js';
import { currentRelease } from '../dataset/release.js';
import { filesAddress, openPlace } from '../distribution/address.js';
import { readState } from '../distribution/state.js';
import { checkRedis } from '../limit/open-rates.js';
import { ANSWER_MS_MAX } from '../limit/shared-rates.js';
import { messageOf } from '../log.js';
import { localUrl } from '../setting.js';
import { listNodes, type NodeRecord } from '../store/nodes.js';
import { databasePlace } from '../store/postgres/place.js';
import { hasEnded, ownMark } from '../store/process-mark.js';
import { STORE_FILE } from '../store/store-file.js';
import { type Store, STORE_BYTES_MAX, storeDir } from '../store/store.js';
import type { Checked, Finding, Level } from './doctor-checks.js';

const MIB = 1_048_576;
/** Share of the store's size limit from which there is a warning. */
const STORE_SHARE_LOW = 0.8;

const found = (level: Level, text: string): readonly Finding[] => [{ level, text }];

function databaseState(url: string, bytes: number): readonly Finding[] {
  const level = bytes > STORE_BYTES_MAX * STORE_SHARE_LOW ? 'warning' : 'ok';
  const text = `the store in ${databasePlace(url).shown} opens, ${Math.ceil(bytes / MIB)} MiB`;
  return found(bytes > STORE_BYTES_MAX ? 'fault' : level, text);
}

/** The store, whether in a folder or a database. */
export function storeState({ config, store, storeFault }: Checked): readonly Finding[] {
  if (storeFault !== null) return found('fault', storeFault);
  if (config.storeUrl !== null) return databaseState(config.storeUrl, store?.bytes() ?? 0);
  const path = storeDir(config.varDir);
  if (store === null) return found('note', `there is no store in ${path} yet`);
  const bytes = store.bytes();
  const text = `the store in ${path} opens, ${Math.ceil(bytes / MIB)} MiB in use`;
  if (bytes > STORE_BYTES_MAX) return found('fault', `${text}: full, nothing new is taken`);
  const { mode } = statSync(join(path, STORE_FILE));
  const folderMode = statSync(path).mode;
  if ((folderMode & 0o077) !== 0 && (mode & 0o077) !== 0) {
    return found('warning', `${text}, but others may read it; run: chmod 700 ${path}`);
  }
  return found(bytes > STORE_BYTES_MAX * STORE_SHARE_LOW ? 'warning' : 'ok', text);
}

/** Whether the place of a fleet can be read, and whether this node has the active release. */
export async function fleet({ config }: Checked): Promise<readonly Finding[]> {
  const { datasets, varDir } = config;
  if (datasets === '') return [{ level: 'note', text: 'no fleet is followed (SITUS_DATASETS)' }];
  const place = await openPlace(config);
  try {
    const {
      state: { active },
    } = await readState(place);
    if (active === null) {
      return [{ level: 'warning', text: `no dataset is active at ${place.name}` }];
    }
    const here = currentRelease(varDir);
    return [
      active === here
        ? { level: 'ok', text: `${active} is active at ${place.name}, and here` }
        : {
            level: 'fault',
            text:
              `${active} is active at ${place.name}, and ${here ?? 'none'} here: ` +
              'this node is not ready',
          },
    ];
  } catch (error) {
    return [{ level: 'warning', text: `${messageOf(error)}; what is active here goes on` }];
  } finally {
    await place.close().catch(() => undefined);
  }
}

/** Whether the broker of files can be reached, and which nodes take chunks there. */
export async function files({ config }: Checked): Promise<readonly Finding[]> {
  if (config.fleet === '') return found('note', 'files of rows go over no fleet (SITUS_FLEET)');
  const address = filesAddress(config.fleet, 'SITUS_FLEET');
  const { FilesBroker } = await import('../bulk/fleet/files-broker.js');
  try {
    const broker = await FilesBroker.open(address, 'situs doctor', false);
    const nodes = await broker.nodes('');
    await broker.close();
    return nodes.length === 0
      ? found('warning', `no node takes chunks of files at ${broker.name}`)
      : found('ok', `${nodes.map(({ node }) => node).join(', ')} take chunks at ${broker.name}`);
  } catch (error) {
    return found('warning', `${messageOf(error)}; no chunks of files are taken`);
  }
}

/** Whether the counts that all nodes share for limits can be reached. */
export async function limits({ config }: Checked): Promise<readonly Finding[]> {
  const { url, sharePercent } = config.limits;
  if (url === '') return found('note', 'rates hold on this node alone (SITUS_LIMITS)');
  const { server, fault, warning, version, milliseconds } = await checkRedis(url);
  if (fault !== null) {
    return found(
      'warning',
      `${server} does not keep the rate windows of all nodes (${fault}); this` +
        ` node admits ${sharePercent} % of each rate alone`,
    );
  }
  const name = `${version} at ${server}`;
  if (warning !== null) return found('warning', `${name} ${warning}`);
  return found(
    milliseconds > ANSWER_MS_MAX ? 'warning' : 'ok',
    `${name} keeps the rate windows of all nodes; it answered in ${Math.ceil(milliseconds)} ms`,
  );
}

const MIGRATE = '/proc/sys/net/ipv4/tcp_migrate_req';

/** Whether the kernel passes on connections that arrive while a listener is replaced. */
export function listenerFindings(
  { listeners, supervised }: Pick<Config, 'listeners' | 'supervised'>,
  path = MIGRATE,
): readonly Finding[] {
  if (listeners === 1 && !supervised) {
    return [{ level: 'ok', text: 'one server, without a supervisor' }];
  }
  const text = `${listeners === 1 ? '1 listener' : `${listeners} listeners`} with a supervisor`;
  const migrates = existsSync(path) && readFileSync(path, 'latin1').trim() === '1';
  return [
    migrates
      ? { level: 'ok', text }
      : {
          level: 'note',
          text:
            `${text}; a replacement may reset a connection that just comes, unless ` +
            'net.ipv4.tcp_migrate_req is 1 (sysctl)',
        },
  ];
}

// Asks the server on the store for its `/system/ready`.

const READY_MS_MAX = 5_000;

/** Reasons that end by themselves. */
const PASSING: ReadonlySet<string> = new Set(['starting', 'draining']);

function reasonsOf(body: unknown): readonly unknown[] {
  return typeof body === 'object' &&
    body !== null &&
    'reasons' in body &&
    Array.isArray(body.reasons)
    ? body.reasons
    : [];
}

/** Sentences for the reasons that a server gave for not being ready. */
export function unreadyFindings(server: string, body: unknown): readonly Finding[] {
  const reasons = reasonsOf(body);
  if (reasons.length === 0) {
    return [{ level: 'fault', text: `${server} says that it is not ready, and not why` }];
  }
  return reasons.map((reason) => ({
    level: PASSING.has(String(reason)) ? 'note' : 'fault',
    text: `${server} is not ready: ${isUnready(reason) ? UNREADY[reason] : String(reason)}`,
  }));
}

async function ask(server: string, url: string): Promise<readonly Finding[]> {
  const { Agent, request } = await import('undici');
  try {
    const { statusCode, body } = await request(`${url}/system/ready`, {
      // The request goes to this machine's own address, which no certificate names, and sends no
      // secret.
      dispatcher: new Agent({ connect: { rejectUnauthorized: false } }),
      headersTimeout: READY_MS_MAX,
      bodyTimeout: READY_MS_MAX,
    });
    if (statusCode === 200) {
      await body.dump();
      return [{ level: 'ok', text: `${server} is ready` }];
    }
    return unreadyFindings(server, await body.json());
  } catch (error) {
    const text =
      `${server} does not answer (${messageOf(error)}); where it was started with ` +
      'another HOST or PORT, run this with the same';
    return [{ level: 'fault', text }];
  }
}

function addressOf({ host, port, tls }: Config): string | null {
  return port === 0 ? null : localUrl(host, port, tls !== null);
}

/** Servers on the store, except those whose process is known to have ended. */
function serversOf(store: Store | null): readonly NodeRecord[] {
  const own = ownMark();
  return store === null ? [] : listNodes(store).filter((node) => !hasEnded(node, own));
}

/** Which servers run on the store, and whether they are ready. */
export async function service(checked: Checked): Promise<readonly Finding[]> {
  const { config, store, storeFault } = checked;
  if (storeFault !== null) return found('note', 'the store that tells of servers does not open');
  const servers = serversOf(store);
  const [first, ...others] = servers;
  if (first === undefined) return [{ level: 'note', text: 'no server runs on this store' }];
  const url = addressOf(config);
  const names = servers.map(({ pid }) => pid).join(', ');
  const who =
    others.length === 0 ? `process ${first.pid}` : `${servers.length} servers (processes ${names})`;
  return url === null
    ? [
        {
          level: 'note',
          text:
            `${who} ${others.length === 0 ? 'serves' : 'serve'} this store, ` +
            'on a port PORT does not tell',
        },
      ]
    : ask(others.length === 0 ? `${who}, on ${url},` : `${url}, of ${who},`, url);
}
