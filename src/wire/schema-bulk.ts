/** Schemas of bulk files: what tells how one ended. */
import { about, BOOLEAN, INTEGER, nullable, object, TEXT, type Schema } from './schema.js';

const COUNT: Schema = { type: 'integer', minimum: 0 };

export const BULK_TRAILER: Schema = object({
  job: TEXT,
  complete: about(BOOLEAN, 'Every row was answered.'),
  rows: COUNT,
  codes: about({ type: 'object', additionalProperties: COUNT }, 'Rows by response code.'),
  bytes: about(COUNT, 'Of the output before the trailer, unpacked.'),
  sha256: about({ type: 'string', pattern: '^[0-9a-f]{64}$' }, 'Of the same bytes.'),
  stopped: about(nullable(object({ code: INTEGER, message: TEXT, line: INTEGER })),
    'Why it ended early; line is the first row without an answer.'),
});
