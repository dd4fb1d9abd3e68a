/**
 * The transport on the HTTP server of Node.js, for machines where the native server does not load.
 * Answers that it gives by itself have the documented form; its parser is strict, and its limits
 * are those of the native server.
 */
import { readFileSync } from 'node:fs';
import {
  createServer as createPlain,
  ServerResponse,
  type IncomingMessage,
  type Server,
} from 'node:http';
import { createServer as createSecure, type Server as SecureServer } from 'node:https';
import { Server as NetServer, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createSecureContext } from 'node:tls';
import { HEAD_BYTES_MAX, type Config } from '../config.js';
import { connectionsMax } from './descriptors.js';
import { NodeConnection } from './node-connection.js';
import { plainAnswer, refusalOf, type Unreadable } from './node-refusal.js';
import { NodeRequest } from './node-request.js';
import { IDLE_MS, REST_MS, type NodeResponse } from './node-response.js';
import { isUpgrade, NodeSocket, withoutUpgrade } from './node-socket.js';
import type { Reply } from './reply.js';
import { statusLine } from './status.js';
import {
  unfitCertificate,
  type Fault,
  type RawHandler,
  type RawServer,
  type RefusalNote,
  type SocketLimits,
  type Upgrade,
} from './transport.js';
import { writeExtra } from './write-reply.js';

const OPTIONS = {
  insecureHTTPParser: false,
  maxHeaderSize: HEAD_BYTES_MAX,
  headersTimeout: IDLE_MS,
  keepAliveTimeout: REST_MS,
  connectionsCheckingInterval: 2_000,
  // Routes limit the time of bodies themselves, and a missing host is answered by `refusalOf`.
  requestTimeout: 0,
  requireHostHeader: false,
} as const;

type Tls = NonNullable<Config['tls']>;

/** @throws Error when certificate and key cannot be used. */
function certificateOf({ cert, key }: Tls): { readonly cert: Buffer; readonly key: Buffer } {
  try {
    const read = { cert: readFileSync(cert), key: readFileSync(key) };
    createSecureContext(read);
    return read;
  } catch {
    throw unfitCertificate({ cert, key });
  }
}

interface SocketRoute {
  readonly limits: SocketLimits;
  readonly upgrade: Upgrade;
}

export class NodeServer implements RawServer {
  readonly transport = 'node';
  readonly #server: Server | SecureServer;
  readonly #fault: Fault;
  #note: RefusalNote = () => [];
  readonly #tls: Config['tls'];
  /** Handlers by method and path; the method is empty for a handler of all methods. */
  readonly #exact = new Map<string, RawHandler>();
  readonly #rest: (readonly [method: string | null, handler: RawHandler])[] = [];
  readonly #sockets = new Map<string, SocketRoute>();
  readonly #connections = new Map<Duplex, NodeConnection>();
  /** All connections, including those whose TLS handshake is not complete. */
  readonly #open = new Set<Socket>();

  constructor(fault: Fault, tls: Config['tls']) {
    this.#fault = fault;
    this.#tls = tls;
    const server =
      tls === null
        ? createPlain(OPTIONS)
        : createSecure({ ...OPTIONS, ...certificateOf(tls), handshakeTimeout: IDLE_MS });
    this.#server = server;
    server.maxHeadersCount = 0;
    // A client that has ended its half is still answered; one that nobody answers any more is cut
    // here.
    Object.assign(server, { httpAllowHalfOpen: true });
    const take = (message: IncomingMessage, response: ServerResponse): void =>
      this.#connectionOf(message.socket).take(message, response);
    server.on('request', take).on('checkExpectation', take);
    server.on('upgrade', (message, socket, head) => this.#upgrade(message, socket, head));
    server.on('connect', (message: IncomingMessage, socket: Duplex) =>
      this.#serve(message, this.#detached(message, socket)),
    );
    server.on('clientError', (error: Unreadable, socket) => this.#unreadable(error, socket));
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket);
      socket.on('error', () => undefined).once('close', () => this.#open.delete(socket));
    });
  }

  noteRefusals(note: RefusalNote): void {
    this.#note = note;
  }

  any(pattern: string, handler: RawHandler): void {
    this.#register(null, pattern, handler);
  }

  get(pattern: string, handler: RawHandler): void {
    this.#register('GET', pattern, handler);
  }

  post(pattern: string, handler: RawHandler): void {
    this.#register('POST', pattern, handler);
  }

  sockets(path: string, limits: SocketLimits, upgrade: Upgrade): void {
    this.#sockets.set(path, { limits, upgrade });
  }

  get connections(): number {
    return this.#open.size;
  }

