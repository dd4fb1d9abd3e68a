/** Streets, doors and ranges as they come in, interned and kept in columns. */
import type { Gazetteer } from '../../address/parsed.js';
import { parseHouseNumber } from '../../address/house-number.js';
import { foldName, formatStreetName, parseStreetName } from '../../address/street-name.js';
import { titleCase } from '../../address/title-case.js';
import { foldLocality } from '../../dataset/street-format.js';
import type { AddressPoint } from '../source/points.js';
import type { RangeSide, StreetRange } from '../source/ranges.js';
import { IntColumn } from './bytes.js';

/** A street's name in its parts, one per spelling. */
export interface StreetSpelling {
  /** Name proper with its words apart. */
  readonly name: string;
  readonly fold: string;
  readonly pre: string;
  readonly suffix: string;
  readonly post: string;
  readonly label: string;
}

/** A spelling within one ZIP, postal city and municipality, as the sources state them. */
export interface StatedStreet {
  readonly state: string;
  readonly zip: number;
  readonly city: string;
  readonly municipality: string;
  readonly spelling: StreetSpelling;
  /** How many doors and range sides say so. */
  weight: number;
}

/** One side of a range on a stated street. */
export interface StatedSide {
  readonly street: number;
  readonly side: RangeSide;
  readonly right: boolean;
  readonly geometry: readonly number[];
  /** −1: it differs along the side. */
  readonly area: number;
  readonly begin: number;
}

export class StreetCollection {
  readonly streets: StatedStreet[] = [];
  readonly sides: StatedSide[] = [];
  readonly texts: string[] = [''];
  readonly street = new IntColumn();
  readonly value = new IntColumn();
  /** Index in `texts` where the number is not just its integer; 0 else. */
  readonly text = new IntColumn();
  readonly lat = new IntColumn();
  readonly lng = new IntColumn();
  readonly area = new IntColumn();
  /** ZIP+4 add-on and 1; 0 for none. */
  readonly plus4 = new IntColumn();
  /** Labels of localities: state and folded name → label → weight. */
  readonly labels = new Map<string, Map<string, number>>();

  readonly #gazetteer: Gazetteer;
  readonly #streetIds = new Map<string, number>();
  readonly #spellings = new Map<string, StreetSpelling | null>();
  readonly #textIds = new Map<string, number>();
  readonly #folds = new Map<string, string>();

  constructor(gazetteer: Gazetteer) {
    this.#gazetteer = gazetteer;
  }

  /** Keeps a door; false when its number or street cannot be read. */
  addPoint(point: AddressPoint, area: number): boolean {
    const number = parseHouseNumber(point.number);
    if (number === null) return false;
    // Grid numbers ("N12W3456") have no order; they stand first and are found by their text.
    const value = Math.max(0, number.value);
    const { state, zip, city, municipality } = point;
    const street = this.#intern(state, zip, city, municipality, point.street);
    if (street < 0) return false;
    this.street.push(street);
    this.value.push(value);
    this.text.push(number.number === String(value) ? 0 : this.#internText(number.number));
    this.lat.push(point.lat);
    this.lng.push(point.lng);
    this.area.push(area);
    this.plus4.push(point.zip4 === '' ? 0 : Number(point.zip4) + 1);
    return true;
  }

  /** Keeps one side of a range; false when its street cannot be read. */
  addSide(range: StreetRange, right: boolean, area: number): boolean {
    const side = right ? range.right : range.left;
    if (side === null) return false;
    const { state, city, municipality } = range;
    const street = this.#intern(state, side.zip, city, municipality, range.street);
    if (street < 0) return false;
    const { geometry, begin } = range;
    this.sides.push({ street, side, right, geometry, area, begin: begin ?? 0 });
    return true;
  }

  #internText(text: string): number {
    const known = this.#textIds.get(text);
    if (known !== undefined) return known;
    const id = this.texts.length;
    this.texts.push(text);
    this.#textIds.set(text, id);
    return id;
  }

  #intern(state: string, zip: string, city: string, municipality: string, text: string): number {
    const key = `${state}|${zip}|${city}|${municipality}|${text}`;
    const known = this.#streetIds.get(key);
    if (known !== undefined) {
      if (known >= 0) this.streets[known]!.weight += 1;
      return known;
    }
    const spelling = this.#spelling(text);
    let id = -1;
    // Without a ZIP, a postal city or a municipality nothing leads to a street.
    if (spelling !== null && (zip !== '' || city !== '' || municipality !== '')) {
      id = this.streets.length;
      this.streets.push({
        state,
        zip: Number(zip),
        city: this.#fold(city),
        municipality: this.#fold(municipality),
        spelling,
        weight: 1,
      });
      this.#label(state, city);
      this.#label(state, municipality);
    }
    this.#streetIds.set(key, id);
    return id;
  }

  #spelling(text: string): StreetSpelling | null {
    const known = this.#spellings.get(text);
    if (known !== undefined) return known;
    const name = parseStreetName(text, this.#gazetteer);
    const fold = foldName(name.name);
    const spelling = fold === '' ? null : {
      name: name.name,
      fold,
      pre: name.preDirection,
      suffix: name.suffix,
      post: name.postDirection,
      label: formatStreetName(name),
    };
    this.#spellings.set(text, spelling);
    return spelling;
  }

  #fold(name: string): string {
    if (name === '') return '';
    let fold = this.#folds.get(name);
    if (fold === undefined) {
      fold = foldLocality(name);
      this.#folds.set(name, fold);
    }
    return fold;
  }

  #label(state: string, name: string): void {
    if (name === '') return;
    const key = `${state}|${this.#fold(name)}`;
    let labels = this.labels.get(key);
    if (labels === undefined) {
      labels = new Map();
      this.labels.set(key, labels);
    }
    const label = titleCase(name);
    labels.set(label, (labels.get(label) ?? 0) + 1);
  }
}

/** The label most often used; the first in order among equals. */
export function commonLabel(labels: ReadonlyMap<string, number>): string {
  let best = '';
  let most = 0;
  for (const [label, weight] of labels) {
    if (weight > most || (weight === most && label < best)) {
      best = label;
      most = weight;
    }
  }
  return best;
}

// States by name and code, for reading route numbers in street columns ("NY ROUTE 17").

/** A gazetteer of states alone: a street column names no city. */
export function stateGazetteer(
  states: Iterable<{ readonly code: string; readonly name: string }>,
): Gazetteer {
  const codes = new Map<string, string>();
  for (const { code, name } of states) {
    codes.set(code, code);
    codes.set(name.toUpperCase(), code);
  }
  return { stateOf: (words) => codes.get(words) ?? '', isCity: () => false };
}
