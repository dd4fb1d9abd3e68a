/** The body of a search for product codes. */
import { longerThan } from './parameter.js';

/** Longest description, in characters. */
export const TIC_QUERY_CHARS_MAX = 1024;

/** Room for a description of escapes alone, and the object around it. */
export const TIC_BODY_BYTES_MAX = 16_384;

/** A member of a body that is not as it should be. */
export interface BodyError {
  readonly location: string;
  readonly message: string;
  readonly value?: unknown;
}

export type TicQuery =
  | { readonly query: string }
  | { readonly malformed: string }
  | { readonly errors: readonly BodyError[] };

/** Errors listed; further ones say nothing new. */
const ERRORS_MAX = 10;

const DECODER = new TextDecoder('utf-8', { fatal: true });

function parseJson(body: Uint8Array): { readonly value: unknown } | null {
  try {
    const value: unknown = JSON.parse(DECODER.decode(body));
    return { value };
  } catch {
    return null;
  }
}

function checkQuery(query: unknown): BodyError | null {
  const location = 'body.query';
  if (query === undefined) return { location, message: 'expected required property query' };
  if (typeof query !== 'string') return { location, message: 'expected a string', value: query };
  if (query.trim() === '') {
    return { location, message: 'expected at least one character that is no space', value: query };
  }
  return longerThan(query, TIC_QUERY_CHARS_MAX)
    ? { location, message: `expected length <= ${TIC_QUERY_CHARS_MAX}` } : null;
}

/** Reads `{"query": "…"}`: a string of 1 to 1024 characters, not blank, and nothing else. */
export function parseTicQuery(body: Uint8Array): TicQuery {
  const parsed = parseJson(body);
  if (parsed === null) return { malformed: 'The body is not JSON in UTF-8.' };
  const { value } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { errors: [{ location: 'body', message: 'expected an object' }] };
  }
  const members = new Map<string, unknown>(Object.entries(value));
  const query = members.get('query');
  const error = checkQuery(query);
  const errors = [
    ...(error === null ? [] : [error]),
    ...[...members.keys()].filter((name) => name !== 'query').map((name) => (
      { location: `body.${name}`, message: 'unexpected property' }
    )),
  ];
  return errors.length === 0 && typeof query === 'string'
    ? { query } : { errors: errors.slice(0, ERRORS_MAX) };
}
