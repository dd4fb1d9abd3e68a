/** An address point as publishers state it, before any street index exists. */
import { toMicrodegrees, type Microdegrees } from '../../geo/microdegrees.js';

export interface AddressPoint {
  /** House number with what belongs to it: "12", "12A", "123 1/2". */
  readonly number: string;
  readonly street: string;
  readonly unit: string;
  /** Postal city, where the source states one. */
  readonly city: string;
  /** Municipality the door lies in by its emergency address, where the source states one. */
  readonly municipality: string;
  readonly county: string;
  /** Two-letter code. */
  readonly state: string;
  /** Five digits or "". */
  readonly zip: string;
  /** Four digits or "". */
  readonly zip4: string;
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
  /** Name of the source. */
  readonly source: string;
}

/** What a file of points does not say itself; from the recipe. */
export interface PointOptions {
  readonly source: string;
  /** State of rows that name none. */
  readonly state: string;
  /** City of rows that name none. */
  readonly city?: string;
  /** The city column holds municipalities: it is evidence of where a door lies. */
  readonly cityIsMunicipality?: boolean;
}

/** The fields of a row, by meaning, before they are checked. */
export interface RawPoint {
  readonly number: string;
  readonly numberPrefix: string;
  readonly numberSuffix: string;
  readonly street: string;
  readonly unit: string;
  readonly city: string;
  readonly municipality: string;
  readonly county: string;
  readonly state: string;
  readonly zip: string;
  readonly zip4: string;
  readonly lat: number;
  readonly lng: number;
}

/** What may stand behind a number as part of it; anything longer names a unit. */
const NUMBER_SUFFIX = /^(?:[A-Z]|\d\/\d)$/;
const NUMBER_PREFIX = /^[A-Z]$/;
const ZIP = /^(\d{5})(?:-?(\d{4}))?$/;

function join(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ');
}

/** Checks a row; null for rows without a number, a street or a place on earth. */
export function toAddressPoint(row: RawPoint, options: PointOptions): AddressPoint | null {
  const number = row.number.trim().toUpperCase();
  const street = row.street.trim();
  if (number === '' || /^0+$/.test(number) || !/\d/.test(number) || street === '') return null;
  if (!Number.isFinite(row.lat) || !Number.isFinite(row.lng)) return null;
  if (Math.abs(row.lat) > 90 || Math.abs(row.lng) > 180 || (row.lat === 0 && row.lng === 0)) {
    return null;
  }
  const prefix = row.numberPrefix.trim().toUpperCase();
  const suffix = row.numberSuffix.trim().toUpperCase();
  const isPrefix = NUMBER_PREFIX.test(prefix);
  const isSuffix = NUMBER_SUFFIX.test(suffix);
  const zip = ZIP.exec(row.zip.trim());
  const zip4 = zip?.[2] ?? (/^\d{4}$/.test(row.zip4.trim()) ? row.zip4.trim() : '');
  const city = row.city.trim() || (options.city ?? '');
  return {
    number: `${isPrefix ? prefix : ''}${number}${isSuffix ? suffixText(suffix) : ''}`,
    street,
    unit: join(row.unit.trim(), isPrefix ? '' : prefix, isSuffix ? '' : suffix),
    city: options.cityIsMunicipality === true ? '' : city,
    municipality: row.municipality.trim() || (options.cityIsMunicipality === true ? city : ''),
    county: row.county.trim(),
    state: (row.state.trim() || options.state).toUpperCase(),
    zip: zip?.[1] ?? '',
    // Some publishers write 0000 for "not known"; no delivery point has it.
    zip4: zip4 === '0000' ? '' : zip4,
    lat: toMicrodegrees(row.lat),
    lng: toMicrodegrees(row.lng),
    source: options.source,
  };
}

function suffixText(suffix: string): string {
  return suffix.includes('/') ? ` ${suffix}` : suffix;
}
