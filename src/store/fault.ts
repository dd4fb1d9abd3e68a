/**
 * Reasons why the store did not accept a write. Except for `unknown`, nothing of the write is
 * stored. Reading continues.
 */
import { fail } from '../failure.js';

type StoreFaultKind =
  /** The disk is full or has failed, which LMDB does not distinguish. */
  | 'unwritable'
  /** The store has reached its largest size. */
  | 'full'
  /** The database of a shared store cannot be reached, or did not accept the write in time. */
  | 'unreachable'
  /**
   * A record was not found, but others may have written it while the database could not be reached.
   */
  | 'behind'
  /** The connection broke during the commit, and it is not known yet whether that succeeded. */
  | 'unknown';

const MESSAGES: Readonly<Record<StoreFaultKind, string>> = {
  unwritable: 'the store cannot be written: its disk is full or failed',
  full: 'the store has reached its largest size: nothing new is taken',
  unreachable:
    'the database of the store cannot be reached, or did not answer in time: nothing ' +
    'was stored',
  behind:
    'the database of the store was not reached for a while: what others made since is not ' +
    'known',
  unknown:
    'the database of the store was lost in the middle of a commit: whether it is stored is ' +
    'not known yet',
};

/** Thrown by `Store.write` when the write is not on the disk, or that is not known. */
export class StoreFault extends Error {
  override readonly name = 'StoreFault';
  readonly kind: StoreFaultKind;

  constructor(kind: StoreFaultKind, cause?: unknown) {
    super(MESSAGES[kind], cause === undefined ? undefined : { cause });
    this.kind = kind;
  }

  /** The message for a caller of the API. */
  get detail(): string {
    switch (this.kind) {
      case 'unknown':
        return (
          'The service cannot tell yet whether this was done. Ask what there ' +
          'is, or send it again with the same Idempotency-Key.'
        );
      case 'behind':
        return (
          'The service cannot tell now whether there is such a thing: it does ' +
          'not reach its database. Try again.'
        );
      default:
        return 'The service cannot store anything now; nothing was done.';
    }
  }
}

/** What is told of a key or a merchant that others may have made a moment ago. */
export const NOT_TOLD = fail('overloaded', new StoreFault('behind').detail);

/** Whether a write failed because the database of the store is out of reach. */
export function isOutOfReach(error: unknown): boolean {
  return error instanceof StoreFault && (error.kind === 'unreachable' || error.kind === 'unknown');
}

/** Whether it is unknown if a write succeeded. */
export function isDoubtful(error: unknown): boolean {
  return error instanceof StoreFault && error.kind === 'unknown';
}

/** Handles the separate promise that LMDB rejects besides that of the failed write. */
async function commitError(error: Error): Promise<unknown> {
  try {
    return 'commitError' in error ? await error.commitError : undefined;
  } catch (cause) {
    return cause;
  }
}

/** What to throw for an error of a write: a fault, or what the action threw. */
export async function writeError(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !('commitError' in error)) return error;
  return new StoreFault('unwritable', await commitError(error));
}

/**
 * Thrown for a record that differs from what was stored, because of an error on the disk or in
 * memory.
 */
export class DamagedRecord extends Error {
  override readonly name = 'DamagedRecord';

  constructor(key: readonly string[], cause?: unknown) {
    super(
      `the record ${key.join('/')} in the store is damaged`,
      cause === undefined ? undefined : { cause },
    );
  }
}

/**
 * Reports that a damaged record was put aside and, if it was a count, that it was counted again.
 */
export function setAsideNotice(key: readonly string[], counted: boolean): Error {
  return new Error(
    `the record ${key.join('/')} in the store is damaged: it is put aside${
      counted ? ', and counted anew from the records that are there' : ''
    }`,
  );
}
