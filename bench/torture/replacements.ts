/**
 * Listeners are replaced over and over during lookups at a steady rate, half of them on connections
 * of their own and half on kept ones. None may be refused or fail.
 */
import { fork, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createKey } from '../../src/store/keys.js';
import { Store } from '../../src/store/store.js';
import { buildRecipe } from '../../test/support/built-dataset.js';
import { LATER_OPTIMIZED, MAIN } from '../../test/support/program.js';

export const REPLACEMENTS = 100;
export const REPLACE_RATE = 2_000;

const KEY = 'a-key-for-replacements';
const PATH = '/request/v60?postalcode=91010';
const EACH_MS = 5;
const LOOK_MS = 20;
const KEPT_MAX = 64;
/** With so many unanswered requests, no more are sent. */
const UNDER_WAY_MAX = 400;
/** How long one replacement may take, even beside many other programs. */
const REPLACED_MS_MAX = 180_000;
/** How long to wait for the last answers at the end of the load. */
const ENDING_MS = 15_000;
const MIGRATE = '/proc/sys/net/ipv4/tcp_migrate_req';

interface ReplacementsResult {
  readonly replacements: number;
  readonly answered: number;
  /** How many of those came on connections of their own. */
  readonly fresh: number;
  readonly refused: number;
  readonly failed: number;
  /** The longest time from a request to its answer, in milliseconds. */
  readonly worst: number;
  /** How many requests a second the machine allowed. */
  readonly rate: number;
  /** Whether the kernel passes connections on that a closed socket has not accepted. */
  readonly migrates: boolean;
  readonly wrong: readonly string[];
}

/** The counts of the load. */
interface Load {
  sent: number;
  answered: number;
  fresh: number;
  refused: number;
  failed: number;
  worst: number;
  reasons: string[];
}

function noteFailure(load: Load, reason: string): void {
  load.failed += 1;
  if (load.reasons.length < 20) load.reasons.push(reason);
}

/**
 * Sends requests at a steady rate, whether or not earlier ones were answered, until the function
 * returned is called.
 */
function sendAll(port: number, rate: number, load: Load): () => Promise<void> {
  const kept = new Agent({ keepAlive: true, maxSockets: KEPT_MAX });
  const from = performance.now();
  let [ended, asked] = [false, 0];
  const one = (isFresh: boolean): void => {
    const sentAt = performance.now();
    load.sent += 1;
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path: PATH,
        agent: isFresh ? false : kept,
        headers: { 'X-API-KEY': KEY },
      },
      (answer) => {
        answer.resume();
        answer
          .on('end', () => {
            load.answered += 1;
            if (isFresh) load.fresh += 1;
            load.worst = Math.max(load.worst, performance.now() - sentAt);
            if (answer.statusCode !== 200) fail(`status ${answer.statusCode}`);
          })
          .on('error', (error) => fail(String(error)));
      },
    );
    sent.on('error', (error: NodeJS.ErrnoException) => {
      load.answered += 1;
      if (error.code === 'ECONNREFUSED') load.refused += 1;
      // The error notes if a kept connection ended before any byte of the answer, as any client
      // would then repeat the request.
      else fail(`${String(error)}${sent.reusedSocket ? ' on a kept connection' : ''}`);
    });
    sent.end();
  };
  const fail = (reason: string): void => noteFailure(load, reason);
  const timer = setInterval(() => {
    // Requests that a busy machine is too slow for are left out.
    const due = Math.floor(((performance.now() - from) / 1_000) * rate) - asked;
    asked += due;
    for (
      let left = Math.min(due, UNDER_WAY_MAX - (load.sent - load.answered));
      left > 0;
      left -= 1
    ) {
      if (!ended) one(load.sent % 2 === 0);
    }
  }, EACH_MS);
  return async () => {
    ended = true;
    clearInterval(timer);
    const until = performance.now() + ENDING_MS;
    while (load.answered < load.sent && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    if (load.answered < load.sent) fail(`${load.sent - load.answered} without an answer`);
    kept.destroy();
  };
}

