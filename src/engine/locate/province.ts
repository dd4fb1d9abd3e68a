/**
 * Canadian addresses. The province is named or follows from the postal code, and it is all that
 * taxes depend on.
 */
import { parseAddress } from '../../address/parse.js';
import type { Gazetteer, ParsedAddress } from '../../address/parsed.js';
import { plainName } from '../../address/place-name.js';
import { titleCase } from '../../address/title-case.js';
import type { Dataset } from '../../dataset/dataset.js';
import { fail, failAmbiguous, type Failure } from '../../failure.js';
import { distanceMetres, type Microdegrees } from '../../geo/microdegrees.js';
import type { Situs } from '../situs.js';
import { addressLine } from '../../dataset/city-names.js';

/** The document with other names of provinces, for each of them separated by bars. */
const PROVINCE_NAMES = 'province-names';

interface NamesRow {
  readonly state: string;
  readonly names: string;
}

const LETTERS = /^[A-Z](?: [A-Z])+$/;

/** Words as a key: "Î.-P.-É." reads as three letters, "P.E.I." as one word. */
function keyOf(words: string): string {
  return LETTERS.test(words) ? words.replaceAll(' ', '') : words;
}

/** Provinces by code, by name and by other names. */
class ProvinceNames implements Gazetteer {
  readonly isCanadian = true;
  readonly #codes = new Map<string, string>();
  readonly #isCity: (city: string) => boolean;

  /** Of cities in provinces, `isCity` of this class knows only those that the function knows. */
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

/**
 * The document with the tax areas of provinces by the first one or three characters of a postal
 * code.
 */
const POSTAL_PREFIXES = 'postal-prefixes';

/** The tax area of a province, and a spot in it. */
interface Prefix {
  readonly area: number;
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
  /** The area of another province that also has some of these codes. */
  readonly also?: number;
  /** A city of the province whose rate is missing, folded as in addresses, and why. */
  readonly city?: string;
  readonly unheld?: string;
}

/** No city whose rate is missing extends farther from its spot, in metres. */
const UNHELD_METRES_MAX = 8_000;

const SHORT = 1;
const LONG = 3;

/** Message for a Canadian address that lacks both. */
const NEEDS = 'a Canadian address needs its postal code or its province';

/** The refusal of a Canadian address with neither. */
export function needsProvince(): Failure {
  return fail('address-incomplete', NEEDS);
}

/** Locates Canadian addresses of one dataset. */
export class ProvinceLocator {
  readonly #dataset: Dataset;
  /** The first prefix of each province by its code; read when first needed. */
  #provinces: ReadonlyMap<string, Prefix> | null = null;
  /** Prefixes of cities whose rate is missing; read when first needed. */
  #unheldCities: readonly Prefix[] | null = null;
  #names: ProvinceNames | null = null;

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
  }

  /** Whether a code is that of a province. */
  has(code: string): boolean {
    return code !== '' && this.#ofProvince(code) !== null;
  }

  /**
   * Locates a line that is meant to be Canadian; null where it names neither province nor postal
   * code.
   */
  locateLine(text: string): Situs | Failure | null {
    const reading = this.#read(text);
    const isNamed = reading !== undefined && reading.state + reading.canadianPostalCode !== '';
    return isNamed ? this.locate(reading) : null;
  }

  /**
   * Locates a line of unknown country that ends in province and postal code; null for any other.
   */
  locateCoded(text: string): Situs | Failure | null {
    const reading = this.#read(text);
    if (reading === undefined) return null;
    return reading.state === '' || reading.canadianPostalCode === '' ? null : this.locate(reading);
  }

  /** Reads a line with the names of provinces, and the names of cities whose rate is missing. */
  #read(text: string): ParsedAddress | undefined {
    this.#names ??= new ProvinceNames(this.#dataset, (city) =>
      this.#unheldOnes().some((each) => each.city === city),
    );
    return parseAddress(text, this.#names)[0];
  }

  /**
   * Locates an address by its postal code or the first half of one, or else by its province; the
   * precision is `postal`.
   */
  locate(reading: ParsedAddress): Situs | Failure {
    const { canadianPostalCode: code, state: named, otherPlace, city } = reading;
    if (otherPlace !== '' && code.length <= LONG) {
      return fail('address-incomplete', `the address names ${otherPlace} and ${named}`);
    }
    const prefix = code === '' ? this.#ofProvince(named) : this.#ofCode(code, named);
    if (prefix === 'two provinces') {
      return failAmbiguous(
        `postal code ${code} may be in either of two provinces: name the province`,
      );
    }
    if (prefix === null) {
      return fail(
        'address-incomplete',
        code === '' ? NEEDS : `postal code ${code} is in no province`,
      );
    }
    const { area, lat, lng } = prefix;
    const { state } = this.#dataset.area(area);
    if (named !== '' && named !== state) {
      return fail('address-incomplete', `postal code ${code} is not in ${named}`);
    }
    const unheld = this.#unheld(prefix, city);
    if (unheld !== null) return fail('no-result', unheld);
    const label = titleCase(city);
    const postalCode = code.length === LONG ? '' : code;
    const region = postalCode === '' ? state : `${state} ${postalCode}`;
    return {
      area,
      precision: 'postal',
      lat,
      lng,
      // No streets of Canada are known, so the answer does not confirm one.
      place: addressLine(label, region, 'CAN'),
      houseNumber: '',
      street: '',
      city: label,
      postalCode,
    };
  }

  /** Why the rate of an address in a province is missing; null where it is known. */
  #unheld(found: Prefix, city: string): string | null {
    return (
      this.#cities(found.area).find((each) => each === found || each.city === city)?.unheld ?? null
    );
  }

  /** Why the rate at coordinates in a province is missing; null where it is known. */
  unheldNear(area: number, lat: Microdegrees, lng: Microdegrees): string | null {
    return (
      this.#cities(area).find(
        (each) => distanceMetres(each.lat, each.lng, lat, lng) < UNHELD_METRES_MAX,
      )?.unheld ?? null
    );
  }

  /** Prefixes of cities in a province whose rate is missing. */
  #cities(area: number): readonly Prefix[] {
    return this.#unheldOnes().filter((each) => each.area === area);
  }

  #unheldOnes(): readonly Prefix[] {
    return (this.#unheldCities ??= Object.values(this.#prefixes()).filter(
      ({ unheld }) => unheld !== undefined,
    ));
  }

  /** The area of a postal code. Where two provinces have such codes, that of the named one. */
  #ofCode(code: string, named: string): Prefix | 'two provinces' | null {
    const prefix = this.#ofPrefix(code);
    if (prefix?.also === undefined) return prefix;
    if (named === '') return 'two provinces';
    const other = this.#dataset.area(prefix.also).state;
    return named === other ? this.#ofProvince(other) : prefix;
  }

  #prefixes(): Readonly<Record<string, Prefix>> {
    return (this.#dataset.document(POSTAL_PREFIXES) ?? {}) as Readonly<Record<string, Prefix>>;
  }

  #ofProvince(code: string): Prefix | null {
    this.#provinces ??= new Map(
      Object.values(this.#prefixes())
        .reverse()
        .map((prefix) => [this.#dataset.area(prefix.area).state, prefix]),
    );
    return this.#provinces.get(code) ?? null;
  }

  #ofPrefix(postalCode: string): Prefix | null {
    const prefixes = this.#prefixes();
    return prefixes[postalCode.slice(0, LONG)] ?? prefixes[postalCode.slice(0, SHORT)] ?? null;
  }
}
