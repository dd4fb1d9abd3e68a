/** A state's rules on a day. */
import type { StateRecord, StateRuleRecord } from '../dataset/records.js';
import { DATE_MIN, DATE_OPEN, type DateInt } from '../tax/date.js';

/** Goods, freight and services are taxed alike in Canada, at the destination. */
const CANADIAN: StateRuleRecord = {
  from: DATE_MIN,
  to: DATE_OPEN,
  serviceTaxable: 'Y',
  freightTaxable: 'Y',
  freightRule: 'TAXABLE',
  freightExemptWhenSeparatelyStated: false,
  freightDescription: 'Delivery charges are taxable.',
  sourcing: 'D',
  sourcingDescription: 'destination',
  source: -1,
};

/** The rules of a state, province or territory on a day; null where none are held. */
export function rulesAt(state: StateRecord, date: DateInt): StateRuleRecord | null {
  for (const rule of state.rules) {
    if (rule.from <= date && date <= rule.to) return rule;
  }
  return state.country === 'CAN' ? CANADIAN : null;
}
