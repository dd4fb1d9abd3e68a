/** The names of places that a dataset knows, for the address parser. */
import type { Gazetteer } from '../../address/parsed.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { CityRecord } from '../../dataset/records.js';

/** Answers kept; at the limit they are forgotten at once, which costs a few reads. */
const ANSWERS_MAX = 20_000;

/** Words of city names that are written in two ways. */
const TWINS: Readonly<Record<string, string>> = {
  ST: 'SAINT', SAINT: 'ST', MT: 'MOUNT', MOUNT: 'MT', FT: 'FORT', FORT: 'FT', STE: 'SAINTE',
  N: 'NORTH', S: 'SOUTH', E: 'EAST', W: 'WEST', HTS: 'HEIGHTS', SPGS: 'SPRINGS', JCT: 'JUNCTION',
};
const TWIN_WORDS = /\b(?:ST|SAINT|MT|MOUNT|FT|FORT|STE|N|S|E|W|HTS|SPGS|JCT)\b/;

/** The places of one dataset; keeps which names are cities. */
export class DatasetGazetteer implements Gazetteer {
  readonly #dataset: Dataset;
  readonly #codes = new Map<string, string>();
  /** By state, then by name: a name is hashed as it stands. */
  readonly #answers = new Map<string, Map<string, boolean>>();
  #kept = 0;

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
    for (const { code, name } of dataset.states()) {
      this.#codes.set(code, code);
      this.#codes.set(name.toUpperCase(), code);
    }
  }

  stateOf(words: string): string {
    return this.#codes.get(words) ?? '';
  }

  isCity(state: string, city: string): boolean {
    if (city === '') return false;
    let answers = this.#answers.get(state);
    if (answers === undefined) {
      answers = new Map();
      this.#answers.set(state, answers);
    }
    const known = answers.get(city);
    if (known !== undefined) return known;
    const answer = this.#find(state, city);
    if (this.#kept >= ANSWERS_MAX) {
      this.#answers.clear();
      this.#kept = 0;
      answers = new Map();
      this.#answers.set(state, answers);
    }
    answers.set(city, answer);
    this.#kept += 1;
    return answer;
  }

  /** The record of a city under this name or its other spelling ("St Paul", "Saint Paul"). */
  city(state: string, name: string): CityRecord | null {
    const found = this.#dataset.city(state, name);
    if (found !== null || !TWIN_WORDS.test(name)) return found;
    const twin = name.split(' ').map((word) => TWINS[word] ?? word).join(' ');
    return this.#dataset.city(state, twin);
  }

  #find(state: string, city: string): boolean {
    if (state === '') {
      return this.#dataset.states().some(({ code }) => this.#find(code, city));
    }
    return this.city(state, city) !== null
      || this.#dataset.streets.localities(state, city).length > 0;
  }
}
