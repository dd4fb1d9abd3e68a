/** Rows of fact tables as the oracle reads them. */

import type { Rational } from './rational.js';

/** The two parts of a tax. */
export interface Taxed {
  readonly state: Rational;
  readonly local: Rational;
}

export type Row = Readonly<Record<string, string>>;

export function cell(row: Row, name: string): string {
  return row[name] ?? '';
}

/** Whether a day lies between a row's first and last. */
export function inForce(row: Row, date: number): boolean {
  const from = cell(row, 'effective_from');
  const to = cell(row, 'effective_to');
  return (from === '' || Number(from) <= date) && (to === '' || Number(to) >= date);
}
