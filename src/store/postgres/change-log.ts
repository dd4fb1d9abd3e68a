/** Commits of a store in PostgreSQL: what was changed, read behind a position and written. */
import { Connection, type Rows } from './connection.js';
import type { WriterOptions } from './replica.js';
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
const CHANGES_KEPT_HOURS = 1;

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
    seq: Number(row['seq']),
    batch: String(row['batch']),
    changes: changesOf(row),
  }));
  const behind = seq === 0 ? read : read.slice(1);
  if (seq > 0 && (read[0]?.seq !== seq || read[0].batch !== batch)) return null;
  return behind.every((each, at) => each.seq === seq + 1 + at) ? behind : null;
}

/** Some of the commits behind a position; as many as `BATCHES_MAX` where there are more. */
async function readSince(
  connection: Connection,
  position: Position,
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
  connection: Connection,
  place: DatabasePlace,
  position: Position,
  asked: string | null,
): Promise<Begun> {
  const found =
    asked === null ? 'false' : `EXISTS (SELECT 1 FROM changes WHERE batch = '${asked}')`;
  const value = (name: string): string => `(SELECT value FROM meta WHERE name = '${name}')`;
  const look = `SELECT ${value('version')} AS version, ${value('readable')} AS readable,
    ${found} AS found`;
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
  let batches = batchesOf(results[3] ?? [], position);
  const all = [...(batches ?? [])];
  while (batches !== null && batches.length >= BATCHES_MAX - 1) {
    batches = await readSince(connection, all.at(-1)!);
    all.push(...(batches ?? []));
  }
  return { batches: batches === null ? null : all, found: looked?.['found'] === true };
}

/** Writes a commit down within the transaction that was begun. */
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
async function listenForCommits(connection: Connection, { schema }: DatabasePlace): Promise<void> {
  await connection.run(`LISTEN "situs_${schema}"`);
}

/*
 * Takes over what other nodes commit: told by NOTIFY, and asked for besides, so that how old the
 * replica may be does not rest on being told.
 */

/** How often it asks; what is told comes sooner. */
const POLL_MS = 400;
/** Waits after a connection that could not be had or was cut; the first one is short. */
const RETRY_MS = 20;
const RETRY_MS_MAX = 400;

interface FollowerOptions extends WriterOptions {
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
