/** Asks a release about places and about addresses without known doors. */
import { foldName } from '../src/address/place-name.js';
import { Engine } from '../src/engine/engine.js';
import type { Dataset } from '../src/dataset/dataset.js';
import { NO_OPTIONS } from '../src/engine/lookup-query.js';
import { isFailure } from '../src/failure.js';
import type { ZipPoint } from '../src/ingest/zip/zip-facts.js';
import type { Spot } from '../src/ingest/zip/placed.js';

/** The digits of a city's code; towns have ten. */
const PLACE_DIGITS = 7;

/** What a release says about a spot: its rate and its place. */
export interface Place {
  /** Empty where the rate is not known. */
  readonly rate: string;
  readonly isCity: boolean;
  readonly name: string;
  /** The name if ZIPs with their point here belong to this city; empty for New England towns. */
  readonly held: string;
  readonly county: string;
}

/** Asks a release about places and addresses. */
export class Asker {
  readonly #dataset: Dataset;
  readonly #engine: Engine;
  readonly #nowMs = Date.now();
  readonly #places = new Map<number, Place>();
  readonly #counties = new Map<number, ReadonlySet<string>>();

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
    this.#engine = new Engine(dataset);
  }

  /** The engine's answer for a spot, which is kept for the whole tax area. */
  placeAt(spot: Spot): Place | null {
    const id = this.#dataset.cells.locate(spot.lat, spot.lng);
    if (id === null || id < 0) return null;
    let place = this.#places.get(id);
    if (place === undefined) {
      const area = this.#dataset.area(id);
      const found = this.#engine.lookup(
        {
          kind: 'point',
          ...spot,
          latDegrees: spot.lat / 1e6,
          lngDegrees: spot.lng / 1e6,
          options: { ...NO_OPTIONS, country: area.country },
        },
        this.#nowMs,
      );
      place = {
        rate:
          isFailure(found) || found.kind !== 'situs'
            ? ''
            : `${found.rates.sales}|${found.rates.use}`,
        isCity: area.incorporated,
        name: foldName(area.placeName),
        held:
          area.incorporated && area.placeGeoid.length === PLACE_DIGITS
            ? foldName(area.placeName)
            : '',
        county: area.stateFips + area.countyFips,
      };
      this.#places.set(id, place);
    }
    return place;
  }

  countiesOf(zip: number): ReadonlySet<string> {
    let counties = this.#counties.get(zip);
    if (counties === undefined) {
      counties = new Set(
        (this.#dataset.zip(zip)?.parts ?? []).map(({ area }) => {
          const { stateFips, countyFips } = this.#dataset.area(area);
          return stateFips + countyFips;
        }),
      );
      this.#counties.set(zip, counties);
    }
    return counties;
  }

  /** The rate of an address that no list of doors has; null where it is refused. */
  answer({ zip, name, state }: ZipPoint): { rate: string; kind: 'certain' | 'assumed' } | null {
    const found = this.#engine.lookup(
      {
        kind: 'address',
        options: NO_OPTIONS,
        address: `1 Qzxv Wjkq Rd, ${name}, ${state} ${String(zip).padStart(5, '0')}`,
      },
      this.#nowMs,
    );
    return isFailure(found) || found.kind !== 'situs'
      ? null
      : {
          rate: `${found.rates.sales}|${found.rates.use}`,
          kind: found.situs.precision === 'city' ? 'assumed' : 'certain',
        };
  }
}
