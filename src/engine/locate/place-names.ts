/**
 * Names of places that a dataset knows, to read addresses by, and the towns whose streets come
 * without their ZIPs, by the ZIPs that reach into them.
 */
import type { Gazetteer } from '../../address/parsed.js';
import { foldName } from '../../address/place-name.js';
import { RecentCache, NumberCache, WordTable } from '../../base/tables.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { CityRecord, ZipRecord } from '../../dataset/records.js';
import type { StreetCursor } from '../../dataset/street-cursor.js';
import { lies, type Locality } from '../../dataset/street-index.js';
import { withoutSlivers } from './doubt.js';

/** Answers kept, in each of two generations. */
const ANSWERS_MAX = 10_000;

/** Words of city names that are written in two ways. */
const OTHER_SPELLINGS: Readonly<Record<string, string>> = {
  ST: 'SAINT',
  SAINT: 'ST',
  MT: 'MOUNT',
  MOUNT: 'MT',
  FT: 'FORT',
  FORT: 'FT',
  STE: 'SAINTE',
  N: 'NORTH',
  S: 'SOUTH',
  E: 'EAST',
  W: 'WEST',
  HTS: 'HEIGHTS',
  SPGS: 'SPRINGS',
  JCT: 'JUNCTION',
};
const SPELT_TWICE = /\b(?:ST|SAINT|MT|MOUNT|FT|FORT|STE|N|S|E|W|HTS|SPGS|JCT)\b/;

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
    if (found !== null || !SPELT_TWICE.test(name)) return found;
    const other = name
      .split(' ')
      .map((word) => OTHER_SPELLINGS[word] ?? word)
      .join(' ');
    return this.#dataset.city(state, other);
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

/** ZIPs whose towns are remembered, in each of two generations. */
const ZIPS_MAX = 10_000;

/** The towns without ZIPs that a ZIP reaches of a state. */
export interface Reached {
  readonly towns: readonly Locality[];
  /** Some of them, which share their name with another: only streets in these areas are meant. */
  readonly namesakes: readonly Locality[];
  readonly areas: ReadonlySet<number>;
}

/** In place of a ZIP that is not known, or of one without such towns. */
export const NOWHERE: Reached = { towns: [], namesakes: [], areas: new Set() };

/** Finds them in one dataset; keeps what was asked for. */
export class ZipTowns {
  readonly #dataset: Dataset;
  readonly #known = new NumberCache<Reached>(ZIPS_MAX);

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
  }

  /** What a ZIP reaches of a state: by its postal names and by the places that it has parts of. */
  of(state: string, zip: ZipRecord): Reached {
    if (zip.state !== state) return this.#find(state, zip);
    let reached = this.#known.get(zip.zip);
    if (reached === undefined) this.#known.set(zip.zip, (reached = this.#find(state, zip)));
    return reached;
  }

  #find(state: string, { cities, parts }: ZipRecord): Reached {
    const { streets } = this.#dataset;
    if (!streets.hasState(state)) return NOWHERE;
    const areas = withoutSlivers(parts)
      .map(({ area }) => this.#dataset.area(area))
      .filter((area) => area.state === state && area.placeName !== '');
    const names = [...cities, ...areas.map(({ placeName }) => placeName.toUpperCase())];
    const found = [...new Set(names)].map((name) => streets.localities(state, name));
    const towns = withoutZips(found.flat());
    if (towns.length === 0) return NOWHERE;
    const namesakes = withoutZips(found.filter(({ length }) => length > 1).flat());
    return { towns, namesakes, areas: new Set(areas.map(({ id }) => id)) };
  }
}

function withoutZips(localities: readonly Locality[]): readonly Locality[] {
  return [...new Set(localities.filter((locality) => locality.withoutZips))];
}

/** Whether the street under the cursor is one of a town's that the ZIP may have. */
export function mayReach(cursor: StreetCursor, { towns, namesakes, areas }: Reached): boolean {
  if (!lies(cursor, towns)) return false;
  if (!lies(cursor, namesakes)) return true;
  for (let index = 0; index < cursor.areaCount; index += 1) {
    if (areas.has(cursor.areaOf(index))) return true;
  }
  return false;
}

/** As `liesIn`, of a door or street that was found, by the numbers of its localities. */
export function isIn(localities: readonly Locality[], city: number, municipality: number): boolean {
  return (
    localities.length === 0 ||
    (city === 0 && municipality === 0) ||
    localities.some(({ id }) => id === city || id === municipality)
  );
}
