/**
 * Tests whether one client can hold up the others: sends hostile and large bodies of one key to
 * every operation that takes a body, beside steady lookups of another key, whose times are
 * measured.
 */
import { setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { buildRecipe } from '../../test/support/built-dataset.js';
import { KEYS, newMerchantDir, removeDirs } from '../../test/support/merchant-service.js';
import { Simulator } from '../../src/provider/simulator/server.js';
import { startSitus, type SitusServer } from '../load/situs-server.js';
import { attacksOn, type Attack } from './attacks.js';
import { bodyOperationsOf } from './hostile-requests.js';
import { newMerchants } from './large-carts.js';
import { silenceOf } from './operations.js';
import { ServerMemory } from './server-memory.js';
import { SteadyLookups, type Latencies } from './steady-lookups.js';

const MIB = 1_048_576;
/** On a quiet machine, 99 of 100 lookups must be answered within this time. */
const P99_MS_MAX = 20;
/** On a busy machine the limit is this many times the time without an attack. */
const IDLE_TIMES = 3;
/** An attack that exceeds the limit this many times in a row is no coincidence. */
const TRIES = 3;
/** How long times without an attack are measured, and how long to wait before. */
interface Quiet {
  readonly warmMs: number;
  readonly idleMs: number;
}
const QUIET: Quiet = { warmMs: 1_500, idleMs: 2_000 };
/** How long a lookup may take; an attack may be over before the first answer. */
const ANSWER_MS = 60_000;
const TAKE_MS = 20;
/** A nice value of up to 19. */
const NICE = 10;

interface StallsOptions {
  /** The length of one attack; the few large ones take four times as long. */
  readonly attackMs: number;
  /** Replaces QUIET. */
  readonly quiet?: Quiet;
  /** Replaces P99_MS_MAX. */
  readonly p99MsMax?: number;
  /** The operations to attack; all of them unless given. */
  readonly paths?: readonly string[];
  readonly report: (line: string) => void;
}

interface StallsResult {
  readonly attacks: number;
  readonly idle: Latencies;
  /** The 99th percentile of the worst attack, in milliseconds. */
  readonly worst: number;
  /** The limit that it must not exceed, in milliseconds. */
  readonly limit: number;
  readonly ownBytesMax: number;
  readonly wrong: readonly string[];
}

function textOf({ p50, p99, max, count }: Latencies): string {
  return `p50 ${p50.toFixed(1)} p99 ${p99.toFixed(1)} max ${max.toFixed(1)} ms of ${count}`;
}

class Watch {
  worst = 0;
  ownBytesMax = 0;
  attacks = 0;
  gone = false;
  #ended = 0;
  idle: Latencies;
  readonly wrong: string[] = [];
  readonly #server: SitusServer;
  readonly #lookups: SteadyLookups;
  readonly #options: StallsOptions;

  constructor(
    server: SitusServer,
    lookups: SteadyLookups,
    idle: Latencies,
    options: StallsOptions,
  ) {
    this.#server = server;
    this.#lookups = lookups;
    this.idle = idle;
    this.#options = options;
  }

  get limitMs(): number {
    return Math.max(this.#options.p99MsMax ?? P99_MS_MAX, IDLE_TIMES * this.idle.p99);
  }

  /**
   * Carries out an attack, and repeats it while it exceeds the limit, after measuring the times
   * without an attack again.
   */
  async attack(attack: Attack): Promise<void> {
    this.attacks += 1;
    for (let left = TRIES; left > 0; left -= 1) {
      const { latencies, ownBytes } = await this.#once(attack);
      const line = `${attack.name}: ${textOf(latencies)}, ${Math.round(ownBytes / MIB)} MiB`;
      const { p99, broken } = latencies;
      const slow = p99 > this.limitMs || broken > 0;
      this.#options.report(slow ? `${line}, ABOVE ${this.limitMs.toFixed(1)} ms` : line);
      if (this.gone) return;
      if (!slow || left === 1) this.worst = Math.max(this.worst, p99);
      if (!slow) return;
      if (left === 1)
        this.wrong.push(`${line}, broken ${broken}, limit ${this.limitMs.toFixed(1)} ms`);
      this.idle = await this.quiet();
    }
  }

  /** Measures the times without an attack. */
  async quiet(): Promise<Latencies> {
    const { warmMs, idleMs } = this.#options.quiet ?? QUIET;
    await delay(warmMs);
    await this.#lookups.take();
    await delay(idleMs);
    const idle = await this.#taken();
    this.#options.report(`idle: ${textOf(idle)}`);
    return idle;
  }

  /** The times of the answers so far; if there are none, of the first answer that follows. */
  async #taken(): Promise<Latencies> {
    const until = performance.now() + ANSWER_MS;
    for (;;) {
      const latencies = await this.#lookups.take();
      if (latencies.count > 0 || performance.now() > until) return latencies;
      await delay(TAKE_MS);
    }
  }

  async #once({
    name,
    run,
    times = 1,
  }: Attack): Promise<{ latencies: Latencies; ownBytes: number }> {
    const memory = new ServerMemory(this.#server.pid);
    await this.#lookups.take();
    await run(times * this.#options.attackMs);
    const latencies = await this.#taken();
    const ownBytes = memory.own;
    memory.end();
    this.ownBytesMax = Math.max(this.ownBytesMax, ownBytes);
    const silence = await silenceOf(this.#server.port);
    if (silence !== null) this.#lost(`${name}: the service ${silence}`);
    this.#countWorkers(name);
    return { latencies, ownBytes };
  }

  /** A worker that ends also loses the requests of other clients. */
  #countWorkers(name: string): void {
    const { workersEnded } = this.#server;
    if (workersEnded > this.#ended) {
      this.wrong.push(`${name}: ${workersEnded - this.#ended} workers ended`);
    }
    this.#ended = workersEnded;
  }

  /** Notes that the service no longer answers, so that further attacks would show nothing. */
  #lost(sentence: string): void {
    this.gone = true;
    this.wrong.push(`${sentence}; its log ends in\n${this.#server.lastWords}`);
  }
}

