/**
 * A simulated compliance provider, to try Situs out with and to test it: a real HTTP server with
 * the provider's paths, which keeps everything in memory and invents its rates.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  drawFault,
  FAULT_HEADER,
  type FaultName,
  type FaultRates,
  isFault,
  type Random,
  seeded,
} from './faults.js';
import { jsonOf } from '../../base/json-object.js';
import { isFields, refuse, type SimulatedReply } from './fields.js';
import { answerCall, type Books, newBooks } from './paths.js';

export const SIMULATED_KEY = 'simulated-key';
export const SIMULATED_BODY_BYTES_MAX = 16_777_216;
/** How many requests are remembered, for tests that check what arrived. */
export const RECEIVED_MAX = 100;
const CONNECTIONS_MAX = 10_000;
/** The length of a `large` answer. */
const LARGE_BYTES = 16_777_216;
const SLOW_MS = 60_000;

export interface SimulatorOptions {
  readonly host?: string;
  /** Zero takes a free port. */
  readonly port?: number;
  readonly seed?: number;
  readonly faults?: FaultRates;
  /** The key that every connection has. */
  readonly key?: string;
  /** How long a slow answer takes. */
  readonly slowMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Makes the server use TLS, with this certificate. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** A request as it arrived. */
interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  /** The port of the client, by which connections are told apart. */
  readonly remotePort: number;
}

/** Fields that must not reach any client of Situs. */
const OWN_FIELDS = { 'set-cookie': 'session=simulated; Path=/', 'x-powered-by': 'simulator' };

async function bodyOf(message: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes <= SIMULATED_BODY_BYTES_MAX) chunks.push(chunk);
  }
  return bytes > SIMULATED_BODY_BYTES_MAX ? null : Buffer.concat(chunks);
}

/**
 * Some five million empty objects: the longest answer that is passed on, in its most hostile form.
 */
function largeText(): string {
  const text = `[${'{},'.repeat(LARGE_BYTES / 3 - 2)}{}]`;
  return text.padEnd(LARGE_BYTES);
}

export class Simulator {
  /** The last requests, oldest first. */
  readonly received: Received[] = [];
  readonly #server: Server;
  readonly #options: SimulatorOptions;
  readonly #random: Random;
  /** Draws faults independently of ids, so that fault rates do not change the ids. */
  readonly #luck: Random;
  readonly #books = new Map<string, Books>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #next: FaultName[] = [];

  private constructor(options: SimulatorOptions) {
    const { seed = 1, tls } = options;
    this.#options = options;
    this.#random = seeded(seed);
    this.#luck = seeded(seed + 1);
    const answer = (message: IncomingMessage, response: ServerResponse): void => {
      this.#answer(message, response).catch(() => {
        // A path or a number cannot be parsed, but the caller still waits for an answer.
        if (response.headersSent) return response.destroy();
        this.#send(response, refuse(400, 'Bad Request', 'the request cannot be read'));
      });
    };
    this.#server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer);
  }

  /** Listens; call `close` afterwards. @throws Error when the port is not available. */
  static async start(options: SimulatorOptions = {}): Promise<Simulator> {
    const simulator = new Simulator(options);
    const { host = '127.0.0.1', port = 0 } = options;
    await once(simulator.#server.listen(port, host), 'listening');
    return simulator;
  }

  get url(): string {
    const { address, port, family } = this.#server.address() as AddressInfo;
    const scheme = this.#options.tls === undefined ? 'http' : 'https';
    return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** Makes the next requests meet these faults, one each. */
  plan(...faults: readonly FaultName[]): void {
    this.#next.push(...faults);
  }

  /** Cuts every connection. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(message);
    this.#remember(message, body ?? Buffer.alloc(0));
    const fault = this.#fault(message);
    if (fault === '429') return this.#fail(response, 429, 'Too Many Requests');
    if (fault === '500') return this.#fail(response, 500, 'Internal Server Error');
    // The other faults come after the work is done, which is the worst case.
    const reply =
      body === null
        ? refuse(413, 'Content Too Large', 'the body is too large')
        : this.#reply(message, body);
    if (fault === 'reset') {
      message.socket.destroy();
    } else if (fault === 'garbage') {
      this.#send(response, { ...reply, status: 200 }, '<html>{"half": ');
    } else if (fault === 'large') {
      this.#send(response, { ...reply, status: 200 }, largeText());
    } else if (fault === 'slow') {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        this.#send(response, reply);
      }, this.#options.slowMs ?? SLOW_MS);
      this.#timers.add(timer);
      // The caller has left.
      response.once('close', () => clearTimeout(timer));
    } else this.#send(response, reply);
  }

  #remember(message: IncomingMessage, body: Buffer): void {
    const { method = '', url = '', headers, socket } = message;
    this.received.push({ method, url, headers, body, remotePort: socket.remotePort ?? 0 });
    if (this.received.length > RECEIVED_MAX) this.received.shift();
  }

  #fault(message: IncomingMessage): FaultName | null {
    const asked = message.headers[FAULT_HEADER];
    if (typeof asked === 'string' && isFault(asked)) return asked;
    return this.#next.shift() ?? drawFault(this.#options.faults ?? {}, this.#luck);
  }

  #reply(message: IncomingMessage, bytes: Buffer): SimulatedReply {
    const { method = '', url = '', headers } = message;
    if (headers['x-api-key'] !== (this.#options.key ?? SIMULATED_KEY)) {
      return refuse(401, 'Unauthorized', 'no such API key');
    }
    const { pathname, searchParams: query } = new URL(url, 'http://simulator');
    const [, tax, connections, connectionId, ...rest] = pathname.split('/');
    if (tax !== 'tax' || connections !== 'connections' || !connectionId) {
      return refuse(404, 'Not Found', 'there is no such path');
    }
    const body = bytes.length === 0 ? {} : jsonOf(bytes.toString(), isFields);
    if (body === null) return refuse(400, 'Bad Request', 'the body is not a JSON object');
    const now = new Date(this.#options.now?.() ?? Date.now()).toISOString();
    const segments = rest.map(decodeURIComponent);
    const books = this.#booksOf(decodeURIComponent(connectionId));
    return answerCall(books, { method, segments, query, body, now });
  }

  #booksOf(connectionId: string): Books {
    let books = this.#books.get(connectionId);
    if (books === undefined) {
      if (this.#books.size >= CONNECTIONS_MAX) this.#books.clear();
      books = newBooks(connectionId, this.#random);
      this.#books.set(connectionId, books);
    }
    return books;
  }

  #fail(response: ServerResponse, status: number, title: string): void {
    if (status === 429) response.setHeader('retry-after', '7');
    this.#send(response, refuse(status, title, 'simulated'));
  }

  #send(response: ServerResponse, reply: SimulatedReply, text = JSON.stringify(reply.body)): void {
    const { status, location } = reply;
    const type = status < 400 ? 'application/json' : 'application/problem+json';
    response.writeHead(status, {
      ...OWN_FIELDS,
      ...(location === undefined ? {} : { location: this.url + location }),
      ...(status === 204
        ? {}
        : {
            'content-type': type,
            'content-length': Buffer.byteLength(text),
          }),
    });
    response.end(status === 204 ? undefined : text);
  }
}
