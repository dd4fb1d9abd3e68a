/** WebSockets on the HTTP server of Node.js. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import type { NodeConnection } from './node-connection.js';
import { ownBuffer } from './node-response.js';
import type { Fault, RawSocket, SocketEvents, SocketLimits } from './transport.js';

const KEY = /^[A-Za-z0-9+/]{22}==$/;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VERSIONS: readonly (string | undefined)[] = ['13', '8'];

/** Results of `send`. */
const KEPT = 0;
const SENT = 1;
const DROPPED = 2;

function areProtocols(field: string | undefined): boolean {
  if (field === undefined) return true;
  const names = field.split(',').map((name) => name.trim());
  return names.every((name) => TOKEN.test(name)) && new Set(names).size === names.length;
}

/** Whether a request asks for a WebSocket that can be opened. */
export function isUpgrade({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    KEY.test(headers['sec-websocket-key'] ?? '') &&
    VERSIONS.includes(headers['sec-websocket-version']) &&
    areProtocols(headers['sec-websocket-protocol'])
  );
}

/** The head of a request as it was sent, without the field that asks for another protocol. */
export function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  const lines = [`${method ?? ''} ${url ?? ''} HTTP/${httpVersion}`];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.toLowerCase() === 'upgrade') continue;
    lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function bytesOf(data: RawData): ArrayBuffer {
  if (Array.isArray(data)) return ownBuffer(Buffer.concat(data));
  return data instanceof ArrayBuffer ? data : ownBuffer(data);
}

interface SocketOptions {
  readonly message: IncomingMessage;
  readonly socket: Duplex;
  /** Bytes that came after the head. */
  readonly head: Buffer;
  readonly limits: SocketLimits;
  readonly events: SocketEvents;
  readonly fault: Fault;
}

export class NodeSocket implements RawSocket {
  readonly #ws: WebSocket;
  readonly #options: SocketOptions;
  #behind = false;
  /** Whether it counts as closed for its user. */
  #over = false;

  private constructor(ws: WebSocket, options: SocketOptions) {
    this.#ws = ws;
    this.#options = options;
    ws.on('message', (data, isBinary) =>
      this.#tell((events) => events.message(bytesOf(data), isBinary)),
    );
    const alive = (): void => this.#tell((events) => events.alive());
    // Where a client breaks the protocol, `ws` closes the connection with a code.
    ws.on('ping', alive)
      .on('pong', alive)
      .on('error', () => undefined);
    ws.on('close', () => this.#closed());
  }

  /** Opens the WebSocket of a request that `isUpgrade` has accepted. */
  static open(options: SocketOptions, connection: NodeConnection): void {
    const { message, socket, head, limits } = options;
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: limits.messageBytesMax,
    });
    let opened: NodeSocket | null = null;
    server.handleUpgrade(message, socket, head, (ws) => {
      const own = new NodeSocket(ws, options);
      opened = own;
      connection.becomes(() => own.close());
      own.#tell((events) => events.open(own));
    });
    // It was not opened because the client has left meanwhile, which its handler must be told.
    if (opened === null) {
      options.events.closed();
      connection.cut();
    }
  }

  send(text: Uint8Array): number {
    const ws = this.#ws;
    if (this.#over || ws.bufferedAmount > this.#options.limits.bufferedBytesMax) return DROPPED;
    // The caller may overwrite its memory.
    ws.send(Buffer.from(text), { binary: false }, () => this.#caughtUp());
    if (ws.bufferedAmount === 0) return SENT;
    this.#behind = true;
    return KEPT;
  }

  getBufferedAmount(): number {
    return this.#ws.bufferedAmount;
  }

  ping(): number {
    if (!this.#over) this.#ws.ping();
    return SENT;
  }

  end(code: number, reason: string): void {
    if (this.#over) return;
    this.#ws.close(code, reason);
    this.#closed();
  }

  close(): void {
    this.#ws.terminate();
    this.#closed();
  }

  cork(write: () => void): void {
    const { socket } = this.#options;
    socket.cork();
    try {
      write();
    } finally {
      socket.uncork();
    }
  }

  #caughtUp(): void {
    if (!this.#behind) return;
    this.#behind = this.#ws.bufferedAmount > 0;
    this.#tell((events) => events.drained());
  }

  #closed(): void {
    if (this.#over) return;
    this.#over = true;
    try {
      this.#options.events.closed();
    } catch (error) {
      this.#options.fault(error);
    }
  }

  /** An exception of a handler is a bug: it ends the connection, but not the process. */
  #tell(call: (events: SocketEvents) => void): void {
    if (this.#over) return;
    try {
      call(this.#options.events);
    } catch (error) {
      this.#options.fault(error);
      this.close();
    }
  }
}
