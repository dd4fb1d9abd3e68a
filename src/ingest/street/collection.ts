/**
 * Collects doors, ranges and the streets that they name, in columns, in the order of the sources.
 */
import type { Gazetteer } from '../../address/parsed.js';
import { titleCase } from '../../address/title-case.js';
import type { DateInt } from '../../tax/date.js';
import { extendPair, PairTable } from './believed.js';
import { IntColumn } from './bytes.js';
import type { Labels } from './localities.js';
import { SideColumns, type SideFacts } from './sides.js';
import { Spellings, type StreetSpelling } from './source-names.js';
import type { DoorFacts, StreetSink } from './stated.js';
import type { StatedZips } from './stated-zips.js';

/** A spelling within one ZIP, postal city and municipality, as the sources state them. */
interface StatedStreet {
  readonly state: string;
  readonly zip: number;
  readonly city: string;
  readonly municipality: string;
  readonly spelling: StreetSpelling;
  /** Number of doors and range sides with this spelling. */
  weight: number;
}

/** In place of a street's number: it is not part of the collection, only its localities count. */
const ELSEWHERE = -2;

export class StreetCollection implements StreetSink {
  readonly streets: StatedStreet[] = [];
  readonly sides = new SideColumns();
  readonly texts: string[] = [''];
  readonly doorStreet = new IntColumn();
  readonly value = new IntColumn();
  /** Index in `texts` where the number is more than its integer; otherwise 0. */
  readonly text = new IntColumn();
  readonly lat = new IntColumn();
  readonly lng = new IntColumn();
  readonly area = new IntColumn();
  /** ZIP+4 add-on plus 1; 0 for none. */
  readonly plus4 = new IntColumn();
  /** Labels of localities; each counts once for a stated street. */
  readonly labels: Labels = new Map();

  readonly #spellings: Spellings;
  readonly #streetIds = new Map<string, number>();
  readonly #textIds = new Map<string, number>();

  constructor(gazetteer: Gazetteer) {
    this.#spellings = new Spellings(gazetteer);
  }

  street(state: string, zip: string, city: string, municipality: string, text: string): number {
    return this.#intern(state, zip, city, municipality, text, true, true);
  }

  /** As `street`, for a street whose localities another collection counts. */
  uncounted(state: string, zip: string, city: string, municipality: string, text: string): number {
    return this.#intern(state, zip, city, municipality, text, false, true);
  }

  /** Counts the localities of a street that another collection keeps. */
  countOnly(state: string, zip: string, city: string, municipality: string, text: string): void {
    this.#intern(state, zip, city, municipality, text, true, false);
  }

  door(street: number, door: DoorFacts): void {
    this.streets[street]!.weight += 1;
    this.doorStreet.push(street);
    this.value.push(door.value);
    this.text.push(door.text === '' ? 0 : this.#internText(door.text));
    this.lat.push(door.lat);
    this.lng.push(door.lng);
    this.area.push(door.area);
    this.plus4.push(door.plus4);
  }

  side(street: number, facts: SideFacts, vertices: number, line: Uint8Array): void {
    this.streets[street]!.weight += 1;
    this.sides.add(street, facts, vertices, line);
  }

  /** Adds what the state's boundary file states for streets to their ZIPs. */
  stateZips(into: StatedZips): void {
    for (let row = 0; row < this.sides.length; row += 1) {
      if (!this.sides.isStated(row)) continue;
      const { state, zip } = this.streets[this.sides.street.at(row)]!;
      const { begin, end, area } = this.sides.facts(row);
      if (zip > 0) into.street(state, zip, { begin: begin as DateInt, end: end as DateInt, area });
    }
  }

  /** The ZIPs that doors of each municipality have. */
  pairs(): PairTable {
    const table = new PairTable();
    const pairOf = this.streets.map(({ state, municipality, zip, weight }) => {
      const pair = table.of(state, municipality, zip);
      if (pair !== null) pair.doors += weight;
      return pair;
    });
    for (let row = 0; row < this.doorStreet.length; row += 1) {
      const pair = pairOf[this.doorStreet.at(row)];
      if (pair) extendPair(pair, this.lat.at(row), this.lng.at(row));
    }
    return table;
  }

  #internText(text: string): number {
    const known = this.#textIds.get(text);
    if (known !== undefined) return known;
    const id = this.texts.length;
    this.texts.push(text);
    this.#textIds.set(text, id);
    return id;
  }

  #intern(
    state: string,
    zip: string,
    city: string,
    municipality: string,
    text: string,
    counted: boolean,
    kept: boolean,
  ): number {
    const key = `${state}|${zip}|${city}|${municipality}|${text}`;
    const known = this.#streetIds.get(key);
    if (known !== undefined) return known;
    const spelling = isLed(zip, city, municipality) ? this.#spellings.street(text) : null;
    let id = -1;
    if (spelling !== null) {
      id = kept ? this.streets.length : ELSEWHERE;
      if (kept) {
        this.streets.push({
          state,
          zip: Number(zip),
          city: this.#spellings.locality(city),
          municipality: this.#spellings.locality(municipality),
          spelling,
          weight: 0,
        });
      }
      if (counted) {
        this.#label(state, city);
        this.#label(state, municipality);
      }
    }
    this.#streetIds.set(key, id);
    return id;
  }

  #label(state: string, name: string): void {
    if (name === '') return;
    const key = `${state}|${this.#spellings.locality(name)}`;
    let labels = this.labels.get(key);
    if (labels === undefined) {
      labels = new Map();
      this.labels.set(key, labels);
    }
    const label = titleCase(name);
    labels.set(label, (labels.get(label) ?? 0) + 1);
  }
}

/**
 * Whether a ZIP, a postal city or a municipality leads to the street, without which it cannot be
 * found.
 */
export function isLed(zip: string, city: string, municipality: string): boolean {
  return zip !== '' || city !== '' || municipality !== '';
}
