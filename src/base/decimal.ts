/** Decimals of a table, read from their digits alone. */

const DECIMAL = /^(\d{0,20})(?:\.(\d{0,40}))?$/;
const TRAILING_ZEROS = /0+$/;

/**
 * Reads a decimal without sign as an integer of 10^-decimals.
 * @returns null for anything else, and where it has finer digits
 */
export function parseDecimal(text: string, decimals: number): bigint | null {
  const found = DECIMAL.exec(text);
  if (found === null) return null;
  const [, whole = '', written = ''] = found;
  if (whole === '' && written === '') return null;
  const fraction = written.replace(TRAILING_ZEROS, '');
  return fraction.length > decimals ? null : BigInt(whole + fraction.padEnd(decimals, '0'));
}
