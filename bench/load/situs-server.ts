/** The compiled service in a process of its own, on a store of its own over a folder's dataset. */
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
  /** The end of its log where that is not shown, and how it ended if it did. */
  readonly lastWords: string;
  /** Workers that ended and were replaced, as such a log says. */
  readonly workersEnded: number;
  stop(): Promise<void>;
}

const LAST_WORDS_MAX = 16_384;
const WORKER_ENDED = '"event":"worker ended"';

/** Follows what a server writes to its log, if that is piped, and how it ends. */
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

/** Which HTTP server measures and attacks are for: as SITUS_TRANSPORT says of this process. */
export function chosenTransport(): Readonly<Record<string, string>> {
  const { SITUS_TRANSPORT } = process.env;
  return SITUS_TRANSPORT === undefined ? {} : { SITUS_TRANSPORT };
}

/** Makes keys without limits other than a rate in a folder of variables. */
async function makeKeys(varDir: string, texts: readonly string[], rate: number): Promise<void> {
  const store = await Store.open(varDir);
  for (const text of texts) await createKey(store, { text, plan: 'enterprise', rate });
  await store.close();
}

/**
 * Starts it, with further settings; the datasets are only read. `quiet` shows nothing of what it
 * logs and keeps the end of it; `keys` are made before, each with a rate.
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
