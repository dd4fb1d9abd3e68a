/** The schemas of stores in PostgreSQL for tests: their names and addresses. */
import { createHash } from 'node:crypto';

/** A database that tests may make schemas in. */
export const DATABASE =
  process.env['SITUS_TEST_POSTGRES'] ?? 'postgres://postgres@127.0.0.1:5432/test';

/** The schema of a folder of variables, the same in every process of a run. */
export function schemaOf(prefix: string, varDir: string): string {
  return `${prefix}${createHash('sha256').update(varDir).digest('hex').slice(0, 16)}`;
}

/** The address of a schema. */
export function schemaUrl(schema: string): string {
  const url = new URL(DATABASE);
  url.searchParams.set('schema', schema);
  return url.href;
}
