/** The compiled server as a child process with a folder of its own, which is killed. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type ClientRequest, request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { placeRecipe } from '../../test/support/built-dataset.js';
import { CLI, LATER_OPTIMIZED, MAIN } from '../../test/support/program.js';
import { chosenTransport } from '../load/situs-server.js';

const KEY = 'a-key-for-the-torture';
const RATE = '100000000';
/** How long a new key may take; on a machine with time for it, one second. */
const KNOWN_MS = 10_000;
const KNOWN_LOOK_MS = 20;

/** The result of a case. */
export interface CaseOutcome {
  readonly summary: string;
  /** The faults, in one sentence each. */
  readonly wrong: readonly string[];
}

export interface Answer {
  readonly status: number;
  readonly replayed: boolean;
  readonly text: string;
}

/** Waits for the complete answer to a request. */
export async function answerTo(sent: ClientRequest, signal?: AbortSignal): Promise<Answer> {
  const waiting = signal === undefined ? {} : { signal };
  const [answer] = (await once(sent, 'response', waiting)) as [IncomingMessage];
  const pieces: Buffer[] = [];
  for await (const piece of answer as AsyncIterable<Buffer>) pieces.push(piece);
  return {
    status: answer.statusCode ?? 0,
    replayed: answer.headers['idempotency-replayed'] === 'true',
    text: Buffer.concat(pieces).toString('utf8'),
  };
}

/** Names of merchants by id, from the body that lists them. */
export function merchantNames(text: string): ReadonlyMap<string, string> {
  const merchants = JSON.parse(text) as readonly { merchantId: string; merchantName: string }[];
  return new Map(merchants.map(({ merchantId, merchantName }) => [merchantId, merchantName]));
}

export class TortureService {
  readonly varDir = mkdtempSync(join(tmpdir(), 'situs-torture-'));
  #child: ChildProcess | null = null;
  #base = '';
  readonly #settings: Readonly<Record<string, string>>;

  /** `settings` are added to those of every case. */
  constructor(settings: Readonly<Record<string, string>> = {}) {
    this.#settings = settings;
  }

  /** Adds the dataset of the invented country, in which the addresses of nexus locations are. */
  prepare(): void {
    placeRecipe(this.varDir, 'fixture');
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, [...LATER_OPTIMIZED, MAIN], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: this.#environment(),
    });
    this.#child = child;
    for await (const line of createInterface({ input: child.stdout })) {
      const found = /(http:\/\/\S+:\d+)$/.exec(line);
      if (found === null) continue;
      this.#base = found[1] ?? '';
      return;
    }
    throw new Error('the server did not start');
  }

  /** Kills the server, like a loss of power: no code of it runs any more. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    this.#child = null;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Sends a request. Rejects when the connection is lost before the answer is complete. */
  async post(path: string, body: object, idempotencyKey?: string, key = KEY): Promise<Answer> {
    return this.#ask('POST', path, JSON.stringify(body), {
      'X-API-KEY': key,
      'Content-Type': 'application/json',
      ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
    });
  }

  /** Sends rows of a content type. */
  async send(path: string, body: string, type: string): Promise<Answer> {
    return this.#ask('POST', path, body, { 'X-API-KEY': KEY, 'Content-Type': type });
  }

  async get(path: string, key = KEY): Promise<Answer> {
    return this.#ask('GET', path, '', { 'X-API-KEY': key });
  }

  /** Makes a key for an account of its own, without limits other than a rate. */
  async key(account: string): Promise<{ readonly id: string; readonly key: string }> {
    const text = await this.command([
      'key',
      'create',
      '--plan',
      'enterprise',
      '--account',
      account,
      '--rate',
      RATE,
      '--json',
    ]);
    const made = JSON.parse(text) as { id: string; key: string };
    await this.#knows(made.key);
    return made;
  }

  /**
   * Waits until the server knows a key that another process has made, for which it checks
   * regularly.
   */
  async #knows(key: string): Promise<void> {
    const until = performance.now() + KNOWN_MS;
    for (;;) {
      const { status } = await this.get('/merchant/list', key);
      if (status === 200) return;
      if (performance.now() > until) throw new Error(`a key is not known after ${KNOWN_MS} ms`);
      await new Promise((resolve) => setTimeout(resolve, KNOWN_LOOK_MS));
    }
  }

  /** Does not use `fetch`, whose promise sometimes never settles when the other side is killed. */
  async #ask(
    method: string,
    path: string,
    body: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<Answer> {
    const sent = request(this.#base + path, { method, headers });
    // If the connection is lost during the answer, the answer reports that too.
    sent.on('error', () => undefined);
    sent.end(body);
    return answerTo(sent);
  }

  /** Runs `situs ARGS` in a process of its own, and returns its output. */
  async command(args: readonly string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, [CLI, ...args], {
      env: this.#environment(),
    });
    return stdout;
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.varDir, { recursive: true, force: true });
  }

  #environment(): NodeJS.ProcessEnv {
    return {
      PATH: process.env['PATH'],
      SITUS_VAR: this.varDir,
      HOST: '127.0.0.1',
      PORT: '0',
      SITUS_LOG: 'error',
      SITUS_WORKERS: '1',
      SITUS_BOOTSTRAP_KEY: KEY,
      SITUS_BOOTSTRAP_RATE: RATE,
      ...chosenTransport(),
      ...this.#settings,
    };
  }
}
