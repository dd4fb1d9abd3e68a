/**
 * Compares the processor time of carts that `situs stream` takes from NATS with those of one
 * WebSocket, in turns, and reports the rate of a process that only relays as many bytes.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  AckPolicy,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type JetStreamManager,
} from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { RelayOrder } from '../load/nats-relay.js';
import { processorTime } from '../load/processor-time.js';
import { startSitus } from '../load/situs-server.js';
import { type BenchInput, type Figure, lowest } from './case.js';
import { batchesOf, measureSocket, sampleCarts } from './stream.js';

const ROUNDS = 4;
/** How many carts a round has; they are stored before it begins. */
const CARTS = 12_800;
const PUBLISHED_TOGETHER = 512;
/** The least rate on one core, as a share of that of one WebSocket. */
const TARGET_SHARE = 0.7;
const LOOK_MS = 10;
const ROUND_MS_MAX = 120_000;
const [FROM, TO, FAILED, SINK] = ['bench.carts', 'bench.taxed', 'bench.refused', 'bench.sink'];
const [MAIN, RELAY] = ['../../src/cli.js', '../load/nats-relay.js'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

interface OwnNats {
  readonly server: string;
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  stop(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function startNats(): Promise<OwnNats> {
  if (spawnSync('nats-server', ['--version']).error !== undefined) {
    throw new Error('nats-server is not installed');
  }
  const [port, dir] = [await freePort(), mkdtempSync(join(tmpdir(), 'situs-bench-nats-'))];
  const child = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', dir], {
    stdio: 'ignore',
  });
  const server = `127.0.0.1:${port}`;
  let connection: NatsConnection | null = null;
  while (connection === null) {
    await delay(LOOK_MS);
    connection = await connect({ servers: server }).catch(() => null);
  }
  const open = connection;
  const manager = await jetstreamManager(open);
  return {
    server,
    connection: open,
    manager,
    stop: async () => {
      await open.close();
      child.kill('SIGKILL');
      await once(child, 'exit');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Makes a stream for each subject, stored in files, and the consumer of the relay. */
async function makeStreams({ manager }: OwnNats): Promise<void> {
  for (const subject of [FROM, TO, FAILED, SINK] as const) {
    await manager.streams.add({
      name: nameOf(subject!),
      subjects: [subject!],
      storage: StorageType.File,
      retention: RetentionPolicy.Limits,
    });
  }
  await manager.consumers.add(nameOf(FROM!), {
    durable_name: 'relay',
    ack_policy: AckPolicy.Explicit,
    max_ack_pending: 2_048,
  });
}

function nameOf(subject: string): string {
  return subject.replace('.', '_');
}

/** How many messages several subjects have. */
async function messagesOf({ manager }: OwnNats, subjects: readonly string[]): Promise<number> {
  let sum = 0;
  for (const subject of subjects) {
    sum += (await manager.streams.info(nameOf(subject))).state.messages;
  }
  return sum;
}

async function publish({ connection }: OwnNats, rows: readonly string[]): Promise<void> {
  const client = jetstream(connection);
  for (let at = 0; at < rows.length; at += PUBLISHED_TOGETHER) {
    await Promise.all(
      rows.slice(at, at + PUBLISHED_TOGETHER).map((row) => client.publish(FROM!, row)),
    );
  }
}

interface Round {
  /** Messages a second, and microseconds of processor time of the process for each. */
  readonly rate: number;
  readonly cost: number;
}

/** Lets a stopped process answer what was stored, and measures it. */
async function answered(
  nats: OwnNats,
  child: ChildProcess,
  subjects: readonly string[],
  upTo: number,
  count: number,
): Promise<Round> {
  const before = processorTime(child.pid!);
  const from = performance.now();
  child.kill('SIGCONT');
  while ((await messagesOf(nats, subjects)) < upTo) {
    if (performance.now() - from > ROUND_MS_MAX) throw new Error(`${subjects.join()} stay behind`);
    await delay(LOOK_MS);
  }
  const took = performance.now() - from;
  return { rate: (count * 1_000) / took, cost: (processorTime(child.pid!) - before) / count };
}

/** Both processes take every cart, since each has a consumer of its own. */
function startTakers(nats: OwnNats, input: BenchInput, bytes: number): readonly ChildProcess[] {
  const { PATH } = process.env;
  const stream = spawn(
    process.execPath,
    [
      MAIN!,
      'stream',
      '--nats',
      `nats://${nats.server}`,
      '--from',
      FROM!,
      '--to',
      TO!,
      '--failed',
      FAILED!,
      '--quiet',
    ],
    { env: { PATH, SITUS_VAR: input.varDir }, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const order: RelayOrder = {
    server: nats.server,
    stream: nameOf(FROM!),
    durable: 'relay',
    to: SINK!,
    bytes,
  };
  const relay = spawn(process.execPath, [RELAY!, JSON.stringify(order)], {
    env: { PATH },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return [stream, relay];
}

/** Figures for carts of five lines, each in a message of its own. */
export async function streamNatsCase(input: BenchInput): Promise<readonly Figure[]> {
  const carts = await sampleCarts(input, CARTS);
  const rows = carts.map((cart) => JSON.stringify(cart));
  const batches = batchesOf(carts);
  const nats = await startNats();
  await makeStreams(nats);
  const situs = await startSitus(input.varDir);
  const warm = await measureSocket(situs.port, batches, input.seconds, true);
  const bytes = Math.round(warm.answerBytes / (carts.length / batches.length));
  const takers = startTakers(nats, input, bytes);
  try {
    const [ours, relayed, sockets]: [Round[], Round[], Round[]] = [[], [], []];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const upTo = (round + 1) * CARTS;
      // The first round is a warm-up.
      if (round > 0) for (const child of takers) child.kill('SIGSTOP');
      await publish(nats, rows);
      const of = await answered(nats, takers[0]!, [TO!, FAILED!], upTo, CARTS);
      const by = await answered(nats, takers[1]!, [SINK!], upTo, CARTS);
      const before = processorTime(situs.pid);
      const { rate, carts: count } = await measureSocket(situs.port, batches, input.seconds, true);
      if (round === 0) continue;
      ours.push(of);
      relayed.push(by);
      sockets.push({ rate, cost: (processorTime(situs.pid) - before) / count });
    }
    return figuresOf(ours, relayed, sockets, bytes);
  } finally {
    for (const child of takers) child.kill('SIGKILL');
    await situs.stop();
    await nats.stop();
  }
}

function figuresOf(
  ours: readonly Round[],
  relayed: readonly Round[],
  sockets: readonly Round[],
  bytes: number,
): readonly Figure[] {
  const cost = (rounds: readonly Round[]): number => lowest(rounds.map((each) => each.cost));
  const rate = (rounds: readonly Round[]): string =>
    `${Math.round(Math.max(...rounds.map((each) => each.rate))).toLocaleString('en')}/s`;
  const [own, relay, socket] = [cost(ours), cost(relayed), cost(sockets)];
  return [
    {
      name: 'stream carts over NATS by a core',
      value: socket / own,
      unit: 'of a WebSocket',
      target: { atLeast: TARGET_SHARE },
      note: `${own.toFixed(0)} and ${socket.toFixed(0)} µs of processor a cart`,
    },
    {
      name: 'stream carts over NATS',
      value: 1e6 / own,
      unit: 'carts/s/core',
      note: `${rate(ours)} beside the broker; answers of ${bytes} bytes`,
    },
    {
      name: 'relay of NATS alone',
      value: 1e6 / relay,
      unit: 'messages/s/core',
      note: `${relay.toFixed(0)} µs of processor each, ${rate(relayed)} beside the broker`,
    },
    { name: 'stream carts over WebSocket', value: 1e6 / socket, unit: 'carts/s/core' },
  ];
}
