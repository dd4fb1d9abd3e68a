/**
 * Three machines, each in a network namespace, share PostgreSQL, Redis and NATS. At random one is
 * killed or cut off, during writes, carts over NATS, a job, and requests of a key above its rate.
 * No acknowledged write may be lost, each cart must be answered once, the job's result must be that
 * of an undisturbed node, and no key may exceed its rate by more than docs/fleet.md says.
 */
import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { buildRecipe, CLI } from '../../test/support/built-dataset.js';
import { seeded } from '../case/case.js';
import { askNode, FleetClient } from './fleet/client.js';
import { enginesProblem, FleetEngines } from './fleet/engines.js';
import { FleetFile } from './fleet/file.js';
import { LimitedKey } from './fleet/limited-key.js';
import { FleetNetwork, networkProblem } from './fleet/network.js';
import { FILES, FleetNode } from './fleet/node.js';
import { Orders } from './fleet/orders.js';
import { Writer } from './writer.js';
import { type CaseOutcome, merchantNames } from './service.js';

/** How many seconds the load lasts. */
export const FLEET_SECONDS = 600;
/** The load during that time. */
export const FLEET_LOAD = { rows: 30_000, writers: 6, cartsTogether: 20 };

const NODES = 3;
const RATE = 300;
/** How much of a rate each node admits alone, in percent: the setting's default. */
const SHARE = 50;
const CALM_MS_MIN = 2_000;
const CALM_MS_MAX = 6_000;
const AWAY_MS_MIN = 1_000;
const AWAY_MS_MAX = 14_000;
const READY_MS = 120_000;
const LOOK_MS = 200;
const KEK_BYTES = 32;

/** The load on the fleet. */
interface FleetExtent {
  readonly seconds: number;
  /** How many rows the job has. */
  readonly rows: number;
  /** How many clients write, each some five times a second. */
  readonly writers: number;
  /** How many carts are sent together, five times a second. */
  readonly cartsTogether: number;
}

/** Why the case cannot run on this machine; null where it can. */
export function fleetProblem(): string | null {
  return networkProblem() ?? enginesProblem();
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function ready({ base }: FleetNode): Promise<void> {
  const until = performance.now() + READY_MS;
  for (;;) {
    const answer = await askNode(base, { method: 'GET', path: '/system/ready' }).catch(() => null);
    if (answer?.status === 200) return;
    if (performance.now() > until) {
      throw new Error(`${base} is not ready: ${answer?.text ?? 'it does not answer'}`);
    }
    await wait(LOOK_MS);
  }
}

/** The network, engines and nodes of the case, which are ended in the opposite order. */
class Fleet {
  readonly wrong: string[] = [];
  kills = 0;
  cuts = 0;
  readonly #ends: (() => Promise<void> | void)[] = [];
  readonly #random: () => number;
  readonly #report: (line: string) => void;
  readonly network: FleetNetwork;
  readonly engines: FleetEngines;
  nodes: readonly FleetNode[] = [];

  constructor(random: () => number, report: (line: string) => void) {
    this.#random = random;
    this.#report = report;
    this.network = new FleetNetwork(NODES);
    this.#ends.push(() => this.network.close());
    this.engines = new FleetEngines(this.network.gateway);
    this.#ends.push(() => this.engines.stop());
  }

  async start(): Promise<void> {
    const built = buildRecipe('fixture');
    this.#ends.push(() => built.remove());
    await this.engines.start();
    const { network, engines } = this;
    const settings = {
      network,
      engines,
      datasets: built.varDir,
      report: this.#report,
      kek: randomBytes(KEK_BYTES).toString('base64'),
    };
    execFileSync(process.execPath, [CLI, 'store', 'migrate'], {
      env: { PATH: process.env['PATH'], SITUS_STORE: engines.postgres },
      stdio: 'pipe',
    });
    this.nodes = Array.from({ length: NODES }, (_, node) => new FleetNode(node, settings));
    this.#ends.push(async () => {
      for (const node of this.nodes) await node.remove();
    });
  }

  async begin(): Promise<void> {
    for (const node of this.nodes) node.start();
    await Promise.all(this.nodes.map(ready));
  }

  /** Makes a key with a rate, by the command. */
  async limitedKey(): Promise<string> {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [CLI, 'key', 'create', '--plan', 'pro', '--rate', String(RATE), '--json'],
      { env: { PATH: process.env['PATH'], SITUS_STORE: this.engines.postgres } },
    );
    return (JSON.parse(stdout) as { key: string }).key;
  }

  /** Makes one node after the other fail during this time; all of them work again at the end. */
  async disturb(ms: number): Promise<void> {
    const until = performance.now() + ms;
    while (performance.now() < until) {
      await wait(this.#between(CALM_MS_MIN, CALM_MS_MAX));
      const number = Math.floor(this.#random() * NODES);
      const node = this.nodes[number]!;
      const away = this.#between(AWAY_MS_MIN, AWAY_MS_MAX);
      this.wrong.push(...node.gone());
      if (this.#random() < 0.5) {
        this.kills += 1;
        await node.kill();
        await wait(away);
        node.start();
      } else {
        this.cuts += 1;
        this.network.cut(number);
        await wait(away);
        this.network.heal(number);
      }
      await ready(node);
      this.#report(`${this.kills} kills, ${this.cuts} cuts, ${this.wrong.length} wrong`);
    }
  }

  async stop(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end();
  }

  #between(from: number, to: number): number {
    return from + this.#random() * (to - from);
  }
}

