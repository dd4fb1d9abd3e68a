/** Version 10: totals only, eight fields a row. */
import { VARIANTS } from './fragment-cache.js';
import type { LegacyVersion } from './legacy.js';
import { basicFields } from './row.js';

export const V10: LegacyVersion = {
  version: 10,
  row: { variant: VARIANTS.row8, fields: basicFields },
  after: () => '',
};
