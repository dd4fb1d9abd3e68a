/** The commits of a store in PostgreSQL: reads those after a position, and writes new ones. */
import { Connection, type Rows } from './connection.js';
import type { Replica, WriterOptions } from './replica.js';
import { BEGIN, checkReadable, lockText } from './schema.js';
import type { DatabasePlace } from './place.js';

/** The last commit that a replica has; 0 and no batch before the first one. */
export interface Position {
  readonly seq: number;
  readonly batch: string;
}

/** A changed record: its key as in LMDB, and its bytes, null where it was removed. */
export interface Change {
  readonly key: Buffer;
  readonly value: Buffer | null;
}

export interface Batch extends Position {
  readonly changes: readonly Change[];
}

/** Most commits that are read at a time. */
const BATCHES_MAX = 500;
/**
 * Bytes of commits after which a read ends, so that it is parsed in time and holds up nothing. They
 * are counted as stored: compressed ones may be many times as long.
 */
const READ_BYTES = 1_048_576;
/**
 * How long commits are kept for nodes that cannot reach the database. No node counts as ready for
 * so long without it.
 */
const CHANGES_KEPT_HOURS = 1;

/**
 * Selects the first commits after a position, and the one at it without its changes: a row for each
 * change, or one without a key where there is none. The client takes many times as long to parse
 * arrays. A commit names no key twice, so the order of its changes does not matter.
 */
function sinceText(seq: number): string {
  return `SELECT seq, batch, key, value FROM (
      SELECT seq, batch, keys, contents,
        sum(pg_column_size(keys) + pg_column_size(contents)) FILTER (WHERE seq > ${seq})
          OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
      FROM changes WHERE seq >= ${seq} ORDER BY seq LIMIT ${BATCHES_MAX}) AS read
    LEFT JOIN LATERAL unnest(keys, contents) AS change (key, value) ON seq > ${seq}
    WHERE coalesce(before, 0) < ${READ_BYTES} ORDER BY seq`;
}

/**
 * The commits of such rows that come after a position. Null where they are not known any more, or
 * the store is not the same as it was, for instance because it was restored.
 */
function batchesOf(rows: Rows, { seq, batch }: Position): readonly Batch[] | null {
  const read: (Position & { readonly changes: Change[] })[] = [];
  for (const row of rows) {
    const [at, { key, value }] = [Number(row['seq']), row];
    if (read.at(-1)?.seq !== at) read.push({ seq: at, batch: String(row['batch']), changes: [] });
    if (!(key instanceof Buffer)) continue;
    read.at(-1)?.changes.push({ key, value: value instanceof Buffer ? value : null });
  }
  const behind = seq === 0 ? read : read.slice(1);
  if (seq > 0 && (read[0]?.seq !== seq || read[0].batch !== batch)) return null;
  return behind.every((each, at) => each.seq === seq + 1 + at) ? behind : null;
}

/** The first commits after a position; none where it is the newest. Null as of `batchesOf`. */
export async function readSince(
  connection: Connection,
  position: Position,
): Promise<readonly Batch[] | null> {
  const [rows] = await connection.run(sinceText(position.seq));
  return batchesOf(rows ?? [], position);
}

/**
 * Applies the commits that a replica lacks, read by read, so that one that fails takes nothing from
 * those before it.
 * @returns when nothing was left, on the clock of `performance`; null where the commits are not
 * known any more
 */
export async function catchUp(
  connection: Connection,
  replica: Replica,
  changed: () => void,
): Promise<number | null> {
  for (;;) {
    const at = performance.now();
    const { position } = replica;
    const batches = position.seq < 0 ? null : await readSince(connection, position);
    if (batches === null) return null;
    if (batches.length === 0) return at;
    if (replica.apply(batches)) changed();
  }
}

export interface Begun {
  /** The first of what others committed. */
  readonly batches: readonly Batch[] | null;
  /** Number of the newest commit. */
  readonly newest: number;
  /** Whether the commit with the id that was asked for exists. */
  readonly found: boolean;
}

