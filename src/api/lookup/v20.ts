/** Version 20: parts by level and the sum of the districts, so that the parts add up. */
import { VARIANTS } from './fragment-cache.js';
import type { LegacyVersion, RowShape } from './legacy.js';
import { basicFields, districtSums, partFields } from './row.js';

export const ROW_18: RowShape = {
  variant: VARIANTS.row18,
  fields: (ruled) => ({ ...basicFields(ruled), ...partFields(ruled), ...districtSums(ruled) }),
};

export const V20: LegacyVersion = { version: 20, row: ROW_18, after: () => '' };
