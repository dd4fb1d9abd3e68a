/**
 * A connection of the HTTP server of Node.js. That reads on while an answer is made, and begins as
 * many answers as requests were sent; here the next one begins when the system has taken the one
 * before, so that a client that asks and takes nothing costs one answer.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { NodeResponse, type ResponseConnection } from './node-response.js';

/** Requests that a client may send ahead; whoever sends more is cut. */
export const AHEAD_MAX = 128;

/** A request that is sent on and on after it was answered is read for so long. */
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
  /** The last request that was answered before its end. */
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

  /** A request has come: it is served, or waits for its turn. */
  take(message: IncomingMessage, response: ServerResponse): void {
    // The parser goes on with what it was given, also when the connection was cut.
    if (this.socket.destroyed) return;
    if (this.#current === null) this.#begin(message, response);
    else if (this.#waiting.length >= AHEAD_MAX) this.cut();
    else {
      this.#waiting.push([message, response]);
      this.#rest();
    }
  }

  /** A response to what the server of Node.js has let go of; its connection ends with it. */
  last(message: IncomingMessage, response: ServerResponse): NodeResponse {
    response.shouldKeepAlive = false;
    response.once('finish', () => this.socket.end());
    return this.#own(message, response, true);
  }

  /** It is a WebSocket now; `cut` ends that. */
  becomes(cut: () => void): void {
    this.#current?.letGo();
    this.#current = null;
    this.#cut = cut;
  }

  /** One that has ended its half is cut, unless it is answered all the same. */
  look(): void {
    if (this.halfClosed && this.#current?.patient === false) this.cut();
  }

  /**
   * Ends it with what is said of a request that cannot be read; false where something else was said
   * before that.
   */
  refuse(answer: string): boolean {
    const current = this.#current;
    if (!this.socket.writable || this.#waiting.length > 0 || current?.begun === true) return false;
    this.#current = null;
    current?.gone();
    this.socket.end(answer);
    return true;
  }

  /** Cuts it, and tells whoever answers. */
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

  /** Reads nothing more while requests wait. */
  #rest(): void {
    if (this.#resting !== null) return;
    // Behind the parser, which has the socket read on after each request.
    this.#resting = setImmediate(() => {
      this.#resting = null;
      if (this.#waiting.length > 0) this.socket.pause();
    });
  }

  /** Most are complete as soon as the parser goes on; so one is watched of those of a while. */
  #limitRest(message: IncomingMessage): void {
    this.#unread = message;
    this.#restTimer ??= setTimeout(() => {
      this.#restTimer = null;
      if (!message.complete) this.socket.destroy();
      else if (this.#unread?.complete === false) this.#limitRest(this.#unread);
    }, UNREAD_MS).unref();
  }
}
