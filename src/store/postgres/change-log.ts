/** Commits of a store in PostgreSQL: what was changed, read behind a position and written. */
import type { Connection, Rows } from './connection.js';
import { BEGIN, checkReadable, lockText } from './schema.js';
import type { DatabasePlace } from './place.js';

/** A commit up to which a replica has everything; 0 and no batch before the first one. */
export interface Position {
  readonly seq: number;
  readonly batch: string;
}

/** A record that was changed: its key as LMDB has it, its bytes, null where it is gone. */
export interface Change {
  readonly key: Buffer;
  readonly value: Buffer | null;
}

export interface Batch extends Position {
  readonly changes: readonly Change[];
}

/** Commits read at once. */
const BATCHES_MAX = 500;
/**
 * How long commits are kept for nodes that were away. Longer than any of them is called ready while
 * it cannot reach the database.
 */
export const CHANGES_KEPT_HOURS = 1;

/** Those behind a position, and the one at it without what it changed. */
function sinceText(seq: number): string {
  return `SELECT seq, batch, CASE WHEN seq > ${seq} THEN keys END AS keys,
      CASE WHEN seq > ${seq} THEN contents END AS contents
    FROM changes WHERE seq >= ${seq} ORDER BY seq LIMIT ${BATCHES_MAX}`;
}

function changesOf({ keys, contents }: Readonly<Record<string, unknown>>): readonly Change[] {
  if (!Array.isArray(keys) || !Array.isArray(contents)) return [];
  const values: readonly (Buffer | null)[] = contents;
  return keys.map((key: Buffer, at) => ({ key, value: values[at] ?? null }));
}

/**
 * The commits behind a position; null where they are not known any more, or the store is another
 * one than it was then, as one that was restored.
 */
function batchesOf(rows: Rows, { seq, batch }: Position): readonly Batch[] | null {
  const read = rows.map((row) => ({
    seq: Number(row['seq']), batch: String(row['batch']), changes: changesOf(row),
  }));
  const behind = seq === 0 ? read : read.slice(1);
  if (seq > 0 && (read[0]?.seq !== seq || read[0].batch !== batch)) return null;
  return behind.every((each, at) => each.seq === seq + 1 + at) ? behind : null;
}

/** Some of the commits behind a position; as many as `BATCHES_MAX` where there are more. */
export async function readSince(
  connection: Connection, position: Position,
): Promise<readonly Batch[] | null> {
  const [rows] = await connection.run(sinceText(position.seq));
  return batchesOf(rows ?? [], position);
}

export interface Begun {
  readonly batches: readonly Batch[] | null;
  /** Whether the commit that was asked for is there. */
  readonly found: boolean;
}

/**
 * Begins a transaction under the lock of the store, and reads what others committed before it.
 * @param asked id of a commit of which nobody knows what became
 * @throws Error where a newer program has made the tables others than this one can write
 */
export async function beginLocked(
  connection: Connection, place: DatabasePlace, position: Position, asked: string | null,
): Promise<Begun> {
  const found = asked === null
    ? 'false' : `EXISTS (SELECT 1 FROM changes WHERE batch = '${asked}')`;
  const value = (name: string): string => `(SELECT value FROM meta WHERE name = '${name}')`;
  const look = `SELECT ${value('version')} AS version, ${value('readable')} AS readable,
    ${found} AS found`;
  const results = await connection.run(
    `${BEGIN}; ${lockText(place)}; ${look}; ${sinceText(position.seq)}`,
  );
  const looked = results[2]?.[0];
  checkReadable({
    version: Number(looked?.['version']), readable: Number(looked?.['readable']),
  }, place);
  let batches = batchesOf(results[3] ?? [], position);
  const all = [...batches ?? []];
  while (batches !== null && batches.length >= BATCHES_MAX - 1) {
    batches = await readSince(connection, all.at(-1)!);
    all.push(...batches ?? []);
  }
  return { batches: batches === null ? null : all, found: looked?.['found'] === true };
}

/** Writes a commit down within the transaction that was begun. */
export async function append(
  connection: Connection, { seq, batch, changes }: Batch,
): Promise<void> {
  const gone = changes.filter(({ value }) => value === null);
  await connection.ask(
    `WITH logged AS (INSERT INTO changes (seq, batch, keys, contents) VALUES ($1, $2, $3, $4)),
      gone AS (DELETE FROM records WHERE key = ANY ($5::bytea[]))
    INSERT INTO records SELECT * FROM unnest($3::bytea[], $4::bytea[]) AS put (key, value)
      WHERE value IS NOT NULL
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    [
      seq, batch, changes.map(({ key }) => key), changes.map(({ value }) => value),
      gone.map(({ key }) => key),
    ],
    'append',
  );
}

/** Forgets old commits, within the transaction of a newer one: the newest always stays. */
export async function prune(connection: Connection, seq: number): Promise<void> {
  await connection.ask(
    `DELETE FROM changes WHERE seq < $1 AND at < now() - interval '${CHANGES_KEPT_HOURS} hours'`,
    [seq],
  );
}

/** Tells the other nodes, and commits. Where it throws nobody knows whether it did. */
export async function commit(connection: Connection, { schema }: DatabasePlace): Promise<void> {
  await connection.run(`NOTIFY "situs_${schema}"; COMMIT`);
}

/** Is told of commits from now on. */
export async function listenForCommits(
  connection: Connection, { schema }: DatabasePlace,
): Promise<void> {
  await connection.run(`LISTEN "situs_${schema}"`);
}
