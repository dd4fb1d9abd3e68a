/**
 * The port between the service and the HTTP server. `uws.ts` implements it with the native server,
 * `node-server.ts` with that of Node.js; `open-transport.ts` chooses.
 */

import { existsSync } from 'node:fs';
import type { Reply } from './reply.js';

/** Which server answers. */
export type TransportName = 'native' | 'node';

/** The error for a certificate that cannot be read, or does not fit its key. */
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

/** Called with an exception of a handler, which is a bug. */
export type Fault = (error: unknown) => void;

/** What the service uses of a response. It is valid until it has ended or was aborted. */
export interface RawResponse {
  writeStatus(status: string): RawResponse;
  writeHeader(name: string | ArrayBuffer, value: string | Uint8Array): RawResponse;
  end(body?: string | Uint8Array, closeConnection?: boolean): RawResponse;
  /**
   * Sends what the system takes at once, and returns whether it took all of this and whether the
   * answer is complete. A `length` above that of the body announces more; the first call determines
   * it.
   */
  tryEnd(body: string | Uint8Array, length?: number): [taken: boolean, whole: boolean];
  /** How many bytes of the body were taken so far. */
  getWriteOffset(): number;
  /** Ends without a length or, after `tryEnd` without a body, with the length given there. */
  endWithoutBody(length?: undefined, closeConnection?: boolean): RawResponse;
  /** Sends a part of an answer of unknown length; false when the client is behind. */
  write(part: Uint8Array): boolean;
  /** Calls back when the client has caught up; the handler returns whether nothing is left. */
  onWritable(handler: (offset: number) => boolean): RawResponse;
  cork(write: () => void): RawResponse;
  close(): RawResponse;
  pause(): void;
  resume(): void;
  onAborted(handler: () => void): RawResponse;
  /** The address of the other end of the connection, in ASCII. */
  getRemoteAddressAsText(): ArrayBuffer;
  /** `chunk` is emptied when the handler returns. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): RawResponse;
}

/** A response that takes bytes with header fields after the status, as the native server's do. */
export interface JoiningResponse extends RawResponse {
  writeStatus(status: string | ArrayBuffer): RawResponse;
}

/** What the service uses of a request. It is valid only while its handler runs. */
export interface RawRequest {
  getHeader(lowerCaseName: string | ArrayBuffer): string;
  getUrl(): string;
  getCaseSensitiveMethod(): string;
  getQuery(): string | undefined;
  forEach(each: (name: string, value: string) => void): void;
}

/** A WebSocket. It is valid until it was closed. */
export interface RawSocket {
  /**
   * Sends bytes as text. Returns 1 if they were sent, 0 if they wait in memory, 2 if they were
   * dropped.
   */
  send(text: Uint8Array): number;
  /** How many bytes wait in memory. */
  getBufferedAmount(): number;
  ping(): number;
  /** Closes the WebSocket after everything that was sent. */
  end(code: number, reason: string): void;
  /** Cuts the connection. */
  close(): void;
  cork(write: () => void): void;
}

/** Callbacks of a WebSocket. */
export interface SocketEvents {
  open(socket: RawSocket): void;
  /** `message` is emptied when this returns. */
  message(message: ArrayBuffer, isBinary: boolean): void;
  /** The client has caught up, or at least takes some bytes again. */
  drained(): void;
  /** A ping or a pong came. */
  alive(): void;
  closed(): void;
}

/** Decides about an upgrade: calls `accept`, at once or later, or answers in another way. */
export type Upgrade = (
  response: RawResponse,
  request: RawRequest,
  accept: (events: SocketEvents) => void,
) => void;

export interface SocketLimits {
  /** A longer message cuts the connection. */
  readonly messageBytesMax: number;
  /** How many bytes may wait in memory before messages are dropped. */
  readonly bufferedBytesMax: number;
}

export type RawHandler = (response: RawResponse, request: RawRequest) => void;

/** Notes an answer to a head that no handler sees, and returns its further fields. */
export type RefusalNote = (
  response: RawResponse,
  request: RawRequest,
  reply: Reply,
) => readonly string[];

/** What to call with bugs and refusals. */
export interface Told {
  readonly fault: Fault;
  note: RefusalNote;
}

/** An HTTP server. */
export interface RawServer {
  readonly transport: TransportName;
  /** Sets what is called for each readable head that the server refuses by itself. */
  noteRefusals(note: RefusalNote): void;
  /** Handles every method of a pattern. The first registration that matches counts. */
  any(pattern: string, handler: RawHandler): void;
  /** The handler answers completely, or registers for an abort, before it returns. */
  get(pattern: string, handler: RawHandler): void;
  post(pattern: string, handler: RawHandler): void;
  /** Accepts WebSockets of a path. Call it before other handlers of the path are registered. */
  sockets(path: string, limits: SocketLimits, upgrade: Upgrade): void;
  /**
   * Listens and returns the port, or null where that is not available. With `shared`, other
   * processes that share a given port may listen on it too; each connection goes to one of them.
   */
  listen(host: string, port: number, shared?: boolean): Promise<number | null>;
  /** Refuses new connections; open ones go on. */
  stopListening(): void;
  /**
   * Refuses new connections after accepting those that have come, for a port on which other
   * processes listen too; open ones go on.
   */
  stopTaking(): Promise<void>;
  /** How many connections are open. */
  readonly connections: number;
  /**
   * Accepts new connections with the present certificate files; open ones go on as they are. Does
   * nothing without TLS.
   * @throws Error when certificate and key cannot be used; the former ones stay in use then.
   */
  renew(): Promise<void>;
  /** Cuts every connection. */
  close(): void;
}
