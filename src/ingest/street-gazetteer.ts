/** States by name and code, for reading route numbers in street columns ("NY ROUTE 17"). */
import type { Gazetteer } from '../address/gazetteer.js';

/** A gazetteer of states alone: a street column names no city. */
export function stateGazetteer(
  states: Iterable<{ readonly code: string; readonly name: string }>,
): Gazetteer {
  const codes = new Map<string, string>();
  for (const { code, name } of states) {
    codes.set(code, code);
    codes.set(name.toUpperCase(), code);
  }
  return { stateOf: (words) => codes.get(words) ?? '', isCity: () => false };
}
