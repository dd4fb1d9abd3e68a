/** The bytes of a success in parts, with the answer flags that follow from its areas. */
export interface Rendered {
  readonly body: readonly Uint8Array[];
  readonly flags: number;
}
