/** How far a run has come: all that is needed to go on as if it had never stopped. */
import { isObject } from '../../base/json-object.js';
import { type Counts, NO_COUNTS } from '../../store/usage-meter.js';
import type { CutPosition } from '../row/record-form.js';

export interface Checkpoint {
  /** Where the body goes on, in plain bytes. */
  readonly position: CutPosition;
  /** Bytes of output before it. */
  readonly bytes: number;
  /** Rows that were answered, and by response code. */
  readonly rows: number;
  readonly codes: Readonly<Record<string, number>>;
  /** What of the rows counts as usage. */
  readonly counts: Counts;
  /** Bytes of the output that are rows which were refused. */
  readonly errorBytes: number;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** None where a checkpoint was kept without them. */
function countsIn(value: unknown): Counts {
  if (!isObject(value)) return NO_COUNTS;
  const { core, geo, merchant } = value;
  return isCount(core) && isCount(geo) && isCount(merchant) ? { core, geo, merchant } : NO_COUNTS;
}

/** Reads a checkpoint that was kept; undefined when it is none. */
export function parseCheckpoint(value: unknown): Checkpoint | undefined {
  if (!isObject(value) || !isObject(value['position']) || !isObject(value['codes'])) {
    return undefined;
  }
  const { bytes, rows } = value;
  const { line, at, rescanned } = value['position'];
  const counts = countsIn(value['counts']);
  const errorBytes = isCount(value['errorBytes']) ? value['errorBytes'] : 0;
  const codes: Record<string, number> = {};
  for (const [code, count] of Object.entries(value['codes'])) {
    if (!isCount(count)) return undefined;
    codes[code] = count;
  }
  return isCount(bytes) && isCount(rows) && isCount(line) && isCount(at) && isCount(rescanned)
    ? { position: { line, at, rescanned }, bytes, rows, codes, counts, errorBytes }
    : undefined;
}
