/** Connections to PostgreSQL that never block for long: what takes too long ends them. */
import { Socket } from 'node:net';
import pg from 'pg';
import { Patience } from './pending.js';
import type { DatabasePlace } from './place.js';
import { errorCode } from '../../base/error-code.js';
import { StoreFault } from '../fault.js';

export type Rows = readonly Readonly<Record<string, unknown>>[];

/** Longest wait for a connection and for the answer to a statement. */
const CONNECT_MS_MAX = 6_000;
const QUERY_MS_MAX = 6_000;
/**
 * Longest wait for an answer of a database that is known to work: it is busy, or its lock is held.
 * Together with the wait for a turn, this is less than a request's time limit, so that the
 * request's answer can report the outcome.
 */
const BUSY_MS_MAX = 18_000;
/**
 * Set for the session: if its node vanishes in the middle of a transaction, the session ends by
 * itself, since it may hold the lock of the store.
 */
const ABANDONED_MS_MAX = 10_000;

/** A failure of the database; the message contains nothing of the address. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  /** SQLSTATE or the system's error code; empty where there is none. */
  readonly code: string;
  /** Whether the database itself reported it; false if it did not answer. */
  readonly isAnswer: boolean;

  constructor(error: unknown, { url, shown }: DatabasePlace) {
    const { password } = new URL(url);
    let message = error instanceof Error ? error.message || error.name : String(error);
    // For a host with several addresses, there is an error for each.
    if (error instanceof AggregateError) message = error.errors.map(String).join(', ');
    for (const secret of [password, decodeURIComponent(password)]) {
      if (secret !== '') message = message.replaceAll(secret, '***');
    }
    super(`${shown}: ${message}`);
    this.code = errorCode(error);
    this.isAnswer = error instanceof pg.DatabaseError;
  }
}

/** SQLSTATEs of a database without disk or memory, or with an error of the disk. */
const UNWRITABLE = /^(53|58)/;

/** The fault of the store for an error of the database; any other error as it is. */
export function faultOf(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error;
  return new StoreFault(UNWRITABLE.test(error.code) ? 'unwritable' : 'unreachable', error);
}

interface ConnectionOptions {
  /** The purpose, which `pg_stat_activity` shows before the schema. */
  readonly use: string;
  /** Longest wait for an answer, where statements cover a whole store. */
  readonly queryMs?: number;
  /**
   * Whether the database is known to answer on another connection. Then a slow answer is waited
   * for, because repeating the statement would only add to the load that makes it slow.
   */
  readonly isThere?: () => boolean;
}

export class Connection {
  readonly #client: pg.Client;
  readonly #socket: Socket;
  readonly #place: DatabasePlace;
  readonly #options: ConnectionOptions;
  /** Statements that have no answer yet. */
  #asked = 0;
  #late = false;
  #ended = false;
  #told: ((from: number) => void) | null = null;

  private constructor(
    client: pg.Client,
    socket: Socket,
    place: DatabasePlace,
    options: ConnectionOptions,
  ) {
    this.#client = client;
    this.#socket = socket;
    this.#place = place;
    this.#options = options;
    const end = (): void => {
      this.#ended = true;
      this.#told?.(0);
    };
    client.on('error', end);
    client.on('end', end);
    client.on('notification', ({ processId }) => this.#told?.(processId));
  }

  /** @throws DatabaseError when there is no connection in time. */
  static async open(place: DatabasePlace, options: ConnectionOptions): Promise<Connection> {
    const socket = new Socket();
    const client = new pg.Client({
      stream: () => socket,
      connectionString: place.url,
      keepAlive: true,
      // Statements are sent at once, before earlier ones are answered; answers come in the same
      // order.
      pipeline: true,
      application_name: `situs ${options.use} ${place.schema}`,
    });
    const connection = new Connection(client, socket, place, options);
    const patience = new Patience({
      ms: CONNECT_MS_MAX,
      out: () => socket.destroy(new Error(`no connection within ${CONNECT_MS_MAX / 1_000} s`)),
    });
    try {
      await client.connect();
      const { queryMs = QUERY_MS_MAX } = options;
      await connection.run(`SET search_path TO "${place.schema}";
        SET lock_timeout = ${connection.#longestMs};
        SET idle_in_transaction_session_timeout = ${Math.max(ABANDONED_MS_MAX, queryMs)};
        SET client_min_messages = warning`);
      const [result] = await connection.run('SHOW synchronous_commit');
      // An acknowledged write must be on disk, whatever the database's default.
      if (result?.[0]?.['synchronous_commit'] === 'off') {
        await connection.run('SET synchronous_commit = on');
      }
      return connection;
    } catch (error) {
      connection.close();
      throw error instanceof DatabaseError ? error : new DatabaseError(error, place);
    } finally {
      patience.cancel();
    }
  }

  /** Number of the session at the database, by which notifications name their sender. */
  get id(): number {
    const id: unknown = 'processID' in this.#client ? this.#client.processID : 0;
    return Number(id);
  }

  /** Whether the connection was lost or closed. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Calls `told` with the sender of each notification, and with 0 when the connection ends. */
  listen(told: (from: number) => void): void {
    this.#told = told;
  }

  /** Whether it keeps the process running, which is needed while something is waited for. */
  hold(held: boolean): void {
    if (held) this.#socket.ref();
    else this.#socket.unref();
  }

  /** Runs statements without parameters; returns the rows of each. @throws DatabaseError */
  async run(text: string): Promise<readonly Rows[]> {
    const results: unknown = await this.#query(this.#client.query(text));
    const each: readonly unknown[] = Array.isArray(results) ? results : [results];
    return each.map(rowsOf);
  }

  /**
   * Runs one statement with parameters. If it has a name, the database parses it only once.
   * @throws DatabaseError
   */
  async ask(text: string, values: readonly unknown[], name?: string): Promise<Rows> {
    const config = { text, values: [...values], ...(name === undefined ? {} : { name }) };
    return rowsOf(await this.#query(this.#client.query(config)));
  }

  /** Sends all statements of `ask` in one piece. */
  together<T>(ask: () => T): T {
    this.#socket.cork();
    try {
      return ask();
    } finally {
      this.#socket.uncork();
    }
  }

  /** Ends the connection at once. */
  close(): void {
    this.#ended = true;
    this.#socket.ref();
    this.#client.end().catch(() => undefined);
    if (this.#asked > 0) this.#socket.destroy();
  }

  get #longestMs(): number {
    const { queryMs = QUERY_MS_MAX, isThere } = this.#options;
    return isThere === undefined ? queryMs : BUSY_MS_MAX;
  }

  async #query(asked: Promise<unknown>): Promise<unknown> {
    const { queryMs: ms = QUERY_MS_MAX, isThere } = this.#options;
    const out = (): void => {
      this.#late = true;
      this.#socket.destroy();
    };
    const patience = new Patience({ ms, out, goesOn: isThere, longestMs: this.#longestMs });
    this.#asked += 1;
    try {
      return await asked;
    } catch (error) {
      throw new DatabaseError(this.#late ? new Error('no answer in time') : error, this.#place);
    } finally {
      this.#asked -= 1;
      patience.cancel();
    }
  }
}

function rowsOf(result: unknown): Rows {
  return typeof result === 'object' && result !== null && 'rows' in result
    ? (result.rows as Rows)
    : [];
}
