/**
 * The port between the service and an HTTP server underneath. `uws.ts` has it by the native server,
 * `node-server.ts` by the one of Node.js; `open-transport.ts` chooses.
 */

import { existsSync } from 'node:fs';
import type { Reply } from './reply.js';

/** Which server answers. */
export type TransportName = 'native' | 'node';

/** What is told of a certificate that cannot be read, or not with its key. */
export function unfitCertificate({
  cert,
  key,
}: {
  readonly cert: string;
  readonly key: string;
}): Error {
  const missing = [
    ['SITUS_TLS_CERT', cert],
    ['SITUS_TLS_KEY', key],
  ] as const;
  const [name, path] = missing.find(([, file]) => !existsSync(file)) ?? [];
  return new Error(
    name === undefined
      ? 'SITUS_TLS_CERT and SITUS_TLS_KEY name no certificate and key that fit'
      : `${name} names no file: ${path}`,
  );
}

/** Told of what a handler threw, which is a bug. */
export type Fault = (error: unknown) => void;

/** What the service uses of a response. Valid until it ended or was aborted. */
export interface RawResponse {
  writeStatus(status: string): RawResponse;
  writeHeader(name: string | ArrayBuffer, value: string | Uint8Array): RawResponse;
  end(body?: string | Uint8Array, closeConnection?: boolean): RawResponse;
  /**
   * Ends with what the system takes at once: whether it took all of this, and whether that was all.
   * A length greater than that of the body says that more comes; it is told by the first call.
   */
  tryEnd(body: string | Uint8Array, length?: number): [taken: boolean, whole: boolean];
  /** Bytes of the body that were taken so far. */
  getWriteOffset(): number;
  /** Tells no length; after `tryEnd` without a body the one that was told there. */
  endWithoutBody(length?: undefined, closeConnection?: boolean): RawResponse;
  /** Sends a part of an answer of unknown length; false when the client is behind. */
  write(part: Uint8Array): boolean;
  /** Calls back when the client has caught up; what it returns is whether nothing is left. */
  onWritable(handler: (offset: number) => boolean): RawResponse;
  cork(write: () => void): RawResponse;
  close(): RawResponse;
  pause(): void;
  resume(): void;
  onAborted(handler: () => void): RawResponse;
  /** Of the other end of the connection, in ASCII. */
  getRemoteAddressAsText(): ArrayBuffer;
  /** `chunk` is emptied when the handler returns. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): RawResponse;
}

/** One that takes bytes with header fields behind the status, as the native server does. */
export interface JoiningResponse extends RawResponse {
  writeStatus(status: string | ArrayBuffer): RawResponse;
}

/** What the service uses of a request. Valid only while its handler runs. */
export interface RawRequest {
  getHeader(lowerCaseName: string | ArrayBuffer): string;
  getUrl(): string;
  getCaseSensitiveMethod(): string;
  getQuery(): string | undefined;
  forEach(each: (name: string, value: string) => void): void;
}

/** A WebSocket. Valid until it was closed. */
export interface RawSocket {
  /** Sends bytes as text: 1 sent, 0 kept in memory until the client has caught up, 2 dropped. */
  send(text: Uint8Array): number;
  /** Bytes kept in memory. */
  getBufferedAmount(): number;
  ping(): number;
  /** Says goodbye after everything that was sent. */
  end(code: number, reason: string): void;
  /** Cuts the connection. */
  close(): void;
  cork(write: () => void): void;
}

/** What a WebSocket is told. */
export interface SocketEvents {
  open(socket: RawSocket): void;
  /** `message` is emptied when this returns. */
  message(message: ArrayBuffer, isBinary: boolean): void;
  /** The client has caught up, or takes some again. */
  drained(): void;
  /** A ping or a pong came. */
  alive(): void;
  closed(): void;
}

/** Decides about an upgrade: calls `accept`, then or later, or answers in another way. */
export type Upgrade = (
  response: RawResponse,
  request: RawRequest,
  accept: (events: SocketEvents) => void,
) => void;

export interface SocketLimits {
  /** A longer message cuts the connection. */
  readonly messageBytesMax: number;
  /** Bytes kept in memory above which messages are dropped. */
  readonly bufferedBytesMax: number;
}

export type RawHandler = (response: RawResponse, request: RawRequest) => void;

/** Told of an answer to a head that no handler sees; gives the fields that go with it. */
export type RefusalNote = (
  response: RawResponse,
  request: RawRequest,
  reply: Reply,
) => readonly string[];

/** Who is told of bugs and of refusals. */
export interface Told {
  readonly fault: Fault;
  note: RefusalNote;
}

/** A listening server. */
export interface RawServer {
  readonly transport: TransportName;
  /** Has each head that the server refuses by itself noted, where it can be read. */
  noteRefusals(note: RefusalNote): void;
  /** Every method of a pattern. Registration order decides. */
  any(pattern: string, handler: RawHandler): void;
  /** The handler answers whole or registers for an abort before it returns. */
  get(pattern: string, handler: RawHandler): void;
  post(pattern: string, handler: RawHandler): void;
  /** WebSockets of a path; to be said before other handlers of the path. */
  sockets(path: string, limits: SocketLimits, upgrade: Upgrade): void;
  /**
   * Listens and returns the port, or null when it cannot be had. `shared` lets others that share it
   * listen on it too, where the port is given: each connection comes to one of them.
   */
  listen(host: string, port: number, shared?: boolean): Promise<number | null>;
  /** Refuses new connections; open ones go on. */
  stopListening(): void;
  /**
   * Refuses new connections once those that came until then are taken, for a port that others
   * listen on too; open ones go on.
   */
  stopTaking(): Promise<void>;
  /** Open connections. */
  readonly connections: number;
  /**
   * Takes new connections with the certificate that its files hold now; open ones go on as they
   * are. Nothing happens without TLS.
   * @throws Error when certificate and key cannot be used; the ones before go on then.
   */
  renew(): Promise<void>;
  /** Cuts every connection. */
  close(): void;
}
