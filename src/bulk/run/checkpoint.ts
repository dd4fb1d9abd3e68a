/** How far a run has come: everything it needs to continue as if it had not been interrupted. */
import { isObject } from '../../base/json-object.js';
import { type Counts, NO_COUNTS } from '../../store/usage-meter.js';
import type { CutPosition } from '../row/record-form.js';

export interface Checkpoint {
  /** Where to continue in the body; bytes are counted after unpacking. */
  readonly position: CutPosition;
  /** Bytes of output for the rows before that position. */
  readonly bytes: number;
  /** How many rows were answered, in total and by response code. */
  readonly rows: number;
  readonly codes: Readonly<Record<string, number>>;
  /** How many of the rows count as usage. */
  readonly counts: Counts;
  /** Bytes of the output that belong to refused rows. */
  readonly errorBytes: number;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** The counts of a checkpoint; none where it was stored without them. */
function countsIn(value: unknown): Counts {
  if (!isObject(value)) return NO_COUNTS;
  const { core, geo, merchant } = value;
  return isCount(core) && isCount(geo) && isCount(merchant) ? { core, geo, merchant } : NO_COUNTS;
}

/** Reads a stored checkpoint; undefined when it is malformed. */
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
