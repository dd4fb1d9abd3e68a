/**
 * Places of a dataset by their names: what the name of a city means in a state, and how the place
 * of an address that was found is written.
 */
import type { Gazetteer } from '../address/parsed.js';
import { foldName, otherSpelling } from '../address/place-name.js';
import { titleCase } from '../address/title-case.js';
import { RecentCache, WordTable } from '../base/tables.js';
import { type Country, COUNTRY_NAMES } from '../tax/jurisdiction.js';
import type { Dataset } from './dataset.js';
import { type Locality, LONG_FORMS } from './locality-list.js';
import type { CityRecord, ZipRecord } from './records.js';

/** Folds a locality's name so that "St. Albans", "SAINT ALBANS" and "Saintalbans" are one. */
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

/** Answers kept, in each of two generations. */
const ANSWERS_MAX = 10_000;

/** What a state has of a city's name. */
interface NamedCity {
  readonly record: CityRecord | null;
  readonly localities: readonly Locality[];
  /** It has either. */
  readonly isKnown: boolean;
}

/** What a state has of a name, and the states behind it that were asked for the same one. */
interface Answer {
  readonly state: string;
  readonly named: NamedCity;
  readonly next: Answer | null;
}

const NO_CITY: NamedCity = { record: null, localities: [], isKnown: false };

/** Whether a city is a municipality with doors of its own whose name is not the ZIP's. */
export function isExclusive(
  city: string,
  localities: readonly Locality[],
  zip: ZipRecord | null,
): boolean {
  const isMunicipal = localities.length > 0 && localities.every((one) => one.isMunicipality);
  return isMunicipal && zip?.cities.some((own) => foldName(own) === foldName(city)) === false;
}

/** The places of one dataset; keeps what it has of the names that are asked for. */
export class DatasetGazetteer implements Gazetteer {
  readonly #dataset: Dataset;
  /** Codes of states by code and by name. */
  readonly #codes: WordTable<string>;
  /** By name, which is hashed as it stands; few states are asked for the same one. */
  readonly #answers = new RecentCache<string, Answer>(ANSWERS_MAX);
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

/** A place that was found, as its name is chosen by. */
interface FoundPlace {
  readonly state: string;
  /** Numbers of the localities by the address source, 0 for none. */
  readonly city: number;
  readonly municipality: number;
  /** 0 where the source knows none. */
  readonly zip: number;
  /** As the address was written, to choose among names of the same place. */
  readonly cityAsked: string;
}

/** What an address ends in. */
interface WrittenPlace {
  readonly city: string;
  readonly postalCode: string;
  /** "Irvine, CA 92618, United States" */
  readonly place: string;
}

/** One that is kept, and all that it depends on. */
interface KeptPlace extends FoundPlace {
  readonly country: Country;
  readonly written: WrittenPlace;
}

/** Ends of addresses that are kept, each in a slot of its own; a power of two. */
const KEPT_PLACES = 4_096;

/** Writes places of one dataset as addresses end in them; keeps what was written last. */
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
   * Writes a place of a tax area, with its ZIP+4 unless that is −1; `zipAsked` is written where the
   * source knows no ZIP.
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
    // In one piece, as it is kept: it is read through and printed many times.
    const place = [addressLine(label, region, country)].join('');
    const written = { city: label, postalCode, place };
    this.#kept[slot] = { state, city, municipality, zip, cityAsked, country, written };
    return written;
  }

  /** Where the source knows no ZIP: the one asked for, if it is one of the place's own. */
  #askedZip({ state, municipality, city }: FoundPlace, asked: number): number {
    if (asked === 0) return 0;
    const label = this.#dataset.streets.locality(state, municipality || city)?.label ?? '';
    const record = this.#findMunicipality(state, label);
    return record?.zips.includes(asked) === true ? asked : 0;
  }

  /**
   * The source's postal city; else the municipality, where that was asked for; else the name asked
   * for or the preferred name among the postal names of the ZIP; else the municipality.
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

  /** "Barre Town" is known to the post as Barre, "Salt Lake City" by its whole name. */
  #findMunicipality(state: string, label: string): CityRecord | null {
    const name = label.toUpperCase();
    return (
      this.#gazetteer.city(state, name) ??
      this.#gazetteer.city(state, name.replace(/ (?:CITY|TOWN|VILLAGE|TOWNSHIP|BOROUGH)$/, ''))
    );
  }
}

/** Five digits of a ZIP kept as an integer. */
export function zipText(zip: number): string {
  return zip < 10_000 ? String(zip).padStart(5, '0') : String(zip);
}

/** Name of a country as normalized addresses write it. */
export function countryName(country: Country): string {
  return COUNTRY_NAMES[country];
}

/** The place of an address, as it is written at the end of the line. */
export function addressLine(city: string, region: string, country: Country): string {
  const place = city === '' ? region : city + ', ' + region;
  return place + ', ' + countryName(country);
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