  listen(host: string, port: number, shared = false): Promise<number | null> {
    const server = this.#server;
    const max = connectionsMax();
    if (Number.isFinite(max)) server.maxConnections = max;
    return new Promise((resolve) => {
      const failed = (): void => resolve(null);
      server.once('error', failed);
      // Older versions of Node.js cannot share a port, and ignore the option.
      server.listen({ host, port, exclusive: true, reusePort: shared }, () => {
        server.off('error', failed);
        resolve((server.address() as AddressInfo).port);
      });
    });
  }

  async stopTaking(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.stopListening();
  }

  stopListening(): void {
    // Calls the method of the TCP server, since that of the HTTP server would also cut idle
    // connections.
    NetServer.prototype.close.call(this.#server);
  }

  renew(): Promise<void> {
    try {
      if (this.#tls !== null && 'setSecureContext' in this.#server) {
        this.#server.setSecureContext(certificateOf(this.#tls));
      }
      return Promise.resolve();
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  close(): void {
    this.#server.close();
    for (const connection of this.#connections.values()) connection.cut();
    for (const socket of this.#open) socket.destroy();
  }

  #register(method: string | null, pattern: string, handler: RawHandler): void {
    if (pattern === '/*') this.#rest.push([method, handler]);
    else this.#exact.set(`${method ?? ''} ${pattern}`, handler);
  }

  #handlerOf(method: string, path: string): RawHandler | undefined {
    return (
      this.#exact.get(`${method} ${path}`) ??
      this.#exact.get(` ${path}`) ??
      this.#rest.find(([own]) => own === null || own === method)?.[1]
    );
  }

  #connectionOf(socket: Duplex): NodeConnection {
    let connection = this.#connections.get(socket);
    if (connection === undefined) {
      connection = new NodeConnection(socket, (message, response) =>
        this.#serve(message, response),
      );
      this.#connections.set(socket, connection);
      socket.on('error', () => undefined).once('close', () => this.#connections.delete(socket));
    }
    return connection;
  }

  /** An exception of a handler is a bug: it ends the connection, but not the process. */
  #guarded(response: NodeResponse, call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#fault(error);
      response.close();
    }
  }

  /** Answers a head that no handler may see, and closes. */
  #refuse(response: NodeResponse, request: NodeRequest, reply: Reply): void {
    const fields = this.#note(response, request, reply);
    response.makeLast();
    writeExtra(response.writeStatus(statusLine(reply.status)), fields);
    response.writeHeader('Content-Type', reply.head).end(reply.body);
  }

  #serve(message: IncomingMessage, response: NodeResponse): void {
    this.#guarded(response, () => {
      const request = new NodeRequest(message);
      const refusal = refusalOf(message, request);
      if (refusal !== null) return this.#refuse(response, request, refusal);
      // As on the native server, nothing that follows a chunked body is ever served.
      if (request.getHeader('transfer-encoding') !== '') response.makeLast();
      const handler = this.#handlerOf(message.method ?? '', request.getUrl());
      if (handler === undefined) response.close();
      else handler(response, request);
    });
  }

  /** A response on a socket that the server of Node.js has handed over. */
  #detached(message: IncomingMessage, socket: Duplex): NodeResponse {
    const response = new ServerResponse(message);
    response.assignSocket(socket as Socket);
    return this.#connectionOf(socket).last(message, response);
  }

  #upgrade(message: IncomingMessage, socket: Duplex, head: Buffer): void {
    const connection = this.#connectionOf(socket);
    // The native server too cuts a connection that sends a request while an answer is open.
    if (connection.busy || socket.destroyed) return connection.cut();
    const request = new NodeRequest(message);
    const route = this.#sockets.get(request.getUrl());
    if (route === undefined || !isUpgrade(message)) return this.#goOn(message, socket, head);
    const response = this.#detached(message, socket);
    this.#guarded(response, () => {
      const refusal = refusalOf(message, request);
      if (refusal !== null) return this.#refuse(response, request, refusal);
      const { limits } = route;
      route.upgrade(response, request, (events) =>
        NodeSocket.open({ message, socket, head, limits, events, fault: this.#fault }, connection),
      );
    });
  }

  /** Serves a request that asks for another protocol; a server may ignore that wish. */
  #goOn(message: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.unshift(Buffer.concat([Buffer.from(withoutUpgrade(message), 'latin1'), head]));
    this.#server.emit(this.#tls === null ? 'connection' : 'secureConnection', socket);
  }

  #unreadable(error: Unreadable, socket: Duplex): void {
    const connection = this.#connectionOf(socket);
    if (error.code === 'ECONNRESET' || !connection.refuse(plainAnswer(error))) {
      return connection.cut();
    }
    const timer = setTimeout(() => socket.destroy(), IDLE_MS).unref();
    // A timer left behind would keep the connection's memory, as the body of a request that was
    // cut.
    socket.once('close', () => clearTimeout(timer));
  }
}
