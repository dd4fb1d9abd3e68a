/** A database as one end of a copy: all within one transaction. */
import { randomUUID } from 'node:crypto';
import type { CopiedRecord, CopyPages, CopySource, CopyTarget } from '../copy.js';
import { Connection } from './connection.js';
import { keyBytes, keyOf } from './key-bytes.js';
import { LOAD_QUERY_MS_MAX, newestCommit, pagesOf } from './load.js';
import { databasePlace, type DatabasePlace } from './place.js';
import { BEGIN, lockText, migrate, SCHEMA_VERSION } from './schema.js';

async function opened(place: DatabasePlace): Promise<Connection> {
  return Connection.open(place, { use: 'copy', queryMs: LOAD_QUERY_MS_MAX });
}

async function* copied(connection: Connection): CopyPages & AsyncGenerator<CopiedRecord[]> {
  for await (const page of pagesOf(connection)) {
    yield page.map(({ key, value }) => ({ key: keyOf(key), value: value ?? Buffer.alloc(0) }));
  }
}

/** The store of an address as of one moment; servers go on writing it. */
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

/** An empty store at an address, made where there is none; nobody writes it meanwhile. */
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
      await connection.ask(
        'INSERT INTO records SELECT * FROM unnest($1::bytea[], $2::bytea[])',
        [records.map(({ key }) => keyBytes(key)), records.map(({ value }) => value)],
      );
    },
    pages: () => copied(connection),
    keep: async () => {
      const { seq } = await newestCommit(connection);
      // With a gap before it: whoever has a replica of what was there reads everything anew.
      await connection.ask(
        'INSERT INTO changes (seq, batch, keys, contents) VALUES ($1, $2, $3, $3)',
        [seq + 2, randomUUID(), []],
      );
      await connection.run(`NOTIFY "situs_${place.schema}"; COMMIT`);
    },
    close: async () => connection.close(),
  };
}
