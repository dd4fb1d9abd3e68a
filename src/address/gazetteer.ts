/** Names of places, which the parser takes from outside: code knows formats, never a place. */
export interface Gazetteer {
  /** Two-letter code of a state's name or code in capitals ("NEW YORK", "NY"), '' if none. */
  stateOf(words: string): string;
  /** Whether capitals name a city of the state; a state of '' asks for any. */
  isCity(state: string, city: string): boolean;
}

/** A gazetteer that knows no place. */
export const EMPTY_GAZETTEER: Gazetteer = { stateOf: () => '', isCity: () => false };
