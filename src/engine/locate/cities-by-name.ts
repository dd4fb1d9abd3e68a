/** The weakest rung of locating: by the city's name (`city`), which is assumed and says so. */
import type { ParsedAddress } from '../../address/parsed.js';
import { foldName, plainName } from '../../address/place-name.js';
import { titleCase } from '../../address/title-case.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { AreaRecord, CityRecord, ZipPart, ZipRecord } from '../../dataset/records.js';
import { fail, failAmbiguous, type Failure } from '../../failure.js';
import { type Candidate, type DateOf, type Doubts, withoutSlivers } from './doubt.js';
import { areasOf, certain, type Chosen, first, NOWHERE } from './likeliest.js';

/** Cities of one dataset by their names. */
export class CitiesByName {
  readonly #dataset: Dataset;
  readonly #doubts: Doubts;

  constructor(dataset: Dataset, doubts: Doubts) {
    this.#dataset = dataset;
    this.#doubts = doubts;
  }

  /** An address by its city and state alone. */
  locate({ city, state }: ParsedAddress, dateOf: DateOf): Chosen | Failure {
    if (city === '' || state === '') {
      return fail('address-incomplete', 'the address has neither a ZIP nor a city with its state');
    }
    const zips = (this.find(state, city)?.zips ?? [])
      .map((zip) => this.#dataset.zip(zip))
      .filter((record) => record !== null);
    const parts = zips.flatMap((record) => withoutSlivers(record.parts));
    const candidates = this.candidates(state, city, parts);
    if (candidates.length === 0) {
      return fail(
        'address-incomplete',
        `${city}, ${state} is no incorporated city we know: add the ZIP`,
      );
    }
    const around = [
      ...parts.map(({ doubt, area }) => doubt ?? area),
      ...zips.flatMap(({ reach }) => reach.map(({ area }) => area)),
    ]
      .map((id) => this.#dataset.area(id))
      .filter((area) => area.state === state);
    const possible = [...areasOf(candidates), ...around];
    if (this.#doubts.compare(possible, dateOf) === 'equal') return certain(candidates);
    const assumed = this.#assumed(candidates, possible, dateOf);
    if (assumed !== null) return assumed;
    const told = this.#doubts.compare(areasOf(candidates), dateOf);
    return typeof told === 'object' ? told : several(`${city}, ${state}`);
  }

  /** The first of the parts of a city, if they are taxed alike and any rate is known. */
  #assumed(
    named: readonly Candidate[],
    possible: readonly AreaRecord[],
    dateOf: DateOf,
  ): Chosen | null {
    if (this.#doubts.compare(areasOf(named), dateOf) !== 'equal') return null;
    const range = this.#doubts.range(possible, dateOf);
    return range === null ? null : { kind: 'chosen', candidate: first(named), assumed: range };
  }

  /** The areas of a city, each with a spot that one of the parts has in it. */
  candidates(state: string, city: string, parts: readonly ZipPart[]): Candidate[] {
    if (state === '' || city === '') return [];
    return (this.find(state, city)?.areas ?? []).map((id) => {
      const area = this.#dataset.area(id);
      const { lat, lng } = parts.find((part) => part.area === id) ?? NOWHERE;
      return { area, city: area.placeName.toUpperCase(), incorporated: true, lat, lng };
    });
  }

  /** A city by either spelling of its name; null where there is none. */
  find(state: string, city: string): CityRecord | null {
    return this.#dataset.city(state, plainName(city)) ?? this.#dataset.city(state, foldName(city));
  }

  /** The city that is named, where there is such a city; else the ZIP's own. */
  nameOf(state: string, named: string, zip: ZipRecord | null): string {
    const known = named === '' ? null : this.find(state, named);
    if (known !== null) return known.name;
    const [first = ''] = zip?.cities ?? [];
    return first === '' ? '' : (this.find(state, first)?.name ?? titleCase(first));
  }
}

/** A refusal: what is named leads to several tax areas. */
export function several(what: string): Failure {
  return failAmbiguous(
    `${what} overlaps several tax areas with different rates, and the address was not found`,
  );
}