async function attackAll(server: SitusServer, options: StallsOptions): Promise<StallsResult> {
  const { port } = server;
  const lookups = SteadyLookups.begin(port, KEYS.beta);
  // Attackers and the provider run on other machines in practice, so they must take little of this
  // one's processor time.
  setPriority(NICE);
  try {
    const { paths } = options;
    const operations = (await bodyOperationsOf(port)).filter(
      ({ path }) => paths === undefined || paths.includes(path),
    );
    const merchants = await newMerchants(port, KEYS.alpha);
    const none: Latencies = { count: 0, p50: 0, p99: 0, max: 0, broken: 0 };
    const watch = new Watch(server, lookups, none, options);
    // A server that has just started is slow, which would raise the limit for all that follows.
    const both = [await watch.quiet(), await watch.quiet()];
    const idle = both.reduce((best, each) => (each.p99 < best.p99 ? each : best));
    watch.idle = idle;
    for (const attack of attacksOn(port, operations, merchants))
      if (!watch.gone) await watch.attack(attack);
    const { attacks: count, worst, limitMs: limit, ownBytesMax, wrong } = watch;
    return { attacks: count, idle, worst, limit, ownBytesMax, wrong };
  } finally {
    await lookups.end();
    setPriority(0);
  }
}

/** Starts a service with a simulated provider and attacks it. */
export async function stalls(options: StallsOptions): Promise<StallsResult> {
  const built = buildRecipe('fixture');
  const varDir = await newMerchantDir(built.varDir);
  const provider = await Simulator.start({ faults: { large: 1 } });
  const server = await startSitus(
    built.varDir,
    {
      SITUS_VAR: varDir,
      SITUS_ALLOW_PRIVATE_NETWORK: '1',
      SITUS_PROVIDER_URL: provider.url,
    },
    true,
  );
  try {
    return await attackAll(server, options);
  } finally {
    await server.stop();
    await provider.close();
    removeDirs(varDir);
    built.remove();
  }
}