function childrenOf({ pid }: ChildProcess): readonly string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ');
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function startSupervised(
  varDir: string,
  listeners: number,
): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const child = spawn(process.execPath, [...LATER_OPTIMIZED, MAIN], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      SITUS_VAR: varDir,
      SITUS_SUPERVISED: '1',
      SITUS_LISTENERS: String(listeners),
      SITUS_WORKERS: '1',
      SITUS_LOG: 'error',
    },
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const found = /:(\d+)$/.exec(line)?.[1];
    if (found !== undefined) return { child, port: Number(found) };
  }
  throw new Error('the supervisor did not start');
}

/**
 * Replaces the listeners once; resolves when none of the former processes is left.
 * @throws Error if that takes too long, or the supervisor has ended.
 */
async function replaceOnce(child: ChildProcess, listeners: number): Promise<void> {
  const before = childrenOf(child);
  child.kill('SIGUSR2');
  for (const until = performance.now() + REPLACED_MS_MAX; ; ) {
    if (hasEnded(child)) throw new Error('the supervisor has ended');
    if (performance.now() > until) throw new Error('a listener was not replaced');
    const now = childrenOf(child);
    if (now.length === listeners && !now.some((pid) => before.includes(pid))) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** Runs the load in this process. */
async function runLoad(port: number, rate: number): Promise<void> {
  const load: Load = {
    sent: 0,
    answered: 0,
    fresh: 0,
    refused: 0,
    failed: 0,
    worst: 0,
    reasons: [],
  };
  const end = sendAll(port, rate, load);
  process.once('message', () => {
    void end().then(() => process.send?.(load, () => process.exit()));
  });
  await once(process, 'disconnect');
}

/** Whether the kernel of this machine passes waiting connections on. */
function migrates(): boolean {
  try {
    return readFileSync(MIGRATE, 'latin1').trim() === '1';
  } catch {
    return false;
  }
}

/** Replaces listeners `count` times, at `rate` requests a second. */
export async function replacements(
  count: number,
  rate: number,
  listeners: number,
  report: (line: string) => void,
): Promise<ReplacementsResult> {
  const built = buildRecipe('fixture');
  const store = await Store.open(built.varDir);
  await createKey(store, { plan: 'enterprise', text: KEY, rate: 100_000_000 });
  await store.close();
  const { child, port } = await startSupervised(built.varDir, listeners);
  const client = fork(fileURLToPath(import.meta.url), { execArgv: [] });
  try {
    client.send({ port, rate });
    const from = performance.now();
    for (let done = 1; done <= count; done += 1) {
      await replaceOnce(child, listeners);
      if (done % 10 === 0) report(`${done} replacements`);
    }
    const seconds = (performance.now() - from) / 1_000;
    client.send('end');
    const [load] = (await once(client, 'message')) as [Load];
    const { answered, fresh, refused, failed, worst, reasons } = load;
    const wrong =
      refused + failed === 0 ? [] : [`refused ${refused}, failed ${failed}`, ...reasons];
    return {
      replacements: count,
      answered,
      fresh,
      refused,
      failed,
      worst,
      wrong,
      rate: Math.round(answered / seconds),
      migrates: migrates(),
    };
  } finally {
    client.kill('SIGKILL');
    const ended = hasEnded(child) ? null : once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
    built.remove();
  }
}

/**
 * Runs this file in a network namespace in which the kernel passes connections on; null where this
 * process may not make one.
 */
export function inOwnNetwork(words: readonly string[]): number | null {
  const script = `ip link set lo up && echo 1 > ${MIGRATE} && exec "$0" "$@"`;
  const probe = spawnSync('unshare', ['-n', 'sh', '-c', script, 'true']);
  if (probe.status !== 0) return null;
  return spawnSync('unshare', ['-n', 'sh', '-c', script, process.execPath, ...words], {
    stdio: 'inherit',
  }).status;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.once('message', ({ port, rate }: { readonly port: number; readonly rate: number }) => {
    void runLoad(port, rate);
  });
}
