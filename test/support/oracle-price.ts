/** What of an item's price a rule taxes, and what a jurisdiction takes above a price. */
import { cell, type Row } from './oracle-row.js';
import type { FactPlace } from './product-facts.js';
import { add, compare, rational, subtract, times, ZERO, type Rational } from './rational.js';

const ONE: Rational = { over: 1n, under: 1n };

/** Whether a tier's row is for a jurisdiction and a code. */
export function isTierFor(
  row: Row, { level, place }: { readonly level: string; readonly place: FactPlace },
  county: string, tic: string,
): boolean {
  const codes = cell(row, 'tics');
  const fits = codes === '' ? !cell(row, 'except').split(';').some((code) => tic.startsWith(code))
    : `;${codes};`.includes(`;${tic};`);
  return fits && cell(row, 'level') === level
    && ['', place.placeGeoid ?? '', county].includes(cell(row, 'jurisdiction_code'));
}

/** The tax on an item above its tier's price, `own` up to it; null where nothing says. */
export function tierTax(row: Row | null, rate: Rational, price: Rational): Rational | 'own' | null {
  const limit = row === null ? price : rational(cell(row, 'threshold_usd'));
  if (row === null || compare(price, limit) <= 0) return 'own';
  if (cell(row, 'kind') === 'unknown') return null;
  const above = rational(cell(row, 'rate'));
  return cell(row, 'kind') === 'whole' ? times(price, above)
    : add(times(limit, rate), times(subtract(price, limit), above));
}

/** The part of a price that a rule taxes. */
export function shape(rule: Row, price: Rational): Rational {
  const threshold = cell(rule, 'threshold_usd');
  let taxed = price;
  if (threshold !== '') {
    const side = compare(price, rational(threshold));
    const excess = side > 0 ? subtract(price, rational(threshold)) : ZERO;
    taxed = {
      below_exempt: side < 0 ? ZERO : price, above_exempt: side > 0 ? ZERO : price,
      above_excess: excess,
    }[cell(rule, 'threshold_kind')] ?? price;
  }
  const percent = cell(rule, 'percent_taxable');
  return times(taxed, percent === '' ? ONE : rational(percent));
}
