import type { BodyPart } from '../../pool/types.js';

/** The body of a success in parts, with the answer flags that follow from its areas. */
export interface Rendered {
  readonly body: readonly BodyPart[];
  readonly flags: number;
}
