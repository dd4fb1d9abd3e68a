/** A server over damaged releases, with lookups whose right answers are known. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { releasesDir } from '../../src/dataset/release.js';
import { CLI, LATER_OPTIMIZED, MAIN } from '../../test/support/program.js';
import { BENCH_KEY, startSitus, type SitusServer } from '../load/situs-server.js';

const LOOKUP_MS = 10;
const LOOKUPS_AT_ONCE = 4;
const PATIENCE_MS = 30_000;
/** A command or a start that takes longer counts as one that never ends. */
const END_MS = 240_000;
const FAULTS_TOLD_MAX = 10;

const QUERIES: readonly string[] = [
  ...Array.from(
    { length: 40 },
    (_, index) => `address=${100 + 2 * index}+Main+St,+Elmton,+QA+91010`,
  ),
  ...Array.from({ length: 40 }, (_, index) => `postalcode=${91_000 + index}`),
  'lat=45.1&lng=-93.1',
  'lat=0.5&lng=0.5',
  'lat=1.25&lng=2.5',
];

interface Told {
  readonly dataset: string | null;
  readonly refused?: { readonly dataset: string | null };
}

/** Makes a release the active one without any check. */
export function point(varDir: string, text: string): void {
  const file = join(releasesDir(varDir), 'CURRENT');
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

/** Runs `situs ARGS`. */
export async function runCommand(
  varDir: string,
  args: readonly string[],
): Promise<{
  readonly code: number | null;
  readonly signal: string | null;
  readonly told: string;
}> {
  return runProcess(CLI, args, varDir);
}

async function runProcess(
  file: string,
  args: readonly string[],
  varDir: string,
): Promise<{
  readonly code: number | null;
  readonly signal: string | null;
  readonly told: string;
}> {
  const child = spawn(process.execPath, [...LATER_OPTIMIZED, file, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      SITUS_VAR: varDir,
      HOST: '127.0.0.1',
      PORT: '0',
      SITUS_LOG: 'error',
      SITUS_BOOTSTRAP_KEY: BENCH_KEY,
      SITUS_WORKERS: '1',
    },
  });
  let told = '';
  child.stderr.on('data', (bytes: Buffer) => {
    told += bytes.toString();
  });
  // A server that starts is ended, since the start is all that matters.
  child.stdout.on('data', (bytes: Buffer) => {
    if (!bytes.toString().includes('answers on')) return;
    told += 'started';
    child.kill('SIGTERM');
  });
  const late = setTimeout(() => {
    told += `no end after ${END_MS / 1_000} s`;
    child.kill('SIGKILL');
  }, END_MS);
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  clearTimeout(late);
  return { code, signal, told };
}

/** Starts a server in a folder, and returns how that ended. */
export function tryStart(varDir: string): ReturnType<typeof runProcess> {
  return runProcess(MAIN, [], varDir);
}

/** A server under a steady load of lookups. */
export class TornServer {
  answered = 0;
  readonly wrong: string[] = [];
  readonly #server: SitusServer;
  /** Right answers by release and query. */
  readonly #sound = new Map<string, string>();
  #running: Promise<unknown> = Promise.resolve();
  #over = false;

  private constructor(server: SitusServer) {
    this.#server = server;
  }

  static async start(varDir: string): Promise<TornServer> {
    // Without cached answers, every lookup reaches a worker and the data.
    return new TornServer(
      await startSitus(
        varDir,
        {
          SITUS_ANSWER_CACHE_MIB: '0',
          SITUS_WORKERS: '1',
          SITUS_BULK_WORKERS: '1',
        },
        true,
      ),
    );
  }

  /** Keeps the answers of the active release, which must be sound. */
  async learn(): Promise<void> {
    for (const query of QUERIES) {
      const { dataset, answer } = await this.#ask(query);
      this.#sound.set(`${dataset} ${query}`, answer);
    }
  }

  /** Sends lookups and compares their answers until `stop`. */
  begin(): void {
    this.#running = Promise.all(Array.from({ length: LOOKUPS_AT_ONCE }, (_, at) => this.#load(at)));
  }

  async stop(): Promise<void> {
    this.#over = true;
    await this.#running;
    await this.#server.stop();
  }

  /** Waits until the server's health report meets a condition. */
  async until(what: string, holds: (told: Told) => boolean): Promise<boolean> {
    const until = performance.now() + PATIENCE_MS;
    while (performance.now() < until) {
      try {
        const answer = await fetch(`http://127.0.0.1:${this.#server.port}/system/health`);
        if (holds((await answer.json()) as Told)) return true;
      } catch (error) {
        this.#fault(`the server is gone: ${String(error)}`);
        return false;
      }
      await delay(LOOKUP_MS);
    }
    this.#fault(`the server did not come to this: ${what}`);
    return false;
  }

  #fault(text: string): void {
    if (this.wrong.length < FAULTS_TOLD_MAX) this.wrong.push(text);
  }

  async #load(at: number): Promise<void> {
    for (let next = at; !this.#over && this.wrong.length < FAULTS_TOLD_MAX; next += 1) {
      const query = QUERIES[(next * 7) % QUERIES.length]!;
      try {
        const { dataset, answer } = await this.#ask(query);
        this.answered += 1;
        const sound = this.#sound.get(`${dataset} ${query}`);
        if (answer !== sound) {
          this.#fault(
            `${query} by ${dataset}: ${answer.slice(0, 300)}, not ${sound?.slice(0, 300)}`,
          );
        }
      } catch (error) {
        this.#fault(`${query}: ${String(error)}`);
      }
      await delay(LOOKUP_MS);
    }
  }

  async #ask(query: string): Promise<{ readonly dataset: string; readonly answer: string }> {
    const answer = await fetch(`http://127.0.0.1:${this.#server.port}/request/v60?${query}`, {
      headers: { 'X-API-KEY': BENCH_KEY },
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const dataset = (answer.headers.get('x-situs-dataset') ?? '').split(';')[0] ?? '';
    return { dataset, answer: `${answer.status} ${await answer.text()}` };
  }
}
