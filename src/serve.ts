/**
 * Runs one server: its first dataset, its port, signals, and messages of a supervisor if it has
 * one.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { App } from './app.js';
import { localUrl, type Config } from './config.js';
import { HANGUP_ENDS, type HeldSignals } from './base/held-signals.js';
import { emptyCoreDumps, collectForRequests } from './base/process.js';
import { activeRelease } from './dataset/release.js';
import { type ListenerOrder, Supervised } from './listener/supervised.js';
import { createLog, logConsole, messageOf, type Log } from './log.js';

const COMMAND = fileURLToPath(new URL('./cli.js', import.meta.url));
const FLEET_CHECK_MS = 50;
/** How often a listener checks for the dataset that another one makes. */
const DATASET_LOOK_MS = 200;
const FIRST_BUILD = ['dataset', 'build', '--recipe', 'default', '--activate'];

/** Builds the first dataset in a process of its own, whose memory is free afterwards. */
async function ensureDataset(config: Config, told: AbortSignal): Promise<void> {
  told.throwIfAborted();
  if (activeRelease(config.varDir) !== null) return;
  process.stderr.write('no dataset is active yet: building the default one, once\n');
  const child = spawn(process.execPath, [COMMAND, ...FIRST_BUILD], {
    // Its output is progress, and standard output is for the address only. By the channel it
    // notices when this process ends.
    stdio: ['ignore', process.stderr, process.stderr, 'ipc'],
  });
  const end = (): void => {
    child.kill('SIGTERM');
  };
  told.addEventListener('abort', end);
  const [code] = (await once(child, 'exit')) as [number | null];
  told.removeEventListener('abort', end);
  if (code !== 0) throw new Error('the default dataset could not be built');
}

/** Waits for the dataset of the fleet, where this node has none yet. */
async function fleetDataset({ live }: App, told: AbortSignal): Promise<void> {
  if (live.release !== null) return;
  process.stderr.write('no dataset is active yet: waiting for the one of the fleet\n');
  while (live.release === null) {
    told.throwIfAborted();
    await delay(FLEET_CHECK_MS);
  }
}

/** The server goes on when its log has no reader any more, or cannot be written. */
function outliveReaders(): void {
  for (const output of [process.stdout, process.stderr]) {
    output.removeAllListeners('error').on('error', () => undefined);
  }
}

/** The configuration of a listener: the given port, and its share of the processors. */
function listenerConfig(config: Config, { count, port, index }: ListenerOrder): Config {
  const cores = Math.floor(availableParallelism() / count);
  const [, host = '', metricsPort = ''] = /^(.*):(\d+)$/.exec(config.metrics) ?? [];
  return {
    ...config,
    port,
    workers: config.workers > 0 ? config.workers : Math.max(1, cores - 1),
    bulkWorkers: config.bulkWorkers > 0 ? config.bulkWorkers : Math.max(1, cores),
    metrics: Number(metricsPort) === 0 ? config.metrics : `${host}:${Number(metricsPort) + index}`,
  };
}

/** Waits for the first dataset, which the first listener makes. */
async function awaitDataset(config: Config, told: AbortSignal): Promise<void> {
  while (activeRelease(config.varDir) === null) {
    told.throwIfAborted();
    await delay(DATASET_LOOK_MS);
  }
}

/** Listens, and returns once lookups are answered; until then it reports that it is not ready. */
async function begin(
  app: App,
  { config, supervised }: ServerSettings,
  told: AbortSignal,
): Promise<void> {
  // Printed before anything can fail, since the key cannot be shown again.
  if (app.firstKey !== null) process.stdout.write(`First API key, shown once: ${app.firstKey}\n`);
  told.throwIfAborted();
  // The server that this one replaces still answers, so it can wait until it is warm.
  if (supervised !== null && activeRelease(config.varDir) !== null) await app.warm();
  told.throwIfAborted();
  const port = await app.listen();
  if (config.datasets !== '') await fleetDataset(app, told);
  else if (supervised === null || supervised.order.index === 0) await ensureDataset(config, told);
  else await awaitDataset(config, told);
  told.throwIfAborted();
  app.live.check();
  await app.live.ready();
  supervised?.ready();
  if (supervised !== null) return;
  process.stdout.write(`Situs answers on ${localUrl(config.host, port, config.tls !== null)}\n`);
}

