/** Whether what a place is told three ways agrees. */
import assert from 'node:assert/strict';
import { type Told, type ToldCart, lineOf, byLookup, byRow, type Written } from './three-ways.js';
import type { Dataset } from '../../src/dataset/dataset.js';

/** rate × price, rounded half-up to so many decimals of a dollar; printed as JSON does. */
function taxOf(rate: number, cents: number, digits: number): string {
  // Cents and parts per billion make 10⁻¹¹ dollars.
  const unit = 10n ** BigInt(11 - digits);
  const units = (BigInt(rate) * BigInt(cents) + unit / 2n) / unit;
  const text = String(units).padStart(digits + 1, '0');
  return String(Number(`${text.slice(0, -digits)}.${text.slice(-digits)}`));
}

const HALF_FIVE_DECIMALS = 5_000;

/** Says that a cart of one line has the rates of a lookup, or its reason to refuse. */
export function assertAgrees(
  cart: ToldCart,
  lookup: Told,
  cents: number,
  digits: number,
  what: string,
): void {
  assert.equal(cart.refusal, lookup.refusal, what);
  if (lookup.refusal !== '') return;
  const { rate, levels, precision } = cart;
  assert.deepEqual(
    { rate, levels, precision },
    { rate: lookup.rate, levels: lookup.levels, precision: lookup.precision },
    what,
  );
  assert.equal(cart.amount, taxOf(lookup.rate, cents, digits), what);
  const difference = cart.lineRate - lookup.rate;
  assert.ok(-HALF_FIVE_DECIMALS < difference && difference <= HALF_FIVE_DECIMALS, what);
}

/** What a lookup and a row alike say of a place; `month` is YYYYMM, "" for today. */
export function byLookupAndRow(dataset: Dataset, place: Written, month = ''): Told {
  const address = lineOf(place);
  const lookup = byLookup(dataset, address, month);
  const historical = month === '' ? {} : { historical: month };
  assert.deepEqual(byRow(dataset, { address, ...historical }), lookup, address);
  return lookup;
}
