/** The ways in which people write an address, for the accuracy measurement and for tests. */
import { ordinalWords } from '../src/address/street-words.js';
import { formatStreetName, type StreetName } from '../src/address/street-name.js';
import { titleCase } from '../src/address/title-case.js';
import type { AddressPoint } from '../src/ingest/source/points.js';
import type { Dataset } from '../src/dataset/dataset.js';
import { suffixWord, directionWord } from '../src/address/word.js';

export { withOneTypo } from './typo.js';

/** An address to be written. */
interface AddressParts {
  readonly number: string;
  readonly street: StreetName;
  /** For example "APT 4"; "" or absent for none. */
  readonly unit?: string;
  readonly city: string;
  /** Two-letter code of the state. */
  readonly state: string;
  readonly stateName: string;
  /** Five digits, ZIP+4 or "". */
  readonly zip: string;
}

/** All writing styles. */
export const WRITING_STYLES = [
  'standard',
  'lower-case',
  'capitals',
  'spelled-out',
  'abbreviated',
  'with-unit',
  'incomplete',
  'with-country',
] as const;
type WritingStyle = (typeof WRITING_STYLES)[number];

/** The sum of character codes, for choices that look arbitrary but never change. */
function variety(parts: AddressParts): number {
  let sum = 0;
  for (const character of parts.number + parts.street.name) sum += character.charCodeAt(0);
  return sum;
}

function join(...words: readonly string[]): string {
  return words.filter((word) => word !== '').join(' ');
}

/** The beginning of a numbered road's name, how it is written in full, and in short. */
const ROADS: readonly (readonly [string, string, string])[] = [
  ['US HIGHWAY ', 'US Route ', 'US-'],
  ['STATE ROUTE ', 'State Route ', 'Rte '],
  ['COUNTY HIGHWAY ', 'County Road ', 'Co Rd '],
  ['INTERSTATE ', 'Interstate ', 'I-'],
];

function roadName(name: string, short: boolean): string {
  for (const [start, full, brief] of ROADS) {
    if (!name.startsWith(start)) continue;
    // After "Rte" or "US-" a letter is no number, and would not be parsed as one.
    const number = name.slice(start.length);
    return (short && /^\d\w*$/.test(number) ? brief : full) + number;
  }
  return '';
}

function spelledName(name: string): string {
  const road = roadName(name, false);
  if (road !== '') return road;
  return name
    .split(' ')
    .map((word, index, words) => {
      if (word === 'ST' && index < words.length - 1) return 'Saint';
      const ordinal = /^(\d{1,2})(?:ST|ND|RD|TH)$/.exec(word)?.[1];
      return titleCase(ordinal === undefined ? word : ordinalWords(Number(ordinal)) || word);
    })
    .join(' ');
}

function shortName(name: string): string {
  const road = roadName(name, true);
  if (road !== '') return road;
  return titleCase(name.replace(/^MOUNT (?=.)/, 'MT ').replace(/^FORT (?=.)/, 'FT '));
}

function spelledStreet(street: StreetName): string {
  return join(
    titleCase(directionWord(street.preDirection)),
    spelledName(street.name),
    titleCase(suffixWord(street.suffix)),
    titleCase(directionWord(street.postDirection)),
  );
}

function shortStreet(street: StreetName, mark: string): string {
  const marked = (word: string): string => (word === '' ? '' : titleCase(word) + mark);
  const direction = (word: string): string => (word === '' ? '' : word + mark);
  return join(
    direction(street.preDirection),
    shortName(street.name),
    marked(street.suffix),
    direction(street.postDirection),
  );
}

const UNITS = ['Apt 4B', '#12', 'Ste 200', 'Unit 7', '2nd Floor', 'Fl 3', 'Bldg C Apt 9'] as const;

function withUnit(parts: AddressParts, seed: number): string {
  const unit = parts.unit === undefined || parts.unit === '' ? '' : titleCase(parts.unit);
  const noise = unit || (UNITS[seed % UNITS.length] ?? '');
  const comma = seed % 3 === 0 ? ',' : '';
  const line = `${parts.number} ${formatStreetName(parts.street)}${comma} ${noise}`;
  return `${line}, ${titleCase(parts.city)}, ${parts.state} ${parts.zip}`.trim();
}

/** An address without city where a ZIP tells the place; every other time without ZIP. */
function incomplete(parts: AddressParts, seed: number): string {
  const street = `${parts.number} ${formatStreetName(parts.street)}`;
  const city = titleCase(parts.city);
  if (parts.zip !== '' && seed % 2 === 0) return `${street}, ${parts.state} ${parts.zip}`;
  return city === '' ? `${street} ${parts.zip}` : `${street}, ${city}, ${parts.state}`;
}

/** Writes an address in one of the styles. */
export function writeAddress(parts: AddressParts, style: WritingStyle): string {
  const { number, street, state, stateName, zip } = parts;
  const city = titleCase(parts.city);
  const five = zip.slice(0, 5);
  const seed = variety(parts);
  const line = join(number, formatStreetName(street));
  switch (style) {
    case 'standard':
      return join(`${line}, ${city}, ${state}`, zip);
    case 'lower-case':
      return join(line, city, state, five).toLowerCase();
    case 'capitals':
      return join(`${number} ${shortStreet(street, '.')}, ${city}, ${state}`, zip).toUpperCase();
    case 'spelled-out':
      return join(`${number} ${spelledStreet(street)}, ${city}, ${stateName}`, zip);
    case 'abbreviated':
      return join(`${number} ${shortStreet(street, '')}`, city, state, five);
    case 'with-unit':
      return withUnit(parts, seed);
    case 'incomplete':
      return incomplete(parts, seed);
    case 'with-country': {
      const country = ['USA', 'United States', 'US', 'U.S.A.'][seed % 4] ?? 'USA';
      return `  ${number}  ${formatStreetName(street)} ,${city} , ${state}  ${five} ,${country} `;
    }
  }
}

/** An address on one line, as its publisher has it. */
export function published(point: AddressPoint): string {
  const zip = point.zip === '' ? '' : ` ${point.zip}`;
  const city = point.city || point.municipality;
  return `${point.number} ${point.street}, ${city === '' ? '' : `${city}, `}${point.state}${zip}`;
}

/** The parts of a published address, with a street whose name may be misspelt. */
export function partsOf(
  dataset: Dataset,
  { point, number }: { readonly point: AddressPoint; readonly number: string },
  street: StreetName,
): AddressParts {
  return {
    number,
    street,
    unit: point.unit,
    city: point.city || point.municipality,
    state: point.state,
    stateName: dataset.state(point.state)?.name ?? point.state,
    zip: point.zip4 === '' || point.zip === '' ? point.zip : `${point.zip}-${point.zip4}`,
  };
}
