/** Sends requests with hostile bodies again and again for some time. */
import { Agent, request, type ClientRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { BODY_LIMIT_MEMBER } from '../../src/describe/operations.js';

export interface BodyOperation {
  readonly path: string;
  readonly type: string;
  /** The longest body that it accepts; null where it states none, because it reads as it goes. */
  readonly bytesMax: number | null;
}

interface Described {
  readonly requestBody?: {
    readonly content: Readonly<Record<string, unknown>>;
    readonly [BODY_LIMIT_MEMBER]?: number;
  };
}

/** Every operation of a running service that takes a body, once for each of its content types. */
export async function bodyOperationsOf(port: number): Promise<readonly BodyOperation[]> {
  const answer = await fetch(`http://127.0.0.1:${port}/openapi.json`);
  const { paths } = (await answer.json()) as { paths: Record<string, { post?: Described }> };
  return Object.entries(paths).flatMap(([path, { post }]) => {
    const body = post?.requestBody;
    const bytesMax = body?.[BODY_LIMIT_MEMBER] ?? null;
    return Object.keys(body?.content ?? {}).map((type) => ({ path, type, bytesMax }));
  });
}

export interface SentBody {
  readonly path: string;
  readonly type: string;
  readonly body: Buffer;
}

const AT_ONCE = 4;

/** How many answers had each status; connections that ended without an answer count as 0. */
type Statuses = Map<number, number>;

class Sender {
  readonly statuses: Statuses = new Map();
  readonly #open = new Set<ClientRequest>();
  readonly #port: number;
  readonly #key: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

  constructor(port: number, key: string) {
    this.#port = port;
    this.#key = key;
  }

  send({ path, type, body }: SentBody): Promise<void> {
    return new Promise((resolve) => {
      const sent = request({
        port: this.#port,
        host: '127.0.0.1',
        path,
        method: 'POST',
        agent: this.#agent,
        headers: {
          'X-API-KEY': this.#key,
          'Content-Type': type,
          'Content-Length': body.length,
        },
      });
      this.#open.add(sent);
      let status = 0;
      sent.on('response', (answer) => {
        status = answer.statusCode ?? 0;
        answer.on('error', () => undefined).resume();
      });
      sent
        .on('error', () => undefined)
        .on('close', () => {
          this.#open.delete(sent);
          this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
          resolve();
        });
      sent.end(body);
    });
  }

  end(): void {
    for (const sent of this.#open) sent.destroy();
    this.#agent.destroy();
  }
}

/**
 * Sends bodies in turn, four at a time, for so many milliseconds; requests still under way are cut.
 */
export async function sendFor(
  port: number,
  key: string,
  bodies: readonly SentBody[],
  milliseconds: number,
): Promise<Statuses> {
  const sender = new Sender(port, key);
  const until = performance.now() + milliseconds;
  let next = 0;
  const repeat = async (): Promise<void> => {
    while (performance.now() < until) await sender.send(bodies[next++ % bodies.length]!);
  };
  const all = Promise.all(Array.from({ length: AT_ONCE }, repeat));
  await Promise.race([all, delay(milliseconds)]);
  sender.end();
  await all;
  return sender.statuses;
}

/** What is written to a connection at its beginning, and then at intervals. */
export interface Trickle {
  readonly first: string;
  readonly piece: string;
  readonly eachMs: number;
}

/**
 * Keeps many connections open that send a little at a time; those that are cut are opened again.
 */
export async function trickleFor(
  port: number,
  trickles: readonly Trickle[],
  milliseconds: number,
): Promise<void> {
  const sockets = new Set<Socket>();
  const timers = trickles.map(({ first, piece, eachMs }) => {
    let socket: Socket | null = null;
    return setInterval(() => {
      if (socket !== null && !socket.destroyed) {
        socket.write(piece);
        return;
      }
      if (socket !== null) sockets.delete(socket);
      socket = connect({ port, host: '127.0.0.1' });
      socket
        .on('error', () => undefined)
        .resume()
        .write(first);
      sockets.add(socket);
    }, eachMs);
  });
  await delay(milliseconds);
  for (const timer of timers) clearInterval(timer);
  for (const socket of sockets) socket.destroy();
}
