/** One server: first dataset, listening, signals, and what its supervisor says where it has one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';
import { App } from './app.js';
import { localUrl, type Config } from './config.js';
import { emptyCoreDumps } from './core-dumps.js';
import { activeRelease } from './dataset/release.js';
import { Supervised, type ListenerOrder } from './listener/supervised.js';
import { createLog, messageOf, type Log } from './log.js';

const COMMAND = fileURLToPath(new URL('./cli.js', import.meta.url));
const STANDARD_INPUT = 0;
const FLEET_CHECK_MS = 50;
/** How often a listener looks for a dataset that another makes. */
const DATASET_LOOK_MS = 200;
const FIRST_BUILD = ['dataset', 'build', '--recipe', 'default', '--activate'];

/** Builds the first dataset in a process of its own, which gives its memory back. */
async function ensureDataset(config: Config): Promise<void> {
  if (activeRelease(config.varDir) !== null) return;
  process.stderr.write('no dataset is active yet: building the default one, once\n');
  const child = spawn(process.execPath, [COMMAND, ...FIRST_BUILD], {
    // Its output is progress here; standard output is for the address alone.
    stdio: ['ignore', process.stderr, process.stderr],
  });
  const end = (): void => {
    child.kill('SIGTERM');
  };
  process.once('SIGTERM', end).once('SIGINT', end);
  const [code] = await once(child, 'exit') as [number | null];
  process.off('SIGTERM', end).off('SIGINT', end);
  if (code !== 0) throw new Error('the default dataset could not be built');
}

/** Waits for the dataset of the fleet, where this node has none yet. */
async function fleetDataset({ live }: App): Promise<void> {
  if (live.release !== null) return;
  process.stderr.write('no dataset is active yet: waiting for the one of the fleet\n');
  let ended = false;
  const end = (): void => {
    ended = true;
  };
  process.once('SIGTERM', end).once('SIGINT', end);
  while (live.release === null && !ended) await delay(FLEET_CHECK_MS);
  process.off('SIGTERM', end).off('SIGINT', end);
  if (ended) throw new Error('ended before there was a dataset of the fleet');
}

/** A log that nobody reads any more, or that cannot be written, is no reason to stop answering. */
function outliveReaders(): void {
  for (const output of [process.stdout, process.stderr]) {
    output.removeAllListeners('error').on('error', () => undefined);
  }
}

/** What is different with a supervisor: the port, and a part of the machine. */
function listenerConfig(config: Config, { count, port, index }: ListenerOrder): Config {
  const cores = Math.floor(availableParallelism() / count);
  const [, host = '', metricsPort = ''] = /^(.*):(\d+)$/.exec(config.metrics) ?? [];
  return {
    ...config, port,
    workers: config.workers > 0 ? config.workers : Math.max(1, cores - 1),
    bulkWorkers: config.bulkWorkers > 0 ? config.bulkWorkers : Math.max(1, cores),
    metrics: Number(metricsPort) === 0
      ? config.metrics : `${host}:${Number(metricsPort) + index}`,
  };
}

/** The first listener makes the first dataset, the others wait for it. */
async function awaitDataset(config: Config): Promise<void> {
  while (activeRelease(config.varDir) === null) {
    await delay(DATASET_LOOK_MS);
  }
}

function listenToSignals(
  app: App, log: Log, supervised: Supervised | null,
): void {
  const end = (ended: Promise<void>): void => {
    ended.then(
      () => process.exit(0),
      (error: unknown) => {
        log.error('stopped badly', { message: messageOf(error) });
        process.exit(1);
      },
    );
  };
  const stop = (signal: string): void => {
    log.info('stopping', { signal });
    end(app.drain().then(() => app.stop()));
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
  // In a terminal its end ends the server, as it does any program.
  if (!isatty(STANDARD_INPUT)) process.on('SIGHUP', () => void app.reload());
  if (supervised === null) {
    process.on('SIGUSR2', () => {
      log.warn('not replaced: that needs SITUS_SUPERVISED=1', { help: 'docs/operating.md' });
      void app.reload();
    });
    return;
  }
  supervised.onLeave(() => {
    log.info('leaving');
    end(app.leave());
  });
  // Its supervisor was killed: nobody else would end it.
  process.on('disconnect', () => stop('disconnect'));
}

/**
 * Runs a server until it is told to stop.
 * @param order what it is to be among others; null for one that is alone
 */
export async function serve(settings: Config, order: ListenerOrder | null): Promise<void> {
  outliveReaders();
  const config = order === null ? settings : listenerConfig(settings, order);
  const log = createLog(
    config.logLevel, undefined, order === null ? {} : { listener: order.index, pid: process.pid },
  );
  if (!config.coreDumps && !emptyCoreDumps()) {
    log.warn('core dumps of this process may hold secrets', { help: 'docs/operating.md' });
  }
  const supervised = order === null ? null : new Supervised(order, process);
  const app = await App.start({ config, log, supervised });
  // Before anything else can go wrong: it cannot be shown again.
  if (app.firstKey !== null) process.stdout.write(`First API key, shown once: ${app.firstKey}\n`);
  try {
    // What it replaces answers meanwhile.
    if (supervised !== null && activeRelease(config.varDir) !== null) await app.warm();
    const port = await app.listen();
    // Meanwhile it answers that it is not ready.
    if (config.datasets !== '') await fleetDataset(app);
    else await (order === null || order.index === 0 ? ensureDataset(config) : awaitDataset(config));
    app.live.check();
    await app.live.ready();
    supervised?.ready();
    if (supervised === null) {
      process.stdout.write(
        `Situs answers on ${localUrl(config.host, port, config.tls !== null)}\n`);
    }
  } catch (error) {
    await app.stop();
    throw error;
  }
  listenToSignals(app, log, supervised);
}
