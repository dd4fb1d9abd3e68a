/**
 * Reads a whole store from PostgreSQL, into a replica or for a copy, and writes a whole store into
 * it.
 */
import { randomUUID } from 'node:crypto';
import type { CopyPages, CopySource, CopyTarget } from '../copy.js';
import type { Change, Position } from './change-log.js';
import { Connection, type Rows } from './connection.js';
import { type DatabasePlace, databasePlace } from './place.js';
import { keyBytes, keyOf, type Replica } from './replica.js';
import { BEGIN, lockText, migrate, SCHEMA_VERSION } from './schema.js';
import { PAGE_BYTES, type RecordBytes } from '../root.js';

/** Most records that are read at a time. */
const PAGE_RECORDS = 500;
/** Longest wait for a page. */
const LOAD_QUERY_MS_MAX = 30_000;

function recordsOf(rows: Rows): readonly Change[] {
  return rows.map(({ key, value }) => ({ key: key as Buffer, value: value as Buffer }));
}

/** The newest commit that the transaction sees. */
async function newestCommit(connection: Connection): Promise<Position> {
  const [rows] = await connection.run('SELECT seq, batch FROM changes ORDER BY seq DESC LIMIT 1');
  const row = rows?.[0];
  return row === undefined
    ? { seq: 0, batch: '' }
    : { seq: Number(row['seq']), batch: String(row['batch']) };
}

/** The records of a store in pages, in the order of their keys, within one transaction. */
async function* pagesOf(connection: Connection): AsyncGenerator<readonly Change[]> {
  for (let after = Buffer.alloc(0); ; ) {
    const page = recordsOf(
      await connection.ask(
        `SELECT key, value FROM (
          SELECT key, value, sum(octet_length(value))
            OVER (ORDER BY key ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
          FROM records WHERE key > $1 ORDER BY key LIMIT $2) AS read
        WHERE coalesce(before, 0) < $3 ORDER BY key`,
        [after, PAGE_RECORDS, PAGE_BYTES],
      ),
    );
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = Buffer.from(last.key);
  }
}

/**
 * Replaces the replica's records by those of the database, page by page; it can be read meanwhile.
 * If the process is killed before the end, the replica is read completely again.
 * @throws DatabaseError when the database cannot be read.
 */
export async function loadReplica(place: DatabasePlace, replica: Replica): Promise<void> {
  const connection = await Connection.open(place, { use: 'load', queryMs: LOAD_QUERY_MS_MAX });
  try {
    await connection.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const position = await newestCommit(connection);
    replica.unread();
    let after: Buffer | null = null;
    for await (const page of pagesOf(connection)) {
      replica.replace(after, page);
      after = page.at(-1)?.key ?? after;
    }
    replica.replace(after, []);
    await connection.run('COMMIT');
    replica.move(position);
  } finally {
    connection.close();
  }
}

async function opened(place: DatabasePlace): Promise<Connection> {
  return Connection.open(place, { use: 'copy', queryMs: LOAD_QUERY_MS_MAX });
}

async function* copied(connection: Connection): CopyPages & AsyncGenerator<RecordBytes[]> {
  for await (const page of pagesOf(connection)) {
    yield page.map(({ key, value }) => ({ key: keyOf(key), value: value ?? Buffer.alloc(0) }));
  }
}

/** The store at an address as of one moment; servers may write to it meanwhile. */
export async function databaseSource(url: string): Promise<CopySource> {
  const place = databasePlace(url);
  const connection = await opened(place);
  try {
    const [there] = await connection.run(
      `SELECT to_regclass('"${place.schema}".records') IS NOT NULL AS there`,
    );
    if (there?.[0]?.['there'] !== true) throw new Error(`there is no store in ${place.shown}`);
    const { version } = await migrate(connection, place);
    if (version < SCHEMA_VERSION) throw new Error(`the store in ${place.shown} is an older one`);
    await connection.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  } catch (error) {
    connection.close();
    throw error;
  }
  return {
    pages: () => copied(connection),
    close: async () => connection.close(),
  };
}

/**
 * An empty store at an address, which is made where there is none and locked against other writers.
 */
export async function databaseTarget(url: string): Promise<CopyTarget> {
  const place = databasePlace(url);
  const connection = await opened(place);
  try {
    await migrate(connection, place);
    await connection.run(`${BEGIN}; ${lockText(place)}`);
    const rows = await connection.ask(
      'SELECT 1 FROM records WHERE substring(key FROM 1 FOR length($1::bytea)) <> $1 LIMIT 1',
      [keyBytes(['meta', ''])],
    );
    if (rows.length > 0) throw new Error(`the store in ${place.shown} holds records`);
    await connection.run('DELETE FROM records');
  } catch (error) {
    connection.close();
    throw error;
  }
  return {
    put: async (records) => {
      await connection.ask('INSERT INTO records SELECT * FROM unnest($1::bytea[], $2::bytea[])', [
        records.map(({ key }) => keyBytes(key)),
        records.map(({ value }) => value),
      ]);
    },
    pages: () => copied(connection),
    keep: async () => {
      const { seq } = await newestCommit(connection);
      // The number leaves a gap, so that nodes with a replica of an earlier store read everything
      // again.
      await connection.ask(
        'INSERT INTO changes (seq, batch, keys, contents) VALUES ($1, $2, $3, $3)',
        [seq + 2, randomUUID(), []],
      );
      await connection.run(`NOTIFY "situs_${place.schema}"; COMMIT`);
    },
    close: async () => connection.close(),
  };
}
