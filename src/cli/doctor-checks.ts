/**
 * The checks of `situs doctor`. Each is a function that examines one thing and returns what it
 * found as sentences. A new check is a function and a line in `CHECKS`.
 */
import { existsSync, mkdtempSync, rmdirSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../config.js';
import { leftIn } from '../dataset/keeping.js';
import { readManifest } from '../dataset/manifest.js';
import { activeRelease, releasesDir } from '../dataset/release.js';
import { readPublicKeys } from '../dataset/signature.js';
import { readDeliverySettings } from '../event/delivery.js';
import { createServer, NODE_COST } from '../http/open-transport.js';
import { createLog, messageOf, SILENT } from '../log.js';
import { checkLogFile } from '../monitor/log-file.js';
import { openProvider, reachProvider, watchProvider } from '../provider/open-provider.js';
import { KekFile, modeProblem } from '../store/kek-file.js';
import { kekPath, openKekSource } from '../store/kek-source.js';
import { outboxCounts } from '../store/outbox-count.js';
import { sealedCounts } from '../store/rotation.js';
import type { Store } from '../store/store.js';
import { files, fleet, limits, listenerFindings, service, storeState } from './doctor-services.js';
import { problemsOf } from './sound-release.js';
import { WATCH_READERS } from '../monitor/listener.js';

/** Readers of settings that no other check covers; their exceptions name the setting. */
const READERS: readonly ((config: Config) => unknown)[] = [
  ...Object.values(WATCH_READERS),
  ({ requireSignature }) => readPublicKeys(requireSignature, 'SITUS_REQUIRE_SIGNATURE'),
  ({ requestLog: { path } }) => (path === null ? null : checkLogFile(path)),
];

/** A fault for each setting with which the service would not start. */
export function settings({ config }: Pick<Checked, 'config'>): readonly Finding[] {
  const faults = READERS.flatMap((read): readonly Finding[] => {
    try {
      read(config);
      return [];
    } catch (error) {
      return [{ level: 'fault', text: messageOf(error) }];
    }
  });
  return faults.length > 0 ? faults : [{ level: 'ok', text: 'every setting can be read' }];
}

/** From good to bad. A `fault` keeps the service from working; a `warning` should be looked at. */
export type Level = 'ok' | 'note' | 'warning' | 'fault';

export interface Finding {
  readonly level: Level;
  /** One plain sentence. */
  readonly text: string;
}

export interface Checked {
  readonly config: Config;
  /** Null where there is no store yet, or it cannot be opened. */
  readonly store: Store | null;
  /** Why it cannot be opened; null where it can. */
  readonly storeFault: string | null;
  readonly now: Date;
}

interface Check {
  readonly name: string;
  /** An exception counts as a fault with its message. */
  run(checked: Checked): readonly Finding[] | Promise<readonly Finding[]>;
}

/** Oldest Node.js that is supported, as major and minor version. */
const NODE_MIN = [20, 11] as const;
const MIB = 1024 ** 2;
/** Below this, writes will soon fail. */
const FREE_BYTES_MIN = 64 * MIB;
/** Below this, a new dataset may not fit. */
const FREE_BYTES_LOW = 1024 * MIB;
const STALE_SHOWN = 5;

const found = (level: Level, text: string): readonly Finding[] => [{ level, text }];

/** Whether a version of Node.js is supported. */
export function nodeFinding(version: string): readonly Finding[] {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const enough = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
  return enough
    ? found('ok', `Node.js ${version}`)
    : found('fault', `Node.js ${version} is too old; ${NODE_MIN.join('.')} or newer is needed`);
}

async function transport({ config }: Checked): Promise<readonly Finding[]> {
  const { tls } = config;
  const told: string[] = [];
  const log = createLog('warn', (line) => told.push(line));
  const server = await createServer({ transport: config.transport, tls, log });
  server.close();
  const secure = tls === null ? '' : ', with certificate and key';
  if (server.transport === 'native') return found('ok', `the native HTTP server loads${secure}`);
  return told.length === 0
    ? found('ok', `the HTTP server of Node.js is chosen (SITUS_TRANSPORT)${secure}`)
    : found('warning', `the native HTTP server cannot load: ${NODE_COST}${secure}`);
}

/** The path itself or the nearest folder above it that exists; the server makes those between. */
function existingFolder(path: string): string {
  return existsSync(path) ? path : existingFolder(dirname(path));
}

/** The folder that jobs read files from. If it is set and missing, every such job is refused. */
function bulkFolder({ bulkDir }: Config): readonly Finding[] {
  return bulkDir === null || existsSync(bulkDir)
    ? []
    : found('warning', `SITUS_BULK_DIR names ${bulkDir}, which does not exist`);
}

function folder({ config }: Checked): readonly Finding[] {
  return [...varFolder(config), ...bulkFolder(config)];
}

function varFolder({ varDir }: Config): readonly Finding[] {
  if (!existsSync(varDir)) {
    rmdirSync(mkdtempSync(join(existingFolder(varDir), '.situs-doctor-')));
    return found('note', `${varDir} does not exist yet and will be made`);
  }
  rmdirSync(mkdtempSync(join(varDir, '.doctor-')));
  return found('ok', `${varDir} can be written`);
}

/** The finding for the bytes that are free on the disk of SITUS_VAR. */
export function diskFinding(free: number): readonly Finding[] {
  const size = `${Math.floor(free / MIB)} MiB free on the disk of SITUS_VAR`;
  if (free < FREE_BYTES_MIN) return found('fault', `only ${size}: writes will fail`);
  if (free < FREE_BYTES_LOW) return found('warning', `only ${size}: a new dataset may not fit`);
  return found('ok', size);
}

function disk({ config: { varDir } }: Checked): readonly Finding[] {
  const { bavail, bsize } = statfsSync(existingFolder(varDir));
  const left = leftIn(varDir).join(', ');
  return [
    ...diskFinding(bavail * bsize),
    ...(left === ''
      ? []
      : found('note', `what was killed has left ${left}; run: situs dataset prune`)),
  ];
}

async function keks({ config, store, storeFault }: Checked): Promise<readonly Finding[]> {
  const counts = store === null ? new Map<string, number>() : await sealedCounts(store);
  const path = config.kek === null ? kekPath(config) : null;
  if (path !== null && !existsSync(path) && counts.size === 0) {
    return found('note', `there is no key file ${path} yet; the server makes it`);
  }
  if (path !== null && existsSync(path)) {
    const problem = modeProblem(statSync(path).mode, path);
    if (problem !== null) return found('fault', problem);
  }
  // With the name of a key that the store uses, the key's file is not made where it is missing.
  const source = openKekSource(config, counts.keys().next().value ?? null);
  for (const id of counts.keys()) source.find(id);
  const from = source instanceof KekFile ? `the key file ${source.path}` : 'SITUS_KEK';
  const sealed = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (source.all().length > 1) {
    return found('warning', `a rotation of ${from} is unfinished; run: situs secrets rotate`);
  }
  if (storeFault !== null) return found('note', `${from} is there; the store does not open`);
  return found('ok', `${from} opens ${sealed} sealed secrets`);
}

async function dataset({ config, now }: Checked): Promise<readonly Finding[]> {
  const name = activeRelease(config.varDir);
  if (name === null) {
    return found('fault', 'no dataset is active; run: situs dataset build --activate');
  }
  const dir = join(releasesDir(config.varDir), name);
  const problems = await problemsOf(dir, true);
  if (problems.length > 0) {
    return found('fault', `dataset ${name} is not sound: ${problems[0]}`);
  }
  const today = now.toISOString().slice(0, 10);
  const stale = readManifest(dir).coverage.flatMap(({ state, levels }) =>
    levels
      .filter(({ until }) => until !== '' && until < today)
      .map(({ level, source, until }) => `${state} ${level} of ${source} (until ${until})`),
  );
  const sound = found('ok', `dataset ${name} is active and sound`);
  if (stale.length === 0) return sound;
  const more = stale.length > STALE_SHOWN ? ` and ${stale.length - STALE_SHOWN} more` : '';
  return [
    ...sound,
    {
      level: 'warning',
      text: `stale: ${stale.slice(0, STALE_SHOWN).join(', ')}${more}`,
    },
  ];
}

async function provider({ config }: Checked): Promise<readonly Finding[]> {
  watchProvider(config, SILENT)?.close();
  const opened = await openProvider(config);
  void opened?.close();
  if (opened === null) {
    return found('note', 'no compliance provider is configured (SITUS_PROVIDER_URL)');
  }
  const name = `the compliance provider is ${config.providerUrl}`;
  if (!config.providerRequired) return found('ok', name);
  try {
    await reachProvider(config);
    return found('ok', `${name} and can be reached`);
  } catch (error) {
    return found(
      'fault',
      `${name} and cannot be reached (${messageOf(error)}): the service is ` +
        'not ready without it (SITUS_PROVIDER_REQUIRED)',
    );
  }
}

function waits(what: string, waiting: number, dead: number): readonly Finding[] {
  return [
    ...(waiting > 0 ? found('note', `${waiting} ${what} wait to be sent`) : []),
    ...(dead > 0
      ? found('warning', `${dead} ${what} could not be sent; see: situs events list`)
      : []),
  ];
}

function events({ config, store }: Checked): readonly Finding[] {
  const { webhook } = readDeliverySettings(config);
  const counts = store === null ? { waiting: 0, dead: 0 } : outboxCounts(store).events;
  return [
    ...(webhook === null
      ? found('note', 'no endpoint for events is configured (SITUS_WEBHOOK_URL)')
      : found('ok', 'events are sent to the configured endpoint')),
    ...waits('events', counts.waiting, counts.dead),
  ];
}

function mails({ config, store }: Checked): readonly Finding[] {
  const { mail } = readDeliverySettings(config);
  const counts = store === null ? { waiting: 0, dead: 0 } : outboxCounts(store).mails;
  if (mail !== null) {
    return [
      ...found('ok', 'invitations are sent through the configured mail server'),
      ...waits('mails', counts.waiting, counts.dead),
    ];
  }
  return counts.waiting > 0
    ? found('warning', `${counts.waiting} mails wait: no mail server is set (SITUS_SMTP_URL)`)
    : found('note', 'no mail server is configured (SITUS_SMTP_URL): invitations would wait');
}

export const CHECKS: readonly Check[] = [
  { name: 'settings', run: settings },
  { name: 'node', run: () => nodeFinding(process.versions.node) },
  { name: 'server', run: transport },
  { name: 'folder', run: folder },
  { name: 'disk', run: disk },
  { name: 'store', run: storeState },
  { name: 'secrets', run: keks },
  { name: 'dataset', run: dataset },
  { name: 'fleet', run: fleet },
  { name: 'files', run: files },
  { name: 'service', run: service },
  { name: 'listeners', run: ({ config }) => listenerFindings(config) },
  { name: 'provider', run: provider },
  { name: 'limits', run: limits },
  { name: 'events', run: events },
  { name: 'mail', run: mails },
];
