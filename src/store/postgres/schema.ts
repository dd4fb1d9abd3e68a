/**
 * The tables of a store in PostgreSQL, in versions. Each step is run once, in one transaction, by
 * whoever has the lock of the store.
 *
 * meta     `id` of the store, `version` of the tables, and `readable`: the oldest version whose
 *          programs may still work with them
 * records  key and bytes of each record; keys as LMDB has them, so that their order is the same
 * changes  one row for each commit, numbered without gaps: what other nodes read of it
 */
import { randomUUID } from 'node:crypto';
import { DatabaseError, type Connection } from './connection.js';
import type { DatabasePlace } from './place.js';

interface Step {
  readonly sql: string;
  /**
   * First version of the program's tables whose programs can work with the tables after this step.
   */
  readonly readable: number;
}

const STEPS: readonly Step[] = [
  {
    readable: 1,
    sql: `
    CREATE TABLE records (key bytea PRIMARY KEY, value bytea NOT NULL);
    CREATE TABLE changes (
      seq bigint PRIMARY KEY, batch uuid NOT NULL UNIQUE,
      at timestamptz NOT NULL DEFAULT now(),
      keys bytea[] NOT NULL, contents bytea[] NOT NULL
    );
    CREATE INDEX changes_at ON changes (at)`,
  },
];

/** Version of the tables that this program makes. */
export const SCHEMA_VERSION = STEPS.length;

interface SchemaState {
  readonly id: string;
  readonly version: number;
  readonly readable: number;
}

/** Statement that takes the lock for writing a store, until the end of the transaction. */
export function lockText({ schema }: DatabasePlace): string {
  return `SELECT pg_advisory_xact_lock(hashtextextended('situs store ${schema}', 0))`;
}

/** Begins a transaction that sees what others committed while it waited for the lock. */
export const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE';

/** The version of the tables; null where there is no store. */
async function stateOf(connection: Connection, place: DatabasePlace): Promise<SchemaState | null> {
  // Read from a table, because functions that look up names may not see tables that were just made.
  const [there] = await connection.run(
    `SELECT 1 FROM pg_tables WHERE schemaname = '${place.schema}' AND tablename = 'meta'`,
  );
  if (there?.length !== 1) return null;
  const [rows] = await connection.run('SELECT name, value FROM meta');
  const values = new Map(rows?.map(({ name, value }) => [String(name), String(value)]));
  const [id, version] = [values.get('id'), Number(values.get('version'))];
  if (id === undefined || !Number.isInteger(version)) {
    throw new Error(`${place.shown} has a table "meta" that is not of a store of Situs`);
  }
  return { id, version, readable: Number(values.get('readable')) };
}

/** @throws Error where only newer programs can work with the tables. */
export function checkReadable(
  { version, readable }: Pick<SchemaState, 'version' | 'readable'>,
  place: DatabasePlace,
): void {
  if (readable <= SCHEMA_VERSION) return;
  throw new Error(
    `the store in ${place.shown} has tables of version ${version}, which programs ` +
      `of version ${readable} and later work with; this one is of version ${SCHEMA_VERSION}: ` +
      'a newer version of Situs made them',
  );
}

/** The error for tables that could not be made: where rights are missing, it says what to do. */
function unmade(error: unknown, place: DatabasePlace): unknown {
  return error instanceof DatabaseError && error.code === '42501'
    ? new Error(
        `the tables in ${place.shown} cannot be made or changed by this user; run ` +
          '"situs store migrate" as one that may',
        { cause: error },
      )
    : error;
}

/**
 * Makes the tables, or updates them to this program's version.
 * @returns the state after that, and the version before: 0 where there were none
 * @throws Error when a newer program made them, or they cannot be made.
 */
export async function migrate(
  connection: Connection,
  place: DatabasePlace,
): Promise<SchemaState & { readonly before: number }> {
  const known = await stateOf(connection, place);
  if (known !== null) checkReadable(known, place);
  if (known !== null && known.version >= SCHEMA_VERSION) return { ...known, before: known.version };
  try {
    await connection.run(`${BEGIN}; ${lockText(place)}`);
    const found = await stateOf(connection, place);
    if (found === null) {
      await connection.run(`CREATE SCHEMA IF NOT EXISTS "${place.schema}";
        CREATE TABLE meta (name text PRIMARY KEY, value text NOT NULL);
        INSERT INTO meta VALUES ('id', '${randomUUID()}'), ('version', '0'), ('readable', '0')`);
    }
    const before = found?.version ?? 0;
    for (const [at, { sql, readable }] of STEPS.entries()) {
      if (at < before) continue;
      await connection.run(`${sql};
        UPDATE meta SET value = '${at + 1}' WHERE name = 'version';
        UPDATE meta SET value = '${readable}' WHERE name = 'readable'`);
    }
    await connection.run('COMMIT');
    const made = await stateOf(connection, place);
    if (made === null) throw new Error(`no tables were made in ${place.shown}`);
    return { ...made, before };
  } catch (error) {
    await connection.run('ROLLBACK').catch(() => undefined);
    throw unmade(error, place);
  }
}
