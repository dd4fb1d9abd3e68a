/** Where a store is in PostgreSQL, as an address says it, which may hold a password. */
import { databaseProblem } from '../../setting.js';

export interface DatabasePlace {
  /** As the client takes it. */
  readonly url: string;
  readonly schema: string;
  /** For people: without user and password. */
  readonly shown: string;
}

const DEFAULT_SCHEMA = 'situs';

/** Whether a text means to be the address of a database. */
export function isDatabaseUrl(text: string): boolean {
  return /^postgres(ql)?:/i.test(text);
}

/**
 * Reads an address; `?schema=` names the schema, `situs` where it does not.
 * @throws Error that does not repeat it, when it is not one.
 */
export function databasePlace(text: string): DatabasePlace {
  const problem = databaseProblem(text);
  if (problem !== null) throw new Error(`the address of the database ${problem}`);
  const url = new URL(text);
  const schema = url.searchParams.get('schema') ?? DEFAULT_SCHEMA;
  url.searchParams.delete('schema');
  const shown = `postgres://${url.host}${url.pathname}?schema=${schema}`;
  return { url: url.href, schema, shown };
}
