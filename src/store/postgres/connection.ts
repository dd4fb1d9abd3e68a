/** Connections to PostgreSQL, on which nothing hangs: what takes too long ends them. */
import { Socket } from 'node:net';
import pg from 'pg';
import { Patience } from './pending.js';
import type { DatabasePlace } from './place.js';
import { errorCode } from '../../base/error-code.js';

export type Rows = readonly Readonly<Record<string, unknown>>[];

/** Longest wait for a connection, and for the answer to a statement. */
const CONNECT_MS_MAX = 6_000;
const QUERY_MS_MAX = 6_000;
/**
 * The same of a database that is known to be there: it has much to do, or its lock is held. With
 * the wait for a turn less than a request has time for, so that its answer tells what became of it.
 */
const BUSY_MS_MAX = 18_000;
/**
 * Set for the session: one whose node has vanished in the middle of a transaction ends by itself,
 * since it may hold the lock of all.
 */
const ABANDONED_MS_MAX = 10_000;

/** What went wrong with the database, without anything of the address in it. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  /** SQLSTATE, or the word of the system; empty where there is none. */
  readonly code: string;
  /** Whether the database said it; else nothing was heard of it. */
  readonly isAnswer: boolean;

  constructor(error: unknown, { url, shown }: DatabasePlace) {
    const { password } = new URL(url);
    let message = error instanceof Error ? error.message || error.name : String(error);
    // A host with several addresses fails with one error for each.
    if (error instanceof AggregateError) message = error.errors.map(String).join(', ');
    for (const secret of [password, decodeURIComponent(password)]) {
      if (secret !== '') message = message.replaceAll(secret, '***');
    }
    super(`${shown}: ${message}`);
    this.code = errorCode(error);
    this.isAnswer = error instanceof pg.DatabaseError;
  }
}

interface ConnectionOptions {
  /** What it is for, as `pg_stat_activity` shows it before the schema. */
  readonly use: string;
  /** Longest wait for an answer; for statements over a whole store. */
  readonly queryMs?: number;
  /**
   * Whether the database is known to answer elsewhere: what takes long is then waited for, since
   * giving up what is only slow would make more of the work that keeps it from answering.
   */
  readonly isThere?: () => boolean;
}

export class Connection {
  readonly #client: pg.Client;
  readonly #socket: Socket;
  readonly #place: DatabasePlace;
  readonly #options: ConnectionOptions;
  /** Statements without an answer yet. */
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

  /** @throws DatabaseError when it cannot be had. */
  static async open(place: DatabasePlace, options: ConnectionOptions): Promise<Connection> {
    const socket = new Socket();
    const client = new pg.Client({
      stream: () => socket,
      connectionString: place.url,
      keepAlive: true,
      // What is asked is sent at once; answers come in the order of the questions.
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
      // What is acknowledged is on a disk, whatever the database does by default.
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

  /** Its number at the database; notifications tell by it whose they are. */
  get id(): number {
    const id: unknown = 'processID' in this.#client ? this.#client.processID : 0;
    return Number(id);
  }

  /** Whether it was cut or closed. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Calls `told` at each notification, with whose it is, and with 0 when the connection ends. */
  listen(told: (from: number) => void): void {
    this.#told = told;
  }

  /** Whether it keeps the process running, as while something is waited for. */
  hold(held: boolean): void {
    if (held) this.#socket.ref();
    else this.#socket.unref();
  }

  /** Runs statements without parameters; the rows of each. @throws DatabaseError */
  async run(text: string): Promise<readonly Rows[]> {
    const results: unknown = await this.#query(this.#client.query(text));
    const each: readonly unknown[] = Array.isArray(results) ? results : [results];
    return each.map(rowsOf);
  }

  /**
   * Runs one statement with parameters; with a name, it is read by the database but once.
   * @throws DatabaseError
   */
  async ask(text: string, values: readonly unknown[], name?: string): Promise<Rows> {
    const config = { text, values: [...values], ...(name === undefined ? {} : { name }) };
    return rowsOf(await this.#query(this.#client.query(config)));
  }

  /** What `ask` asks for leaves in one piece. */
  together<T>(ask: () => T): T {
    this.#socket.cork();
    try {
      return ask();
    } finally {
      this.#socket.uncork();
    }
  }

  /** Ends it without waiting for anything. */
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