async function listed(base: string): Promise<ReadonlyMap<string, string>> {
  const { text } = await askNode(base, { method: 'GET', path: '/merchant/list' });
  return merchantNames(text);
}

/** Checks that every acknowledged write is on every node. */
async function checkWrites(writers: readonly Writer[], fleet: Fleet): Promise<void> {
  for (const writer of writers) await writer.repeat();
  const known = writers.reduce((sum, { merchants }) => sum + merchants.size, 0);
  // A node may lag behind the writes of others by this much.
  await wait(1_000);
  for (const { base } of fleet.nodes) {
    const merchants = await listed(base);
    for (const writer of writers) await writer.check(merchants);
    if (merchants.size !== known) {
      fleet.wrong.push(`${base} has ${merchants.size} merchants, acknowledged are ${known}`);
    }
  }
  for (const { lost, wrong } of writers) fleet.wrong.push(...lost, ...wrong);
}

async function load(
  fleet: Fleet,
  { seconds, rows, writers: clients, cartsTogether }: FleetExtent,
  random: () => number,
): Promise<string> {
  const client = new FleetClient(
    fleet.nodes.map(({ base }) => base),
    random,
  );
  const writers = Array.from({ length: clients }, () => new Writer(client, random));
  const orders = await Orders.open(fleet.engines.nats, cartsTogether);
  const [first, second] = fleet.nodes;
  try {
    await fleet.begin();
    const limited = new LimitedKey(await fleet.limitedKey(), client);
    const file = new FleetFile(first!.base, rows, random);
    const job = await file.begin();
    const running = [
      ...writers.map((writer) => writer.run()),
      limited.run(),
      orders.run(() => client.stopping),
    ];
    await fleet.disturb(seconds * 1_000);
    client.stopping = true;
    await Promise.all(running);
    client.stopping = false;
    await checkWrites(writers, fleet);
    fleet.wrong.push(...(await file.check(job, second!.base)), ...(await orders.check()));
    fleet.wrong.push(...limited.wrong);
    const chunks = await orders.chunks(FILES);
    if (chunks === 0) fleet.wrong.push('no chunk of the job went over the fleet');
    const bound = RATE + NODES * Math.floor((RATE * SHARE) / 100);
    const most = limited.most();
    if (most > bound) fleet.wrong.push(`${most} requests in a minute, ${bound} is the bound`);
    const acknowledged = writers.reduce((sum, writer) => sum + writer.acknowledged, 0);
    return (
      `kills ${fleet.kills}, cuts ${fleet.cuts}, acknowledged writes ${acknowledged}, sent ` +
      `again ${client.repeated}, carts ${orders.sent}, rows of the job ${rows} in ${chunks} chunks, requests in a ` +
      `minute at most ${most} (rate ${RATE}, bound ${bound}; ${limited.refused} refused)`
    );
  } finally {
    client.stopping = true;
    await orders.close();
  }
}

export async function fleetCase(
  extent: FleetExtent,
  seed: number,
  report: (line: string) => void,
): Promise<CaseOutcome> {
  const problem = fleetProblem();
  if (problem !== null) throw new Error(problem);
  // A generator of its own: if the load drew from it too, no two runs would have the same failures.
  const fleet = new Fleet(seeded(seed), report);
  const interrupt = (): void => {
    void fleet.stop().finally(() => process.exit(130));
  };
  process.once('SIGINT', interrupt);
  try {
    await fleet.start();
    const summary = await load(fleet, extent, seeded(seed));
    return { summary, wrong: fleet.wrong };
  } finally {
    process.off('SIGINT', interrupt);
    await fleet.stop();
  }
}
