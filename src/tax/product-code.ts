/** The form of a taxability code, before any table is asked. */

/**
 * `standard`: five digits, the form of every Taxability Information Code. `override`: a code of
 * the operator's own, which has a letter. `malformed`: digits alone, but not five of them.
 */
export type CodeForm = 'standard' | 'override' | 'malformed';

const DIGITS = /^[0-9]+$/;
const STANDARD_CHARS = 5;

/** Tells the form of a code of 1 to 10 letters and digits (specification, taxabilityCode). */
export function codeForm(code: string): CodeForm {
  if (!DIGITS.test(code)) return 'override';
  return code.length === STANDARD_CHARS ? 'standard' : 'malformed';
}
