/** Patterns of texts that many files recognise. */

/** Five digits: a ZIP, a county's FIPS code, a code of goods. */
export const FIVE_DIGITS = /^\d{5}$/;

/** A SHA-256 sum as this service writes it. */
export const SHA256 = /^[0-9a-f]{64}$/;
