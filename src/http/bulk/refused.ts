/** A refusal before the answer began: a sentence, and what belongs beside it. */
import type { WireObject } from '../../wire/tree.js';
import type { Status } from '../status.js';

export interface Refused {
  readonly status: Status;
  readonly detail: string;
  readonly members?: WireObject;
}
