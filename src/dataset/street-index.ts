/** Addresses of a dataset. (Placeholder interface; the implementation replaces this file.) */
export interface StreetIndex {
  readonly isEmpty: boolean;
}
