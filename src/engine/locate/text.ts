/** The normalized form of an address that was found. */
import { titleCase } from '../../address/title-case.js';
import type { Dataset } from '../../dataset/dataset.js';
import { foldLocality, zipText } from '../../dataset/street-format.js';
import type { Locality } from '../../dataset/street-index.js';
import { countryName, type Precision, type Situs } from '../situs.js';
import { findCity } from './gazetteer.js';

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
}

/** "200 Spectrum Center Dr, Irvine, CA 92618-5003, United States" */
export function writeSitus(dataset: Dataset, located: Located): Situs {
  const { state, number, street } = located;
  const zip = located.zip > 0 ? located.zip : askedZip(dataset, located);
  const city = cityLabel(dataset, located, zip);
  let postalCode = zip > 0 ? zipText(zip) : '';
  if (postalCode !== '' && located.plus4 >= 0) {
    postalCode += `-${String(located.plus4).padStart(4, '0')}`;
  }
  const line = street === '' ? number : `${number} ${street}`;
  const place = city === '' ? '' : `, ${city}`;
  const region = postalCode === '' ? state : `${state} ${postalCode}`;
  const country = countryName(dataset.area(located.area).country);
  return {
    area: located.area,
    precision: located.precision,
    lat: located.lat,
    lng: located.lng,
    normalizedAddress: `${line}${place}, ${region}, ${country}`,
    houseNumber: number,
    street,
    city,
    postalCode,
  };
}

/** Where the source knows no ZIP: the one asked for, if it is one of the place's own. */
function askedZip(dataset: Dataset, located: Located): number {
  const { state, municipality, city, zipAsked } = located;
  if (zipAsked === 0) return 0;
  const label = dataset.streets.locality(state, municipality || city)?.label ?? '';
  const record = findMunicipality(dataset, state, label);
  return record?.zips.includes(zipAsked) === true ? zipAsked : 0;
}

/**
 * The source's postal city; else the municipality, where that was asked for; else the name asked
 * for or the preferred name among the postal names of the ZIP; else the municipality.
 */
function cityLabel(dataset: Dataset, located: Located, zip: number): string {
  const { state, cityAsked } = located;
  if (located.city > 0) return dataset.streets.locality(state, located.city)?.label ?? '';
  const municipality = dataset.streets.locality(state, located.municipality);
  const label = municipality?.label ?? '';
  if (municipality !== null && cityAsked !== '' && isSameName(label, cityAsked)) {
    return municipalName(dataset, state, municipality) || titleCase(label);
  }
  const postal = zip > 0 ? dataset.zip(zip)?.cities ?? [] : [];
  const name = amongNames(postal, cityAsked) || (postal[0] ?? '');
  if (name !== '') return findCity(dataset, state, name)?.name ?? titleCase(name);
  if (municipality === null || label === '') return titleCase(cityAsked);
  return municipalName(dataset, state, municipality) || label;
}

/** Localities belong to one dataset, and so does what is known of them here. */
const MUNICIPAL_NAMES = new WeakMap<Locality, string>();

/** The name of a municipality among the cities; "" where it is none of them. */
function municipalName(dataset: Dataset, state: string, municipality: Locality): string {
  const known = MUNICIPAL_NAMES.get(municipality);
  if (known !== undefined) return known;
  const name = findMunicipality(dataset, state, municipality.label)?.name ?? '';
  MUNICIPAL_NAMES.set(municipality, name);
  return name;
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

/** "Barre Town" is known to the post as Barre, "Salt Lake City" by its whole name. */
function findMunicipality(dataset: Dataset, state: string, label: string) {
  const name = label.toUpperCase();
  return findCity(dataset, state, name)
    ?? findCity(dataset, state, name.replace(/ (?:CITY|TOWN|VILLAGE|TOWNSHIP|BOROUGH)$/, ''));
}
