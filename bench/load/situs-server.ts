/**
 * The compiled service in a process of its own, with a new store and the datasets of an existing
 * folder.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { releasesDir } from '../../src/dataset/release.js';
import { createKey } from '../../src/store/keys.js';
import { Store } from '../../src/store/store.js';
import { LATER_OPTIMIZED, MAIN } from '../../test/support/program.js';

export const BENCH_KEY = 'bench-key-0123456789';

export interface SitusServer {
  readonly port: number;
  readonly pid: number;
  /** The end of its log if that is not printed, and how the process ended if it did. */
  readonly lastWords: string;
  /** How many workers ended and were replaced, if its log is not printed. */
  readonly workersEnded: number;
  stop(): Promise<void>;
}

const LAST_WORDS_MAX = 16_384;
const WORKER_ENDED = '"event":"worker ended"';

/** Keeps the end of a server's log if that is piped, and how the server ended. */
class LastWords {
  #text = '';
  workersEnded = 0;
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
    if (child.stderr === null) return;
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (line.includes(WORKER_ENDED)) this.workersEnded += 1;
      this.#text = `${this.#text}${line}\n`.slice(-LAST_WORDS_MAX);
    });
  }

  get text(): string {
    const { exitCode, signalCode } = this.#child;
    const how = exitCode ?? signalCode;
    return how === null ? this.#text : `${this.#text}ended with ${how}`;
  }
}

async function firstPort(child: ChildProcess): Promise<number> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const found = /:(\d+)$/.exec(line);
    if (found !== null) return Number(found[1]);
  }
  throw new Error('the server did not start');
}

/** The HTTP server to use in measurements and attacks: that of SITUS_TRANSPORT in this process. */
export function chosenTransport(): Readonly<Record<string, string>> {
  const { SITUS_TRANSPORT } = process.env;
  return SITUS_TRANSPORT === undefined ? {} : { SITUS_TRANSPORT };
}

/** Makes keys in a folder of variables, without limits other than a rate. */
async function makeKeys(varDir: string, texts: readonly string[], rate: number): Promise<void> {
  const store = await Store.open(varDir);
  for (const text of texts) await createKey(store, { text, plan: 'enterprise', rate });
  await store.close();
}

/**
 * Starts the service, with further settings; datasets are only read. With `quiet` its log is not
 * printed, but its end is kept. `keys` are made first, each with the given rate.
 */
export async function startSitus(
  varDir: string,
  environment: Readonly<Record<string, string>> = {},
  quiet = false,
  keys: { readonly texts: readonly string[]; readonly rate: number } | null = null,
): Promise<SitusServer> {
  const own = mkdtempSync(join(tmpdir(), 'situs-bench-'));
  symlinkSync(releasesDir(varDir), releasesDir(own));
  if (keys !== null) await makeKeys(own, keys.texts, keys.rate);
  const child = spawn(process.execPath, [...LATER_OPTIMIZED, MAIN], {
    stdio: ['ignore', 'pipe', quiet ? 'pipe' : 'inherit'],
    env: {
      PATH: process.env['PATH'],
      SITUS_VAR: own,
      PORT: '0',
      SITUS_LOG: 'error',
      SITUS_BOOTSTRAP_KEY: BENCH_KEY,
      SITUS_BOOTSTRAP_RATE: '100000000',
      ...chosenTransport(),
      ...environment,
    },
  });
  const words = new LastWords(child);
  const port = await firstPort(child);
  return {
    port,
    pid: child.pid!,
    get lastWords() {
      return words.text;
    },
    get workersEnded() {
      return words.workersEnded;
    },
    stop: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      rmSync(own, { recursive: true, force: true });
    },
  };
}