/**
 * Begins a transaction under the lock of the store, and begins to read what others committed.
 * @param asked id of a commit whose outcome is unknown
 * @throws Error where a newer program has changed the tables so that this one cannot write them
 */
export async function beginLocked(
  connection: Connection,
  place: DatabasePlace,
  position: Position,
  asked: string | null,
): Promise<Begun> {
  const found =
    asked === null ? 'false' : `EXISTS (SELECT 1 FROM changes WHERE batch = '${asked}')`;
  const value = (name: string): string => `(SELECT value FROM meta WHERE name = '${name}')`;
  const look = `SELECT ${value('version')} AS version, ${value('readable')} AS readable,
    ${found} AS found, (SELECT max(seq) FROM changes) AS newest`;
  const results = await connection.run(
    `${BEGIN}; ${lockText(place)}; ${look}; ${sinceText(position.seq)}`,
  );
  const looked = results[2]?.[0];
  checkReadable(
    {
      version: Number(looked?.['version']),
      readable: Number(looked?.['readable']),
    },
    place,
  );
  return {
    batches: batchesOf(results[3] ?? [], position),
    newest: Number(looked?.['newest']),
    found: looked?.['found'] === true,
  };
}

/** Adds a commit within the transaction that was begun. */
export async function append(
  connection: Connection,
  { seq, batch, changes }: Batch,
): Promise<void> {
  const gone = changes.filter(({ value }) => value === null);
  await connection.ask(
    `WITH logged AS (INSERT INTO changes (seq, batch, keys, contents) VALUES ($1, $2, $3, $4)),
      gone AS (DELETE FROM records WHERE key = ANY ($5::bytea[]))
    INSERT INTO records SELECT * FROM unnest($3::bytea[], $4::bytea[]) AS put (key, value)
      WHERE value IS NOT NULL
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    [
      seq,
      batch,
      changes.map(({ key }) => key),
      changes.map(({ value }) => value),
      gone.map(({ key }) => key),
    ],
    'append',
  );
}

/** Removes old commits, within the transaction of a newer one. The newest always stays. */
export async function prune(connection: Connection, seq: number): Promise<void> {
  await connection.ask(
    `DELETE FROM changes WHERE seq < $1 AND at < now() - interval '${CHANGES_KEPT_HOURS} hours'`,
    [seq],
  );
}

/** Notifies the other nodes, and commits. If it throws, the outcome is unknown. */
export async function commit(connection: Connection, { schema }: DatabasePlace): Promise<void> {
  await connection.run(`NOTIFY "situs_${schema}"; COMMIT`);
}

/** Makes a connection receive notifications of commits. */
async function listenForCommits(connection: Connection, { schema }: DatabasePlace): Promise<void> {
  await connection.run(`LISTEN "situs_${schema}"`);
}

/*
 * Applies the commits of other nodes to the replica. It is notified by NOTIFY and polls in
 * addition, so that the age of the replica does not depend on notifications.
 */

/** How often it polls; a notification makes it read sooner. */
const POLL_MS = 400;
/** Waits after a connection failed or was lost; the first one is the shortest. */
const RETRY_MS = 20;
const RETRY_MS_MAX = 400;

interface FollowerOptions extends WriterOptions {
  /** Whether the commit that a notification of a connection reports is applied without this. */
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

  /** Whether the database could not be reached at the last attempt. */
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
    for (let retryMs = RETRY_MS; !this.#closed; ) {
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
    // This connection does not keep the process running.
    connection.hold(false);
    return connection;
  }

  async #catchUp(connection: Connection): Promise<void> {
    const { replica, load, changed, fresh } = this.#options;
    for (;;) {
      const at = await catchUp(connection, replica, changed);
      if (at !== null) return fresh(at);
      await load();
    }
  }

  /** Waits, unless it is woken or was woken just before. */
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
