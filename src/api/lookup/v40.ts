/** Version 40: five districts and the sourcing, 34 fields a row. */
import { VARIANTS } from './fragment-cache.js';
import type { LegacyVersion, RowShape } from './legacy.js';
import {
  basicFields, districtFields, districtSums, partFields, sourcingField,
} from './row.js';

export const ROW_34: RowShape = {
  variant: VARIANTS.row34,
  fields: (ruled) => ({
    ...basicFields(ruled), ...partFields(ruled), ...districtSums(ruled), ...districtFields(ruled),
    ...sourcingField(ruled),
  }),
};

export const V40: LegacyVersion = { version: 40, row: ROW_34, after: () => '' };