interface ServerSettings {
  readonly config: Config;
  readonly log: Log;
  /** Null for a server that is alone on its port. */
  readonly supervised: Supervised | null;
}

/** Ends the process when a signal or its supervisor says so, even while it is still starting. */
class Ending {
  /** Aborted when the server is told to stop. */
  readonly told = new AbortController();
  readonly #log: Log;
  readonly #supervised: Supervised | null;
  /** Null until everything is open. */
  #app: App | null = null;
  #begun = false;
  /** Whether logs and certificate are to be read again once everything is open. */
  #reloads = false;

  constructor({ log, supervised }: ServerSettings, signals: HeldSignals) {
    this.#log = log;
    this.#supervised = supervised;
    process.on('SIGTERM', this.#stop).on('SIGINT', this.#stop);
    if (!HANGUP_ENDS) signals.pass('SIGHUP', this.#reload);
    signals.pass('SIGUSR2', this.#reload);
    // Its supervisor was killed, and nothing else would end it.
    if (supervised !== null) process.on('disconnect', () => this.#stop('disconnect'));
  }

  /** Everything is open, so it can be closed from now on. */
  opened(app: App): void {
    this.#app = app;
    if (this.#reloads) void app.reload();
  }

  /** It answers, so requests under way are finished from now on. */
  begun(app: App): void {
    this.#begun = true;
    this.#supervised?.onLeave(() => {
      this.#log.info('leaving');
      this.end(app.leave());
    });
  }

  /** Ends the process after `ended`; with 1 if that rejects. */
  end(ended: Promise<void>): void {
    ended.then(
      () => process.exit(0),
      (error: unknown) => {
        this.#log.error('stopped badly', { message: messageOf(error) });
        process.exit(1);
      },
    );
  }

  readonly #stop = (signal: string): void => {
    this.#log.info('stopping', { signal });
    this.told.abort();
    const app = this.#app;
    // During a start, `serve` closes the app.
    if (app !== null && this.#begun) this.end(app.drain().then(() => app.stop()));
  };

  readonly #reload = (signal: string): void => {
    if (signal === 'SIGUSR2') {
      if (this.#supervised !== null) return;
      this.#log.warn('not replaced: that needs SITUS_SUPERVISED=1', { help: 'docs/operating.md' });
    }
    if (this.#app === null) this.#reloads = true;
    else void this.#app.reload();
  };
}

/**
 * Runs a server until it is told to stop.
 * @param order its place among several listeners; null for a server that is alone
 */
export async function serve(
  settings: Config,
  order: ListenerOrder | null,
  signals: HeldSignals,
): Promise<void> {
  outliveReaders();
  collectForRequests();
  const config = order === null ? settings : listenerConfig(settings, order);
  const log = createLog(
    config.logLevel,
    undefined,
    order === null ? {} : { listener: order.index, pid: process.pid },
  );
  logConsole(log);
  if (!config.coreDumps && !emptyCoreDumps()) {
    log.warn('core dumps of this process may hold secrets', { help: 'docs/operating.md' });
  }
  const supervised = order === null ? null : new Supervised(order, process);
  const server = { config, log, supervised };
  const ending = new Ending(server, signals);
  const { signal } = ending.told;
  const app = await App.start(server);
  ending.opened(app);
  try {
    await begin(app, server, signal);
    signal.throwIfAborted();
  } catch (error) {
    if (signal.aborted) return ending.end(app.stop());
    await app.stop();
    throw error;
  }
  ending.begun(app);
}
