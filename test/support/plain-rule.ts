/** A rule of a product that says nothing but that it is taxed; tests add to it. */
import type { ProductRule } from '../../src/tax/product-rule.js';

export const PLAIN_RULE: ProductRule = {
  tic: '1',
  coversChildren: false,
  taxable: true,
  rate: null,
  scope: 'all',
  threshold: null,
  percentTaxable: null,
  perVolume: null,
  capPerUnit: null,
  foodDrug: false,
  from: null,
  to: null,
  heldFrom: null,
  basis: { citation: '', source: '', asOf: null, confidence: 'high', condition: '' },
};
