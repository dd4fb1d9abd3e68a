/** Schema of the member `explain` of lookups. */
import { about, BOOLEAN, INTEGER, list, nullable, object, TEXT, type Schema } from './schema.js';

/** A decimal fraction as text. */
const DECIMAL: Schema = { type: 'string', pattern: '^\\d+(\\.\\d+)?$' };
/** YYYY-MM-DD, or empty where open. */
const DAY_TEXT: Schema = { type: 'string', pattern: '^(\\d{4}-\\d{2}-\\d{2})?$' };

const SOURCE: Schema = object({ name: TEXT, asOf: DAY_TEXT, citation: TEXT });

const ROW: Schema = object({
  level: TEXT, jurisdiction: TEXT, code: nullable(TEXT), sales: DECIMAL, use: DECIMAL,
  from: DAY_TEXT, to: DAY_TEXT, source: nullable(SOURCE), estimated: BOOLEAN,
});

const AREA: Schema = object({
  area: INTEGER, date: DAY_TEXT, state: TEXT, county: TEXT, city: TEXT,
  publishedUntil: DAY_TEXT, sales: DECIMAL, use: DECIMAL, rows: list(ROW),
});

export const LOOKUP_EXPLANATION: Schema = about(object({
  dataset: TEXT, precision: TEXT, boundary: TEXT, normalizedAddress: TEXT, areas: list(AREA),
}), 'Only with explain=true.');
