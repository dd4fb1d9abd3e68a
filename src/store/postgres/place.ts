/** Where a store is in PostgreSQL, as an address says it, which may hold a password. */

export interface DatabasePlace {
  /** As the client takes it. */
  readonly url: string;
  readonly schema: string;
  /** For people: without user and password. */
  readonly shown: string;
}

const PROTOCOLS = new Set(['postgres:', 'postgresql:']);
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/;
const DEFAULT_SCHEMA = 'situs';

/** Whether a text means to be the address of a database. */
export function isDatabaseUrl(text: string): boolean {
  return /^postgres(ql)?:/i.test(text);
}

/** What is wrong with an address; null when nothing is. It is never repeated: it may be secret. */
export function databaseProblem(text: string): string | null {
  if (!URL.canParse(text)) return 'is no address like postgres://USER:PASSWORD@HOST/DATABASE';
  const { protocol, pathname, searchParams } = new URL(text);
  if (!PROTOCOLS.has(protocol)) return 'must begin with postgres://';
  if (pathname.length < 2) return 'names no database behind the host';
  return SCHEMA.test(searchParams.get('schema') ?? DEFAULT_SCHEMA)
    ? null : 'has a schema that is not of small letters, digits and underscores';
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
