/** The body of a search for product codes. */
import { checkOf, closed, textThat, told, type Of } from '../../base/shape.js';
import { invalid, problem, type Problem } from '../../base/problem.js';
import type { BodyError } from '../../base/validator.js';

/** Longest description, in characters. */
const TIC_QUERY_CHARS_MAX = 1024;

/** Room for a description of escapes alone, and the object around it. */
export const TIC_BODY_BYTES_MAX = 16_384;

/** `{"query": "…"}`, not blank. */
export const TIC_QUERY = closed({
  query: told(textThat(
    (query) => query.trim() !== '', 'blank',
    { type: 'string', minLength: 1, maxLength: TIC_QUERY_CHARS_MAX, pattern: '\\S' },
    TIC_QUERY_CHARS_MAX,
  ), 'What is sold, in everyday words.'),
});

const checkQuery = checkOf(TIC_QUERY);

const DECODER = new TextDecoder('utf-8', { fatal: true });

function parseJson(body: Uint8Array): { readonly value: unknown } | null {
  try {
    const value: unknown = JSON.parse(DECODER.decode(body));
    return { value };
  } catch {
    return null;
  }
}

function isQuery(
  value: unknown, errors: readonly BodyError[],
): value is Of<typeof TIC_QUERY> {
  return errors.length === 0 && value !== null;
}

/** Reads `{"query": "…"}`: a string of 1 to 1024 characters, not blank, and nothing else. */
export function parseTicQuery(body: Uint8Array): Of<typeof TIC_QUERY> | Problem {
  const parsed = parseJson(body);
  if (parsed === null) return problem(400, 'The body is not JSON in UTF-8.');
  const { value } = parsed;
  const errors = checkQuery(value);
  return isQuery(value, errors) ? { query: value.query } : invalid(...errors);
}
