/** Ids of this service, written in either case. */
const DIGITS = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** A whole text that is an id. */
export const UUID = new RegExp(`^${DIGITS}$`, 'i');
/** The same as a JSON text without escapes. */
export const UUID_JSON = new RegExp(`^"${DIGITS}"$`, 'i');
