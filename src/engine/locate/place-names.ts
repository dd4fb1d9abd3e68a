/** Names of places that a dataset knows: to read addresses by, and to write what was found. */
import type { Gazetteer } from '../../address/parsed.js';
import { titleCase } from '../../address/title-case.js';
import { WordTable } from '../../base/word-table.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { CityRecord } from '../../dataset/records.js';
import { foldLocality, zipText } from '../../dataset/street-format.js';
import type { Locality } from '../../dataset/street-index.js';
import { countryName, type Precision, type Situs } from '../situs.js';
import type { Country } from '../../tax/jurisdiction.js';

/** Answers kept; at the limit they are forgotten at once, which costs a few reads. */
const ANSWERS_MAX = 20_000;

/** Words of city names that are written in two ways. */
const TWINS: Readonly<Record<string, string>> = {
  ST: 'SAINT',
  SAINT: 'ST',
  MT: 'MOUNT',
  MOUNT: 'MT',
  FT: 'FORT',
  FORT: 'FT',
  STE: 'SAINTE',
  N: 'NORTH',
  S: 'SOUTH',
  E: 'EAST',
  W: 'WEST',
  HTS: 'HEIGHTS',
  SPGS: 'SPRINGS',
  JCT: 'JUNCTION',
};
const TWIN_WORDS = /\b(?:ST|SAINT|MT|MOUNT|FT|FORT|STE|N|S|E|W|HTS|SPGS|JCT)\b/;

/** What a state has of a city's name. */
export interface NamedCity {
  readonly record: CityRecord | null;
  readonly localities: readonly Locality[];
  /** It has either. */
  readonly isKnown: boolean;
}

const NO_STATE = '?';
const NO_CITY: NamedCity = { record: null, localities: [], isKnown: false };

/** The places of one dataset; keeps what it has of the names that are asked for. */
export class DatasetGazetteer implements Gazetteer {
  readonly #dataset: Dataset;
  /** Codes of states by code and by name. */
  readonly #codes: WordTable<string>;
  /** By state, then by name: a name is hashed as it stands. */
  readonly #answers = new Map<string, Map<string, NamedCity>>();
  /** The state that was asked about last. */
  #state = NO_STATE;
  #ofState = new Map<string, NamedCity>();
  #kept = 0;
  /** The city met last: an address that was read by it is searched with it. */
  #last = NO_CITY;
  #lastState = '';
  #lastName = '';

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
    this.#codes = new WordTable(
      dataset.states().flatMap(
        ({ code, name }) =>
          [
            [code, code],
            [name.toUpperCase(), code],
          ] as const,
      ),
    );
  }

  stateOf(words: string): string {
    return this.#codes.get(words) ?? '';
  }

  isCity(state: string, city: string): boolean {
    return this.named(state, city).isKnown;
  }

  /** What a state has of a city's name; "" stands for any state and tells `isKnown` alone. */
  named(state: string, city: string): NamedCity {
    if (city === '') return NO_CITY;
    if (city === this.#lastName && state === this.#lastState) return this.#last;
    const found = this.#answer(state, city);
    if (found.isKnown) [this.#last, this.#lastState, this.#lastName] = [found, state, city];
    return found;
  }

  #answer(state: string, city: string): NamedCity {
    const answers = this.#answersOf(state);
    const known = answers.get(city);
    if (known !== undefined) return known;
    const answer = this.#find(state, city);
    if (this.#kept >= ANSWERS_MAX) {
      this.#answers.clear();
      this.#state = NO_STATE;
      this.#kept = 0;
    }
    this.#answersOf(state).set(city, answer);
    this.#kept += 1;
    return answer;
  }

  #answersOf(state: string): Map<string, NamedCity> {
    if (state === this.#state) return this.#ofState;
    const answers = this.#answers.get(state) ?? new Map<string, NamedCity>();
    this.#answers.set(state, answers);
    [this.#state, this.#ofState] = [state, answers];
    return answers;
  }

  /** The record of a city under this name or its other spelling ("St Paul", "Saint Paul"). */
  city(state: string, name: string): CityRecord | null {
    const found = this.#dataset.city(state, name);
    if (found !== null || !TWIN_WORDS.test(name)) return found;
    const twin = name
      .split(' ')
      .map((word) => TWINS[word] ?? word)
      .join(' ');
    return this.#dataset.city(state, twin);
  }

  #find(state: string, city: string): NamedCity {
    if (state === '') {
      const isKnown = this.#dataset.states().some(({ code }) => this.#find(code, city).isKnown);
      return isKnown ? { ...NO_CITY, isKnown } : NO_CITY;
    }
    const record = this.city(state, city);
    const localities = this.#dataset.streets.localities(state, city);
    return record === null && localities.length === 0
      ? NO_CITY
      : { record, localities, isKnown: true };
  }
}

