/** Addresses as they are written out once they are found. */
import type { ParsedAddress } from '../../address/parsed.js';
import { titleCase } from '../../address/title-case.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { CityRecord } from '../../dataset/records.js';
import { foldLocality } from '../../dataset/street-index.js';
import { zipText } from '../../dataset/street-groups.js';
import type { Locality } from '../../dataset/street-index.js';
import type { Country } from '../../tax/jurisdiction.js';
import type { Precision, Situs } from '../situs.js';
import type { Candidates } from './candidates.js';
import type { DatasetGazetteer } from './locator.js';
import type { Query } from './search.js';

/** What is known of a located address before it is written out. */
interface Located {
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
  /** No line between tax areas comes near. */
  readonly apart: boolean;
}

/** What an address ends in: all that its place decides. */
interface PlaceEnd {
  readonly state: string;
  readonly city: number;
  readonly municipality: number;
  readonly zip: number;
  readonly cityAsked: string;
  readonly country: Country;
  readonly label: string;
  readonly postalCode: string;
  /** "Irvine, CA 92618, United States" */
  readonly place: string;
}

/** Ends kept: of so many places, each in a slot of its own; a power of two. */
const ENDS = 4_096;

/** Writes addresses of one dataset; keeps the names of its municipalities. */
export class AddressWriter {
  readonly #dataset: Dataset;
  readonly #gazetteer: DatasetGazetteer;
  readonly #municipalNames = new Map<Locality, string>();
  readonly #ends = new Array<PlaceEnd | undefined>(ENDS).fill(undefined);

  constructor(dataset: Dataset, gazetteer: DatasetGazetteer) {
    this.#dataset = dataset;
    this.#gazetteer = gazetteer;
  }

  /** "200 Spectrum Center Dr, Irvine, CA 92618-5003, United States" */
  write(located: Located): Situs {
    const { number, street, plus4 } = located;
    const zip = located.zip > 0 ? located.zip : this.#askedZip(located);
    const { country } = this.#dataset.area(located.area);
    const end = this.#end(located, zip, country);
    let { postalCode, place } = end;
    if (postalCode !== '' && plus4 >= 0) {
      postalCode += '-' + String(plus4).padStart(4, '0');
      place = addressLine(end.label, located.state + ' ' + postalCode, country);
    }
    const situs: Situs = {
      area: located.area,
      precision: located.precision,
      lat: located.lat,
      lng: located.lng,
      place,
      houseNumber: number,
      street,
      city: end.label,
      postalCode,
      apart: located.apart,
    };
    return located.stated ? Object.assign(situs, { stated: true }) : situs;
  }

  /** What follows the street of a place, without a ZIP+4. */
  #end(located: Located, zip: number, country: Country): PlaceEnd {
    const { state, city, municipality, cityAsked } = located;
    const slot = (zip ^ (municipality << 5) ^ (city << 7)) & (ENDS - 1);
    const known = this.#ends[slot];
    if (
      known !== undefined &&
      known.zip === zip &&
      known.municipality === municipality &&
      known.city === city &&
      known.cityAsked === cityAsked &&
      known.state === state &&
      known.country === country
    ) {
      return known;
    }
    const label = this.#cityLabel(located, zip);
    const postalCode = zip > 0 ? zipText(zip) : '';
    const region = postalCode === '' ? state : `${state} ${postalCode}`;
    // In one piece, as it is kept: it is read through and printed many times.
    const place = [addressLine(label, region, country)].join('');
    const end = { state, city, municipality, zip, cityAsked, country, label, postalCode, place };
    this.#ends[slot] = end;
    return end;
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

const COUNTRY_NAMES: Readonly<Record<Country, string>> = {
  USA: 'United States',
  CAN: 'Canada',
  PRI: 'Puerto Rico',
  ASM: 'American Samoa',
  GUM: 'Guam',
  MNP: 'Northern Mariana Islands',
  VIR: 'U.S. Virgin Islands',
};

/**
 * "200 Spectrum Center Dr, Irvine, CA 92618-5003, United States". Most answers print its parts:
 * what is put together of several texts is copied when it is read.
 */
export function normalizedAddress({
  houseNumber,
  street,
  place,
}: Pick<Situs, 'houseNumber' | 'street' | 'place'>): string {
  if (street === '') return houseNumber === '' ? place : `${houseNumber}, ${place}`;
  return `${houseNumber} ${street}, ${place}`;
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

/** The four digits that were sent after the ZIP of what was found; −1 for none. */
function plus4Sent({ reading: { zip4 }, zip }: Query, found: number): number {
  return zip4 !== '' && (found === zip || found <= 0) ? Number(zip4) : -1;
}

/** A door as it is written out. */
export function doorFound(query: Query, door: Candidates): Located {
  const { reading, state, zip } = query;
  return {
    area: door.area,
    precision: door.isPoint ? 'point' : 'range',
    lat: door.lat,
    lng: door.lng,
    number: door.numberText || reading.number,
    street: door.label,
    state,
    city: door.city,
    municipality: door.municipality,
    zip: door.zip,
    plus4: door.plus4 >= 0 ? door.plus4 : plus4Sent(query, door.zip),
    cityAsked: reading.city,
    zipAsked: zip,
    stated: door.isStated,
    apart: door.isApart,
  };
}

/** A street alone as it is written out. */
export function streetFound(query: Query, street: Candidates): Located {
  const { reading, state, zip } = query;
  return {
    area: street.streetArea,
    precision: 'street',
    lat: 0,
    lng: 0,
    number: reading.number,
    street: street.streetLabel,
    state,
    city: street.streetCity,
    municipality: street.streetMunicipality,
    zip: street.streetZip,
    plus4: plus4Sent(query, street.streetZip),
    cityAsked: reading.city,
    zipAsked: zip,
    stated: false,
    apart: false,
  };
}

/** The place of a ZIP+4: nothing says that the street is there. */
export function addOnFound(reading: ParsedAddress, state: string, area: number): Located {
  const zip = Number(reading.zip);
  return {
    area,
    precision: 'zip9',
    lat: 0,
    lng: 0,
    number: '',
    street: '',
    state,
    city: 0,
    municipality: 0,
    zip,
    plus4: Number(reading.zip4),
    cityAsked: reading.city,
    zipAsked: zip,
    stated: true,
    apart: false,
  };
}
