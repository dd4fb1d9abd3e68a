/**
 * Why the store could not take a write. But for `unknown` nothing of it is kept; reading goes on.
 */
import { fail } from '../failure.js';

type StoreFaultKind =
  /** The disk is full or failed; LMDB tells the two apart no better. */
  | 'unwritable'
  /** The store has reached its largest size. */
  | 'full'
  /** The database of a shared store cannot be reached, or did not take it in time. */
  | 'unreachable'
  /** Others may have made what is not found here: the database was not reached for a while. */
  | 'behind'
  /** The connection was cut while it was committed, and what became of it is not known yet. */
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

/** Thrown by `Store.write` when the write is not on the disk, or not known to be. */
export class StoreFault extends Error {
  override readonly name = 'StoreFault';
  readonly kind: StoreFaultKind;

  constructor(kind: StoreFaultKind, cause?: unknown) {
    super(MESSAGES[kind], cause === undefined ? undefined : { cause });
    this.kind = kind;
  }

  /** What a caller of the API is told. */
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

/** Whether nobody knows what became of a write. */
export function isDoubtful(error: unknown): boolean {
  return error instanceof StoreFault && error.kind === 'unknown';
}

/** Takes the rejection that LMDB gives on its own besides a failed write's. */
async function commitError(error: Error): Promise<unknown> {
  try {
    return 'commitError' in error ? await error.commitError : undefined;
  } catch (cause) {
    return cause;
  }
}

/** What to throw for an error that came out of a write: a fault, or what the action threw. */
export async function writeError(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !('commitError' in error)) return error;
  return new StoreFault('unwritable', await commitError(error));
}

/** Thrown for a record that is not what was stored: a bit of the disk or of memory has turned. */
export class DamagedRecord extends Error {
  override readonly name = 'DamagedRecord';

  constructor(key: readonly string[], cause?: unknown) {
    super(
      `the record ${key.join('/')} in the store is damaged`,
      cause === undefined ? undefined : { cause },
    );
  }
}

/** Tells that a damaged record was put aside, and that it was a count, which is made anew. */
export function setAsideNotice(key: readonly string[], counted: boolean): Error {
  return new Error(
    `the record ${key.join('/')} in the store is damaged: it is put aside${
      counted ? ', and counted anew from the records that are there' : ''
    }`,
  );
}
