/**
 * Canadian addresses: the province is named or follows from the postal code, and is all that taxes
 * ask for.
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
class ProvinceNames implements Gazetteer {
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

/** The document of provinces' tax areas by the first character, or three, of a postal code. */
const POSTAL_PREFIXES = 'postal-prefixes';

/** A province's tax area and a spot in it. */
interface Prefix {
  readonly area: number;
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
  /** The area of another province that has some of these codes too. */
  readonly also?: number;
  /** A city of the province, as addresses are read, whose rate is not held, and why. */
  readonly city?: string;
  readonly unheld?: string;
}

/** No city whose rate is not held reaches farther from its spot, in metres. */
const UNHELD_METRES_MAX = 8_000;

const SHORT = 1;
const LONG = 3;

/** What an address of Canada needs that leads nowhere. */
const NEEDS = 'a Canadian address needs its postal code or its province';

/** Refuses an address of Canada that names neither. */
export function needsProvince(): Failure {
  return fail('address-incomplete', NEEDS);
}

/** Locates Canadian addresses of one dataset. */
export class ProvinceLocator {
  readonly #dataset: Dataset;
  /** The first prefix of each province by its code; read when it is first asked for. */
  #provinces: ReadonlyMap<string, Prefix> | null = null;
  /** Prefixes of cities whose rate is not held; read when they are first asked for. */
  #unheldCities: readonly Prefix[] | null = null;
  #names: ProvinceNames | null = null;

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
  }

  /** Whether a code is a province's. */
  has(code: string): boolean {
    return code !== '' && this.#ofProvince(code) !== null;
  }

  /** Locates a line that is asked for as an address of Canada; null where it names neither. */
  locateLine(text: string): Situs | Failure | null {
    const reading = this.#read(text);
    const isNamed = reading !== undefined && reading.state + reading.canadianPostalCode !== '';
    return isNamed ? this.locate(reading) : null;
  }

  /** The same for one that is not, and names both of them at its end. */
  locateCoded(text: string): Situs | Failure | null {
    const reading = this.#read(text);
    if (reading === undefined) return null;
    return reading.state === '' || reading.canadianPostalCode === '' ? null : this.locate(reading);
  }

  /** A line by the names of provinces; a city whose rate is not held is known by its name. */
  #read(text: string): ParsedAddress | undefined {
    this.#names ??= new ProvinceNames(this.#dataset, (city) =>
      this.#unheldOnes().some((each) => each.city === city),
    );
    return parseAddress(text, this.#names)[0];
  }

  /**
   * Locates an address by its postal code or the first half of one, else by its province; precision
   * `postal`.
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
      // Nobody here knows the streets of Canada, so none is said to be there.
      place: addressLine(label, region, 'CAN'),
      houseNumber: '',
      street: '',
      city: label,
      postalCode,
    };
  }

  /** Why the rate of an address in a province is not held; null where it is. */
  #unheld(found: Prefix, city: string): string | null {
    return (
      this.#cities(found.area).find((each) => each === found || each.city === city)?.unheld ?? null
    );
  }

  /** Why the rate of coordinates in a province is not held; null where it is. */
  unheldNear(area: number, lat: Microdegrees, lng: Microdegrees): string | null {
    return (
      this.#cities(area).find(
        (each) => distanceMetres(each.lat, each.lng, lat, lng) < UNHELD_METRES_MAX,
      )?.unheld ?? null
    );
  }

  /** Prefixes of cities of a province whose rate is not held. */
  #cities(area: number): readonly Prefix[] {
    return this.#unheldOnes().filter((each) => each.area === area);
  }

  #unheldOnes(): readonly Prefix[] {
    return (this.#unheldCities ??= Object.values(this.#prefixes()).filter(
      ({ unheld }) => unheld !== undefined,
    ));
  }

  /** The area of a postal code, of the province that is named where two have such codes. */
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
