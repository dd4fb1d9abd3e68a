/** Connections to PostgreSQL, on which nothing hangs: what takes too long ends them. */
import { Socket } from 'node:net';
import pg from 'pg';
import type { DatabasePlace } from './place.js';

export type Rows = readonly Readonly<Record<string, unknown>>[];

/** Longest wait for a connection, and for the answer to a statement. */
const CONNECT_MS_MAX = 3_000;
const QUERY_MS_MAX = 6_000;
/**
 * Set for the session. The server gives up first, so that its reason is heard; one whose node has
 * vanished in the middle of a transaction ends by itself, since it may hold the lock of all.
 */
const LOCK_MS_MAX = 3_000;
const ABANDONED_MS_MAX = 10_000;

/** What went wrong with the database, without anything of the address in it. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  /** SQLSTATE, or the word of the system; empty where there is none. */
  readonly code: string;

  constructor(error: unknown, { url, shown }: DatabasePlace) {
    const { password } = new URL(url);
    let message = error instanceof Error ? error.message || error.name : String(error);
    // A host with several addresses fails with one error for each.
    if (error instanceof AggregateError) message = error.errors.map(String).join(', ');
    for (const secret of [password, decodeURIComponent(password)]) {
      if (secret !== '') message = message.replaceAll(secret, '***');
    }
    super(`${shown}: ${message}`);
    this.code = error instanceof Error && 'code' in error ? String(error.code) : '';
  }
}

export interface ConnectionOptions {
  /** What it is for, as `pg_stat_activity` shows it. */
  readonly use: string;
  /** Longest wait for an answer; for statements over a whole store. */
  readonly queryMs?: number;
}

export class Connection {
  readonly #client: pg.Client;
  readonly #socket: Socket;
  readonly #place: DatabasePlace;
  #ended = false;
  #told: (() => void) | null = null;

  private constructor(client: pg.Client, socket: Socket, place: DatabasePlace) {
    this.#client = client;
    this.#socket = socket;
    this.#place = place;
    const end = (): void => {
      this.#ended = true;
      this.#told?.();
    };
    client.on('error', end);
    client.on('end', end);
    client.on('notification', () => this.#told?.());
  }

  /** @throws DatabaseError when it cannot be had. */
  static async open(
    place: DatabasePlace, { use, queryMs = QUERY_MS_MAX }: ConnectionOptions,
  ): Promise<Connection> {
    const socket = new Socket();
    const client = new pg.Client({
      stream: () => socket,
      connectionString: place.url, connectionTimeoutMillis: CONNECT_MS_MAX,
      query_timeout: queryMs, keepAlive: true, application_name: `situs ${use}`,
    });
    const connection = new Connection(client, socket, place);
    try {
      await client.connect();
      await connection.run(`SET search_path TO "${place.schema}"; SET lock_timeout = ${LOCK_MS_MAX};
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
    }
  }

  /** Whether it was cut or closed. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Calls `told` at each notification, and when the connection ends. */
  listen(told: () => void): void {
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

  /** Runs one statement with parameters. @throws DatabaseError */
  async ask(text: string, values: readonly unknown[]): Promise<Rows> {
    return rowsOf(await this.#query(this.#client.query(text, [...values])));
  }

  /** Ends it without waiting for anything. */
  close(): void {
    this.#ended = true;
    this.#socket.ref();
    this.#client.end().catch(() => undefined);
  }

  async #query(asked: Promise<unknown>): Promise<unknown> {
    try {
      return await asked;
    } catch (error) {
      throw new DatabaseError(error, this.#place);
    }
  }
}

function rowsOf(result: unknown): Rows {
  return typeof result === 'object' && result !== null && 'rows' in result
    ? result.rows as Rows : [];
}
