/** Version 50: the rows of version 40 with addressDetail and, where it applies, satTaxDetail. */
import { addressDetail, NOT_GEOCODED } from './address-detail.js';
import { printMembers } from './fragment.js';
import type { LegacyVersion } from './legacy.js';
import { satTaxDetail } from './single-article.js';
import { ROW_34 } from './v40.js';

export const V50: LegacyVersion = {
  version: 50,
  row: ROW_34,
  after: (engine, query, outcome, format) => {
    if (outcome.kind === 'postal') return printMembers({ addressDetail: NOT_GEOCODED }, format);
    const detail = { addressDetail: addressDetail(query, outcome) };
    const sat = satTaxDetail(engine, query, outcome);
    return printMembers(sat === null ? detail : { ...detail, satTaxDetail: sat }, format);
  },
};
