/** Stores in PostgreSQL for tests: each in a schema of its own, dropped afterwards. */
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import pg from 'pg';
import type { Store } from '../../src/store/store.js';
import { DATABASE, schemaUrl } from './postgres-schema.js';
import { skipForWantOf, type Skipped } from './wanting.js';

export { DATABASE, schemaOf, schemaUrl } from './postgres-schema.js';

async function connected<T>(use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: DATABASE, connectionTimeoutMillis: 3_000 });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Runs statements beside everything else; those with values are one. */
export function sql(
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Record<string, unknown>[]> {
  return connected(async (client) => (await client.query(text, [...values])).rows);
}

/** Drops all schemas whose names begin so. */
export function dropSchemas(prefix: string): Promise<void> {
  return connected(async (client) => {
    // Nobody needs to know that they are gone from a disk.
    await client.query('SET synchronous_commit = off');
    const { rows } = await client.query<{ readonly nspname: string }>(
      'SELECT nspname FROM pg_namespace WHERE starts_with(nspname, $1)',
      [prefix],
    );
    for (const { nspname } of rows)
      await client.query(`DROP SCHEMA IF EXISTS "${nspname}" CASCADE`);
  });
}

/** Whether the database is there; where it is not, the test is skipped and says so. */
export async function hasPostgres(context: Skipped): Promise<boolean> {
  try {
    await sql('SELECT 1');
    return true;
  } catch {
    skipForWantOf(context, 'PostgreSQL is not reachable; SITUS_TEST_POSTGRES names it');
    return false;
  }
}

/** The beginning of the names of schemas that one run of tests makes. */
export function newPrefix(): string {
  return `situs_test_${randomBytes(4).toString('hex')}_`;
}

export interface TestSchema {
  readonly schema: string;
  readonly url: string;
  /**
   * Ends what works with the schema before that is dropped, the last one first: what ends later tries
   * again and again for seconds to find its tables.
   */
  ends(end: () => Promise<unknown>): void;
}

/** A schema that is dropped after the test, and its address; null where the test is skipped. */
export async function newSchema(context: TestContext): Promise<TestSchema | null> {
  if (!(await hasPostgres(context))) return null;
  const schema = `${newPrefix()}one`;
  const ending: (() => Promise<unknown>)[] = [];
  context.after(async () => {
    for (const end of ending.reverse()) await end();
    await dropSchemas(schema);
  });
  return { schema, url: schemaUrl(schema), ends: (end) => void ending.push(end) };
}

/** Ends the connections that all nodes on a schema have for a use. */
export async function terminate(use: string, schema: string): Promise<number> {
  const ended = await sql(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1',
    [`situs ${use} ${schema}`],
  );
  return ended.length;
}

/** Stores a thing, and counts all that are stored: each write needs to see those before it. */
export function putThing(store: Store, id: string): Promise<void> {
  return store.write((transaction) => {
    const found = transaction.get(['count', 'all']) as { n: number } | undefined;
    transaction.put(['count', 'all'], { n: (found?.n ?? 0) + 1 });
    transaction.put(['thing', id], { id });
  });
}
