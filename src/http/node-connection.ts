/**
 * A connection of the HTTP server of Node.js. That server reads on while an answer is made, and
 * would begin as many answers as requests were sent. Here the next answer begins when the system
 * has taken the one before, so that a client that sends requests and reads nothing costs one
 * answer.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { NodeResponse, type ResponseConnection } from './node-response.js';

/** How many requests a client may send ahead; one that sends more is cut. */
export const AHEAD_MAX = 128;

/** How long the rest of a request is read after its answer. */
const UNREAD_MS = 10_000;

type Serve = (message: IncomingMessage, response: NodeResponse) => void;

export class NodeConnection implements ResponseConnection {
  readonly socket: ResponseConnection['socket'];
  halfClosed = false;
  readonly #serve: Serve;
  readonly #waiting: (readonly [IncomingMessage, ServerResponse])[] = [];
  #current: NodeResponse | null = null;
  #cut: (() => void) | null = null;
  #resting: NodeJS.Immediate | null = null;
  /** The last request that was answered before all of it had come. */
  #unread: IncomingMessage | null = null;
  #restTimer: NodeJS.Timeout | null = null;

  constructor(socket: ResponseConnection['socket'], serve: Serve) {
    this.socket = socket;
    this.#serve = serve;
    socket
      .on('end', () => {
        this.halfClosed = true;
        this.look();
      })
      .once('close', () => {
        this.#waiting.length = 0;
        this.#unread = null;
        if (this.#restTimer !== null) clearTimeout(this.#restTimer);
      });
  }

  /** Whether a request is being answered. */
  get busy(): boolean {
    return this.#current !== null;
  }

  /** Serves a request, or lets it wait for its turn. */
  take(message: IncomingMessage, response: ServerResponse): void {
    // The parser still reports requests that had arrived before the connection was cut.
    if (this.socket.destroyed) return;
    if (this.#current === null) this.#begin(message, response);
    else if (this.#waiting.length >= AHEAD_MAX) this.cut();
    else {
      this.#waiting.push([message, response]);
      this.#rest();
    }
  }

  /**
   * The response to a request that the server of Node.js has handed over with its socket. The
   * connection ends with it.
   */
  last(message: IncomingMessage, response: ServerResponse): NodeResponse {
    response.shouldKeepAlive = false;
    response.once('finish', () => this.socket.end());
    return this.#own(message, response, true);
  }

  /** Notes that the connection is a WebSocket now; `cut` ends that. */
  becomes(cut: () => void): void {
    this.#current?.letGo();
    this.#current = null;
    this.#cut = cut;
  }

  /**
   * Cuts a connection whose client has ended its half, unless its answer is to be sent all the
   * same.
   */
  look(): void {
    if (this.halfClosed && this.#current?.patient === false) this.cut();
  }

  /**
   * Answers a request that cannot be read, and ends the connection. Returns false where an answer
   * was begun or other requests wait.
   */
  refuse(answer: string): boolean {
    const current = this.#current;
    if (!this.socket.writable || this.#waiting.length > 0 || current?.begun === true) return false;
    this.#current = null;
    current?.gone();
    this.socket.end(answer);
    return true;
  }

  /** Cuts the connection, and tells the response under way. */
  cut(): void {
    const current = this.#current;
    this.#current = null;
    this.#waiting.length = 0;
    current?.gone();
    this.#cut?.();
    this.socket.destroy();
  }

  #begin(message: IncomingMessage, response: ServerResponse): void {
    this.socket.setTimeout?.(0);
    this.#serve(message, this.#own(message, response, false));
  }

  #own(message: IncomingMessage, response: ServerResponse, isLast: boolean): NodeResponse {
    const own = new NodeResponse(message, response, this, isLast);
    this.#current = own;
    response.once('close', () => {
      if (!response.writableFinished) own.gone();
      else {
        own.finished();
        if (!message.complete) this.#limitRest(message);
      }
      if (this.#current === own) this.#next();
    });
    return own;
  }

  #next(): void {
    this.#current = null;
    const next = this.#waiting.shift();
    if (next === undefined || this.socket.destroyed) return;
    if (this.#waiting.length === 0) this.socket.resume();
    this.#begin(...next);
  }

  /** Stops reading while requests wait. */
  #rest(): void {
    if (this.#resting !== null) return;
    // Done after the parser, which resumes the socket after each request.
    this.#resting = setImmediate(() => {
      this.#resting = null;
      if (this.#waiting.length > 0) this.socket.pause();
    });
  }

  /**
   * Cuts the connection if the rest of an answered request takes too long. Most are complete as
   * soon as the parser goes on, so only one request at a time is watched.
   */
  #limitRest(message: IncomingMessage): void {
    this.#unread = message;
    this.#restTimer ??= setTimeout(() => {
      this.#restTimer = null;
      if (!message.complete) this.socket.destroy();
      else if (this.#unread?.complete === false) this.#limitRest(this.#unread);
    }, UNREAD_MS).unref();
  }
}
