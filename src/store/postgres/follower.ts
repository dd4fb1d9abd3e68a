/**
 * Takes over what other nodes commit: told by NOTIFY, and asked for besides, so that how old the
 * replica may be does not rest on being told.
 */
import { listenForCommits, readSince } from './change-log.js';
import { Connection } from './connection.js';
import type { WriterOptions } from './writer.js';

/** How often it asks; what is told comes sooner. */
const POLL_MS = 400;
/** Waits after a connection that could not be had or was cut; the first one is short. */
const RETRY_MS = 20;
const RETRY_MS_MAX = 400;

export interface FollowerOptions extends WriterOptions {
  /** Whether what a notification of a connection tells of is taken over without it. */
  readonly covered: (from: number) => boolean;
}

export class Follower {
  readonly #options: FollowerOptions;
  #connection: Connection | null = null;
  #closed = false;
  #wake: (() => void) | null = null;
  #told = false;
  readonly #following: Promise<void>;
  #failing = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#following = this.#follow();
  }

  /** Whether the database was not reached the last time it was asked. */
  get isFailing(): boolean {
    return this.#failing;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#wakeUp();
    this.#connection?.close();
    await this.#following;
  }

  async #follow(): Promise<void> {
    for (let retryMs = RETRY_MS; !this.#closed;) {
      try {
        const connection = await this.#open();
        await this.#catchUp(connection);
        retryMs = RETRY_MS;
        this.#failing = false;
        await this.#sleep(POLL_MS);
      } catch (error) {
        this.#connection?.close();
        this.#connection = null;
        if (this.#closed) return;
        if (!this.#failing) this.#options.failed(error);
        this.#failing = true;
        this.#told = false;
        await this.#sleep(retryMs);
        retryMs = Math.min(2 * retryMs, RETRY_MS_MAX);
      }
    }
  }

  async #open(): Promise<Connection> {
    const { place } = this.#options;
    if (this.#connection !== null && !this.#connection.ended) return this.#connection;
    const connection = await Connection.open(place, { use: 'follow' });
    this.#connection = connection;
    if (this.#closed) connection.close();
    connection.listen((from) => {
      if (!this.#options.covered(from)) this.#wakeUp();
    });
    await listenForCommits(connection, place);
    // A store that is open and not used keeps no process running.
    connection.hold(false);
    return connection;
  }

  async #catchUp(connection: Connection): Promise<void> {
    const { replica, load, changed, fresh } = this.#options;
    for (;;) {
      const at = performance.now();
      const { position } = replica;
      const batches = position.seq < 0 ? null : await readSince(connection, position);
      if (batches === null) await load();
      else if (batches.length > 0 && replica.apply(batches)) changed();
      if (batches !== null && batches.length === 0) return fresh(at);
      // What was read was not all, or the replica moved meanwhile: until nothing is left.
    }
  }

  /** Waits, or until it is woken, also just before. */
  async #sleep(ms: number): Promise<void> {
    if (!this.#told && !this.#closed) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms).unref();
        this.#wake = (): void => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#wake = null;
    this.#told = false;
  }

  #wakeUp(): void {
    this.#told = true;
    this.#wake?.();
  }
}
