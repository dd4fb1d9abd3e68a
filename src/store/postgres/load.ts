/** Reads a whole store out of PostgreSQL into a replica, as of one moment. */
import { Connection, type Rows } from './connection.js';
import type { Change, Position } from './change-log.js';
import type { DatabasePlace } from './place.js';
import type { Replica } from './replica.js';

/** Records read at once. */
export const PAGE_RECORDS = 500;
/** Longest wait for a page. */
export const LOAD_QUERY_MS_MAX = 30_000;

function recordsOf(rows: Rows): readonly Change[] {
  return rows.map(({ key, value }) => ({ key: key as Buffer, value: value as Buffer }));
}

/** The newest commit, as the transaction sees it. */
export async function newestCommit(connection: Connection): Promise<Position> {
  const [rows] = await connection.run(
    'SELECT seq, batch FROM changes ORDER BY seq DESC LIMIT 1',
  );
  const row = rows?.[0];
  return row === undefined
    ? { seq: 0, batch: '' } : { seq: Number(row['seq']), batch: String(row['batch']) };
}

/** The records of a store in the order of their keys, in pages; within one transaction. */
export async function* pagesOf(connection: Connection): AsyncGenerator<readonly Change[]> {
  for (let after = Buffer.alloc(0); ;) {
    const page = recordsOf(await connection.ask(
      'SELECT key, value FROM records WHERE key > $1 ORDER BY key LIMIT $2', [after, PAGE_RECORDS],
    ));
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_RECORDS) return;
    after = Buffer.from(last.key);
  }
}

/**
 * Puts the records of the database in the place of the replica's. What it had goes on being read
 * meanwhile, page by page replaced; killed in the middle it is read whole again.
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
      const isEnd = page.length < PAGE_RECORDS;
      replica.replace(after, page, isEnd);
      after = page.at(-1)?.key ?? after;
    }
    await connection.run('COMMIT');
    replica.move(position);
  } finally {
    connection.close();
  }
}
