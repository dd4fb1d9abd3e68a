/** The server process: first dataset, listening, signals. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';
import { App } from './app.js';
import { loadConfig, localUrl, type Config } from './config.js';
import { emptyCoreDumps } from './core-dumps.js';
import { activeRelease } from './dataset/release.js';
import { createLog, messageOf } from './log.js';

const COMMAND = fileURLToPath(new URL('./cli.js', import.meta.url));
const STANDARD_INPUT = 0;
const FLEET_CHECK_MS = 50;
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

async function main(): Promise<void> {
  outliveReaders();
  const config = loadConfig();
  const log = createLog(config.logLevel);
  if (!config.coreDumps && !emptyCoreDumps()) {
    log.warn('core dumps of this process may hold secrets', { help: 'docs/operating.md' });
  }
  const app = await App.start({ config, log });
  // Before anything else can go wrong: it cannot be shown again.
  if (app.firstKey !== null) process.stdout.write(`First API key, shown once: ${app.firstKey}\n`);
  const stop = (signal: string): void => {
    log.info('stopping', { signal });
    app.drain().then(() => app.stop()).then(
      () => process.exit(0),
      (error: unknown) => {
        log.error('stopped badly', { message: messageOf(error) });
        process.exit(1);
      },
    );
  };
  try {
    const port = await app.listen();
    // Meanwhile it answers that it is not ready.
    if (config.datasets === '') await ensureDataset(config);
    else await fleetDataset(app);
    app.live.check();
    await app.live.ready();
    process.stdout.write(`Situs answers on ${localUrl(config.host, port, config.tls !== null)}\n`);
  } catch (error) {
    await app.stop();
    throw error;
  }
  process.on('SIGTERM', stop).on('SIGINT', stop);
  // In a terminal its end ends the server, as it does any program.
  if (!isatty(STANDARD_INPUT)) process.on('SIGHUP', () => void app.reload());
}

main().catch((error: unknown) => {
  process.stderr.write(`situs: ${messageOf(error)}\n`);
  process.exit(1);
});
