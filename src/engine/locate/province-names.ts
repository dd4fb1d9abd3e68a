/** Names of the provinces of Canada that a dataset knows, to read addresses by. */
import { plainName } from '../../address/place-name.js';
import type { Gazetteer } from '../../address/parsed.js';
import type { Dataset } from '../../dataset/dataset.js';

/** The document of what provinces are called besides, of each of them between bars. */
const PROVINCE_NAMES = 'province-names';

interface NamesRow {
  readonly state: string;
  readonly names: string;
}

const LETTERS = /^[A-Z](?: [A-Z])+$/;

/** Words as a key: "Î.-P.-É." is read as three letters, "P.E.I." as one word. */
function keyOf(words: string): string {
  return LETTERS.test(words) ? words.replaceAll(' ', '') : words;
}

/** Provinces by code, by name and by what else they are called. */
export class ProvinceNames implements Gazetteer {
  readonly isCanadian = true;
  readonly #codes = new Map<string, string>();
  readonly #isCity: (city: string) => boolean;

  /** Of the cities of provinces only those are told that `isCity` knows. */
  constructor(dataset: Dataset, isCity: (city: string) => boolean) {
    this.#isCity = isCity;
    for (const { code, name, country } of dataset.states()) {
      if (country === 'CAN') this.#codes.set(code, code).set(plainName(name), code);
    }
    const rows = (dataset.document(PROVINCE_NAMES) ?? []) as readonly NamesRow[];
    for (const { state, names } of rows) {
      for (const name of names.split('|')) this.#codes.set(keyOf(plainName(name)), state);
    }
  }

  stateOf(words: string): string {
    return this.#codes.get(keyOf(words)) ?? '';
  }

  isCity(_state: string, city: string): boolean {
    return this.#isCity(city);
  }
}
