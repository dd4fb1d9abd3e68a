/** What the name of a city means in a state, and how an answer writes the place that was found. */
import type { Gazetteer } from '../address/parsed.js';
import { foldName, otherSpelling } from '../address/place-name.js';
import { titleCase } from '../address/title-case.js';
import { RecentCache, WordTable } from '../base/tables.js';
import { type Country, COUNTRY_NAMES } from '../tax/jurisdiction.js';
import type { Dataset } from './dataset.js';
import { type Locality, LONG_FORMS } from './locality-list.js';
import type { CityRecord, ZipRecord } from './records.js';

/** Key of a locality's name, the same for "St. Albans", "SAINT ALBANS" and "Saintalbans". */
export function foldLocality(name: string): string {
  const words = name
    .normalize('NFD')
    .toUpperCase()
    .replace(/['’.]|\p{M}/gu, '')
    .split(/[^A-Z0-9]+/u);
  let folded = '';
  for (const word of words) folded += LONG_FORMS[word] ?? word;
  return folded;
}

/** Answers kept in each of two generations of the cache. */
const ANSWERS_MAX = 10_000;

/** What a state has under a city's name. */
interface NamedCity {
  readonly record: CityRecord | null;
  readonly localities: readonly Locality[];
  /** Whether it has a city record or localities of the name. */
  readonly isKnown: boolean;
}

/** What one state has under a name, chained with the answers of other states for that name. */
interface Answer {
  readonly state: string;
  readonly named: NamedCity;
  readonly next: Answer | null;
}

const NO_CITY: NamedCity = { record: null, localities: [], isKnown: false };

/**
 * Whether a city is a municipality that a source lists doors of, under a name other than the ZIP's.
 */
export function isExclusive(
  city: string,
  localities: readonly Locality[],
  zip: ZipRecord | null,
): boolean {
  const isMunicipal = localities.length > 0 && localities.every((one) => one.isMunicipality);
  return isMunicipal && zip?.cities.some((own) => foldName(own) === foldName(city)) === false;
}

/** Knows the places of one dataset by name. Keeps the answers for names that were asked for. */
export class DatasetGazetteer implements Gazetteer {
  readonly #dataset: Dataset;
  /** Codes of states, by their code and by their name. */
  readonly #codes: WordTable<string>;
  /**
   * Answers by name alone, which needs no new text as a key; few states are asked for the same
   * name.
   */
  readonly #answers = new RecentCache<string, Answer>(ANSWERS_MAX);
  /** The latest answer. An address that was read by means of a city is searched with it next. */
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

  /**
   * What a state has under a city's name. With "" for the state, only `isKnown` is meant, of any
   * state.
   */
  named(state: string, city: string): NamedCity {
    if (city === '') return NO_CITY;
    if (city === this.#lastName && state === this.#lastState) return this.#last;
    const found = this.#answer(state, city);
    if (found.isKnown) [this.#last, this.#lastState, this.#lastName] = [found, state, city];
    return found;
  }

  #answer(state: string, city: string): NamedCity {
    const known = this.#answers.get(city) ?? null;
    for (let each = known; each !== null; each = each.next) {
      if (each.state === state) return each.named;
    }
    const named = this.#find(state, city);
    this.#answers.set(city, { state, named, next: known });
    return named;
  }

  /** The record of a city under this name or its other spelling ("St Paul", "Saint Paul"). */
  city(state: string, name: string): CityRecord | null {
    const found = this.#dataset.city(state, name);
    if (found !== null) return found;
    const other = otherSpelling(name);
    return other === name ? null : this.#dataset.city(state, other);
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

/** A place that was found: all that the choice of its name depends on. */
interface FoundPlace {
  readonly state: string;
  /** Numbers of the localities in the address source; 0 for none. */
  readonly city: number;
  readonly municipality: number;
  /** The ZIP in the address source; 0 where it has none. */
  readonly zip: number;
  /** The city as the address was written. It decides among names of the same place. */
  readonly cityAsked: string;
}

/** The end of a normalized address. */
interface WrittenPlace {
  readonly city: string;
  readonly postalCode: string;
  /** "Irvine, CA 92618, United States" */
  readonly place: string;
}

/** A place in the cache: the result, and all that it depends on. */
interface KeptPlace extends FoundPlace {
  readonly country: Country;
  readonly written: WrittenPlace;
}

/** Number of slots of the cache, of one place each; a power of two. */
const KEPT_PLACES = 4_096;

/** Writes the ends of addresses for one dataset. Keeps the latest ones. */
export class PlaceWriter {
  readonly #dataset: Dataset;
  readonly #gazetteer: DatasetGazetteer;
  readonly #municipalNames = new Map<Locality, string>();
  readonly #kept = new Array<KeptPlace | undefined>(KEPT_PLACES).fill(undefined);

  constructor(dataset: Dataset, gazetteer: DatasetGazetteer) {
    this.#dataset = dataset;
    this.#gazetteer = gazetteer;
  }

  /**
   * Writes a place in a tax area, with its ZIP+4 unless that is −1. Where the source has no ZIP,
   * `zipAsked` is written if it fits the place.
   */
  write(found: FoundPlace, area: number, zipAsked: number, plus4: number): WrittenPlace {
    const { country } = this.#dataset.area(area);
    const zip = found.zip > 0 ? found.zip : this.#askedZip(found, zipAsked);
    const written = this.#write(found, zip, country);
    if (plus4 < 0 || written.postalCode === '') return written;
    const postalCode = written.postalCode + '-' + String(plus4).padStart(4, '0');
    const { city } = written;
    const place = addressLine(city, found.state + ' ' + postalCode, country);
    return { city, postalCode, place };
  }

  #write(found: FoundPlace, zip: number, country: Country): WrittenPlace {
    const { state, city, municipality, cityAsked } = found;
    const slot = (zip ^ (municipality << 5) ^ (city << 7)) & (KEPT_PLACES - 1);
    const known = this.#kept[slot];
    if (
      known !== undefined &&
      known.zip === zip &&
      known.municipality === municipality &&
      known.city === city &&
      known.cityAsked === cityAsked &&
      known.state === state &&
      known.country === country
    ) {
      return known.written;
    }
    const label = this.#cityLabel(found, zip);
    const postalCode = zip > 0 ? zipText(zip) : '';
    const region = postalCode === '' ? state : `${state} ${postalCode}`;
    // Joining makes one flat text. A text of concatenated parts is slower to print each time.
    const place = [addressLine(label, region, country)].join('');
    const written = { city: label, postalCode, place };
    this.#kept[slot] = { state, city, municipality, zip, cityAsked, country, written };
    return written;
  }

  /** The ZIP that was asked for, if it is one of the place's own; otherwise 0. */
  #askedZip({ state, municipality, city }: FoundPlace, asked: number): number {
    if (asked === 0) return 0;
    const label = this.#dataset.streets.locality(state, municipality || city)?.label ?? '';
    const record = this.#findMunicipality(state, label);
    return record?.zips.includes(asked) === true ? asked : 0;
  }

  /**
   * The name of the city, the first of these there is: the source's postal city; the municipality,
   * where that was asked for; the name asked for, or the preferred one, among the postal names of
   * the ZIP; the municipality.
   */
  #cityLabel(found: FoundPlace, zip: number): string {
    const { state, cityAsked } = found;
    const { streets } = this.#dataset;
    if (found.city > 0) return streets.locality(state, found.city)?.label ?? '';
    const municipality = streets.locality(state, found.municipality);
    const label = municipality?.label ?? '';
    if (municipality !== null && cityAsked !== '') {
      const name = this.#municipalName(state, municipality);
      const isAsked = isSameName(label, cityAsked) || isSameName(name, cityAsked);
      if (isAsked) return name || titleCase(label);
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

  /**
   * The record of a municipality. "Barre Town" is Barre in postal names, "Salt Lake City" stays
   * whole.
   */
  #findMunicipality(state: string, label: string): CityRecord | null {
    const name = label.toUpperCase();
    return (
      this.#gazetteer.city(state, name) ??
      this.#gazetteer.city(state, name.replace(/ (?:CITY|TOWN|VILLAGE|TOWNSHIP|BOROUGH)$/, ''))
    );
  }
}

/** The five digits of a ZIP that is held as a number. */
export function zipText(zip: number): string {
  return zip < 10_000 ? String(zip).padStart(5, '0') : String(zip);
}

/** Name of a country as normalized addresses write it. */
export function countryName(country: Country): string {
  return COUNTRY_NAMES[country];
}

/** The end of an address: city, region and country. */
export function addressLine(city: string, region: string, country: Country): string {
  const place = city === '' ? region : city + ', ' + region;
  return place + ', ' + countryName(country);
}

/**
 * Whether two names differ in spelling only. Most are equal or start differently, which is cheap.
 */
function isSameName(label: string, asked: string): boolean {
  const plain = label.toUpperCase();
  return plain === asked || (plain[0] === asked[0] && foldLocality(plain) === foldLocality(asked));
}

/** The name in the list that is the one asked for, in any spelling; "" if there is none. */
function amongNames(names: readonly string[], asked: string): string {
  if (asked === '' || names.length < 2) return '';
  if (names.includes(asked)) return asked;
  const fold = foldLocality(asked);
  return names.find((name) => foldLocality(name) === fold) ?? '';
}
