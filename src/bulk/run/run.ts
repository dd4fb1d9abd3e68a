/** What every run over rows begins with, be they of an upload, a job or a command. */
import { columnRulesOf } from '../row/cart-mapping.js';
import type { CsvHead } from '../row/dialect.js';
import { csvHeaderLine, headerLine } from '../row/envelope.js';
import { RecordFramer } from '../row/framer.js';
import type { FramerPosition } from '../row/framing.js';
import type { BulkJob, BulkKind, Table } from '../row/job.js';
import { rowBytesMax } from '../row/limit.js';
import { CsvBeginning } from './csv-beginning.js';
import type { PumpOptions } from './pump-options.js';
import type { BulkRequest } from './request.js';
import { limitsOf, type BulkLimits } from './uploads.js';

/** What reads the header line of a CSV body. */
export function beginningOf(
  { kind, map, delimiter, defaults }: Pick<BulkRequest, 'kind' | 'map' | 'delimiter' | 'defaults'>,
): CsvBeginning {
  return new CsvBeginning(map, delimiter, columnRulesOf(kind, defaults));
}

/** Number of the first row: a table has its header line before it. */
export function firstLineOf(table: Table | null): number {
  return table === null ? 1 : 2;
}

/**
 * What cuts the rows out of a body.
 * @param from where the body goes on; null for its first row
 */
export function rowFramer(
  table: Table | null, kind: BulkKind, from: FramerPosition | null,
): RecordFramer {
  return new RecordFramer({
    firstLine: from?.line ?? firstLineOf(table), rowBytesMax: rowBytesMax(kind),
    ...(from === null ? {} : { from }),
    framing: table === null ? { kind: 'ndjson' } : {
      kind: 'csv', delimiter: table.dialect.delimiter.charCodeAt(0),
      loneCr: table.dialect.newline === '\r',
    },
  });
}

/** What of a pump follows from its job and the beginning of the body. */
export function pumpOf(
  given: Omit<BulkJob, 'table'>, begun: { readonly head: CsvHead; readonly table: Table } | null,
  limits: BulkLimits, from: FramerPosition | null,
): Pick<PumpOptions, 'job' | 'framer' | 'header' | 'rowsMax'> {
  const table = begun?.table ?? null;
  const job: BulkJob = { ...given, table };
  const header = job.output === 'csv' && begun !== null
    ? csvHeaderLine(begun.head, job.kind) : headerLine(job, limitsOf(limits, job.kind));
  return { job, framer: rowFramer(table, job.kind, from), header, rowsMax: limits.rowsMax };
}