/** What is known of a located address before it is written out. */
export interface Located {
  readonly area: number;
  readonly precision: Precision;
  readonly lat: number;
  readonly lng: number;
  readonly number: string;
  readonly street: string;
  readonly state: string;
  /** Numbers of the localities by the address source, 0 for none. */
  readonly city: number;
  readonly municipality: number;
  readonly zip: number;
  /** −1 for none. */
  readonly plus4: number;
  /** As the address was written, to choose among names of the same place. */
  readonly cityAsked: string;
  readonly zipAsked: number;
  /** The state's boundary file says so. */
  readonly stated: boolean;
}

/** Writes addresses of one dataset; keeps the names of its municipalities. */
export class AddressWriter {
  readonly #dataset: Dataset;
  readonly #gazetteer: DatasetGazetteer;
  readonly #municipalNames = new Map<Locality, string>();

  constructor(dataset: Dataset, gazetteer: DatasetGazetteer) {
    this.#dataset = dataset;
    this.#gazetteer = gazetteer;
  }

  /** "200 Spectrum Center Dr, Irvine, CA 92618-5003, United States" */
  write(located: Located): Situs {
    const { state, number, street } = located;
    const zip = located.zip > 0 ? located.zip : this.#askedZip(located);
    const city = this.#cityLabel(located, zip);
    let postalCode = zip > 0 ? zipText(zip) : '';
    if (postalCode !== '' && located.plus4 >= 0) {
      postalCode += `-${String(located.plus4).padStart(4, '0')}`;
    }
    const line = street === '' ? number : `${number} ${street}`;
    const region = postalCode === '' ? state : `${state} ${postalCode}`;
    const { country } = this.#dataset.area(located.area);
    const situs: Situs = {
      area: located.area,
      precision: located.precision,
      lat: located.lat,
      lng: located.lng,
      normalizedAddress: addressLine(line, city, region, country),
      houseNumber: number,
      street,
      city,
      postalCode,
    };
    return located.stated ? Object.assign(situs, { stated: true }) : situs;
  }

  /** Where the source knows no ZIP: the one asked for, if it is one of the place's own. */
  #askedZip({ state, municipality, city, zipAsked }: Located): number {
    if (zipAsked === 0) return 0;
    const label = this.#dataset.streets.locality(state, municipality || city)?.label ?? '';
    const record = this.#findMunicipality(state, label);
    return record?.zips.includes(zipAsked) === true ? zipAsked : 0;
  }

  /**
   * The source's postal city; else the municipality, where that was asked for; else the name asked
   * for or the preferred name among the postal names of the ZIP; else the municipality.
   */
  #cityLabel(located: Located, zip: number): string {
    const { state, cityAsked } = located;
    const { streets } = this.#dataset;
    if (located.city > 0) return streets.locality(state, located.city)?.label ?? '';
    const municipality = streets.locality(state, located.municipality);
    const label = municipality?.label ?? '';
    if (municipality !== null && cityAsked !== '' && isSameName(label, cityAsked)) {
      return this.#municipalName(state, municipality) || titleCase(label);
    }
    const postal = zip > 0 ? (this.#dataset.zip(zip)?.cities ?? []) : [];
    const name = amongNames(postal, cityAsked) || (postal[0] ?? '');
    if (name !== '') return this.#gazetteer.city(state, name)?.name ?? titleCase(name);
    if (municipality === null || label === '') return titleCase(cityAsked);
    return this.#municipalName(state, municipality) || label;
  }

  /** The name of a municipality among the cities; "" where it is none of them. */
  #municipalName(state: string, municipality: Locality): string {
    const known = this.#municipalNames.get(municipality);
    if (known !== undefined) return known;
    const name = this.#findMunicipality(state, municipality.label)?.name ?? '';
    this.#municipalNames.set(municipality, name);
    return name;
  }

  /** "Barre Town" is known to the post as Barre, "Salt Lake City" by its whole name. */
  #findMunicipality(state: string, label: string): CityRecord | null {
    const name = label.toUpperCase();
    return (
      this.#gazetteer.city(state, name) ??
      this.#gazetteer.city(state, name.replace(/ (?:CITY|TOWN|VILLAGE|TOWNSHIP|BOROUGH)$/, ''))
    );
  }
}

/** The parts of an address that are known, as they are written on one line. */
export function addressLine(line: string, city: string, region: string, country: Country): string {
  return (
    `${line === '' ? '' : `${line}, `}${city === '' ? '' : `${city}, `}${region}, ` +
    countryName(country)
  );
}

/** Whether two names differ in spelling alone; most do not differ, which costs no folding. */
function isSameName(label: string, asked: string): boolean {
  const plain = label.toUpperCase();
  return plain === asked || (plain[0] === asked[0] && foldLocality(plain) === foldLocality(asked));
}

/** The name that is the same as the one asked for, in whatever spelling; else "". */
function amongNames(names: readonly string[], asked: string): string {
  if (asked === '' || names.length < 2) return '';
  if (names.includes(asked)) return asked;
  const fold = foldLocality(asked);
  return names.find((name) => foldLocality(name) === fold) ?? '';
}
