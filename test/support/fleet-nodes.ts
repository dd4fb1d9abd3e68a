/** Nodes of a fleet as processes, callers that never stop asking them, and a line that can be cut. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { TestContext } from 'node:test';
import { request } from 'undici';
import { CLI, LATER_OPTIMIZED } from './built-dataset.js';
import { rateOf, ZIP } from './tiny-release.js';

const KEY = 'a-key-for-nodes-of-a-fleet';
const PAUSE_MS = 40;

/** A test, or all tests of a file, by whose end something is removed. */
export interface Ending {
  after(end: () => unknown): void;
}

interface Health {
  readonly dataset: string | null;
  readonly unready?: readonly string[];
  readonly fleet: {
    readonly place: string;
    readonly dataset: string | null;
    readonly prepared: readonly string[];
    readonly problem?: { readonly dataset: string };
  };
}

export interface FleetNode {
  readonly url: string;
  readonly log: () => string;
  rate(): Promise<number>;
  health(): Promise<Health>;
  /** Status and reasons of `/system/ready`. */
  ready(): Promise<string>;
  end(signal: NodeJS.Signals): Promise<void>;
}

function ended(child: ChildProcess): Promise<unknown> {
  return child.exitCode === null && child.signalCode === null
    ? once(child, 'exit')
    : Promise.resolve();
}

/**
 * Starts `situs serve`, of the program given or of this one, and waits until it answers; it is killed
 * at the end of the test.
 */
export async function startNode(
  context: Ending,
  env: Readonly<Record<string, string>>,
  program = CLI,
): Promise<FleetNode> {
  const child = spawn(process.execPath, [...LATER_OPTIMIZED, program, 'serve'], {
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: '0',
      SITUS_WORKERS: '1',
      SITUS_BULK_WORKERS: '1',
      SITUS_BOOTSTRAP_KEY: KEY,
      SITUS_BOOTSTRAP_RATE: '10000000',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (piece: Buffer) => {
    log += piece.toString();
  });
  context.after(async () => {
    child.kill('SIGKILL');
    await ended(child);
  });
  let url = '';
  for await (const line of createInterface({ input: child.stdout })) {
    url = /^Situs answers on (http:\S+)$/.exec(line)?.[1] ?? '';
    if (url !== '') break;
  }
  assert.notEqual(url, '', log);
  return {
    url,
    log: () => log,
    rate: async () => {
      // Asked all the time, and `fetch` takes six times as much of the processor for it.
      const { statusCode, body } = await request(`${url}/request/v60?postalcode=${ZIP}`, {
        headers: { 'X-API-KEY': KEY },
      });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`${statusCode} ${text}`);
      return rateOf(text);
    },
    health: async () => (await request(`${url}/system/health`)).body.json() as Promise<Health>,
    ready: async () => {
      const { statusCode, body } = await request(`${url}/system/ready`);
      const { reasons } = (await body.json()) as { readonly reasons: readonly string[] };
      return [statusCode, ...reasons].join(' ');
    },
    end: async (signal) => {
      child.kill(signal);
      await ended(child);
    },
  };
}

interface Callers {
  readonly answered: () => number;
  readonly failed: readonly string[];
  /** When each node first answered with that rate after the mark, in milliseconds since it. */
  since(mark: number, rate: number): readonly (number | null)[];
  stop(): Promise<void>;
}

/** Asks each node all the time. */
export function callAll(nodes: readonly FleetNode[]): Callers {
  let stopped = false;
  const failed: string[] = [];
  const seen: { readonly node: number; readonly at: number; readonly rate: number }[] = [];
  const callers = nodes.map(async (node, index) => {
    while (!stopped) {
      try {
        seen.push({ node: index, rate: await node.rate(), at: performance.now() });
      } catch (error) {
        failed.push(String(error));
      }
      await delay(PAUSE_MS);
    }
  });
  return {
    answered: () => seen.length,
    failed,
    since: (mark, rate) =>
      nodes.map((_, index) => {
        const first = seen.find(
          (each) => each.node === index && each.at > mark && each.rate === rate,
        );
        return first === undefined ? null : Math.round(first.at - mark);
      }),
    stop: async () => {
      stopped = true;
      await Promise.all(callers);
    },
  };
}

export interface Line {
  readonly port: number;
  /** Ends what is connected and takes nothing new. */
  cut(): void;
  mend(): void;
}

/** A line to a port of this machine. */
export async function startLine(context: TestContext, to: number): Promise<Line> {
  const open = new Set<Socket>();
  let isCut = false;
  const server = createServer((socket) => {
    if (isCut) {
      socket.destroy();
      return;
    }
    const other = connect(to, '127.0.0.1');
    for (const each of [socket, other]) {
      open.add(each);
      each
        .on('error', () => undefined)
        .on('close', () => {
          open.delete(each);
          socket.destroy();
          other.destroy();
        });
    }
    socket.pipe(other).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    isCut = true;
    for (const socket of open) socket.destroy();
  };
  context.after(() => {
    cut();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    mend: () => {
      isCut = false;
    },
  };
}
