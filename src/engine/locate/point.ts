/** Coordinates → tax area: the area they lie in, and what makes that doubtful in Canada. */
import { NumberCache } from '../../base/tables.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { AreaRecord } from '../../dataset/records.js';
import { fail, isFailure, type Failure } from '../../failure.js';
import type { Microdegrees } from '../../geo/microdegrees.js';
import type { PointQuery } from '../lookup-query.js';
import type { RatesByArea } from '../rate/on-day.js';
import type { Situs } from '../situs.js';
import {
  ALONE_METRES,
  type AreaView,
  PROVINCE_LINE_METRES,
  provincesNear,
  shoreAreas,
} from './border.js';
import type { DateOf } from './doubt.js';
import { countryName } from './address-writer.js';

/** Places kept, twice at most. */
const PLACES_MAX = 16_384;

/** Why the rate of coordinates in a province is not held; null where it is. */
type Unheld = (area: number, lat: Microdegrees, lng: Microdegrees) => string | null;

/** Locates coordinates in one dataset. */
export class PointLocator {
  readonly #dataset: Dataset;
  readonly #rates: RatesByArea;
  readonly #unheldNear: Unheld;
  readonly #view: AreaView;
  /** Names of places by area. */
  readonly #places = new NumberCache<string>(PLACES_MAX);

  constructor(dataset: Dataset, rates: RatesByArea, unheldNear: Unheld) {
    this.#dataset = dataset;
    this.#rates = rates;
    this.#unheldNear = unheldNear;
    this.#view = { cells: dataset.cells, areaOf: (id) => dataset.area(id) };
  }

  /** Locates coordinates; `dateAt` gives the day on which rates at a line are compared. */
  locate(query: PointQuery, dateAt: DateOf): Situs | Failure {
    const held = this.#dataset.cells.locate(query.lat, query.lng);
    const id = held >= 0 ? held : this.#atShore(query);
    if (typeof id !== 'number') return id;
    const area = this.#dataset.area(id);
    // Those of a territory or of Canada need their own countryCode (specification, lookups 5).
    if (area.country !== query.options.country) return elsewhere(query.options.country);
    const doubt = area.country === 'CAN' ? this.#atLine(area, query, dateAt) : null;
    if (doubt !== null) return doubt;
    return {
      area: id,
      precision: 'polygon',
      lat: query.lat,
      lng: query.lng,
      place: this.#placeOf(area),
      houseNumber: '',
      street: '',
      city: area.placeName,
      postalCode: '',
      apart: false,
    };
  }

  /** The province whose shore is near coordinates that lie in no area. */
  #atShore({ lat, lng, options: { country } }: PointQuery): number | Failure {
    const [id, other] = shoreAreas(this.#view, lat, lng);
    if (id === undefined) {
      return fail('no-result', 'The coordinates lie in no known tax jurisdiction.');
    }
    if (other === undefined) return id;
    const area = this.#dataset.area(id);
    return area.country === country
      ? nearLine(ALONE_METRES, area, this.#dataset.area(other))
      : elsewhere(country);
  }

  /** The place of coordinates in an area, on one line. */
  #placeOf(area: AreaRecord): string {
    const known = this.#places.get(area.id);
    if (known !== undefined) return known;
    // In one piece, as it is kept: it is looked through and printed many times.
    const place = [pointPlace(area), countryName(area.country)].join('');
    this.#places.set(area.id, place);
    return place;
  }

  /**
   * Refuses a spot so near to another province with other taxes that it may lie there, and one at a
   * city whose rate is not held.
   */
  #atLine(area: AreaRecord, { lat, lng }: PointQuery, dateAt: DateOf): Failure | null {
    const total = ({ id, state }: AreaRecord): number | null => {
      const rates = this.#rates.at(id, dateAt(state));
      return isFailure(rates) ? null : rates.sales;
    };
    const own = total(area);
    for (const id of provincesNear(this.#view, area.id, lat, lng)) {
      const other = this.#dataset.area(id);
      if (own !== null && own === total(other)) continue;
      return nearLine(PROVINCE_LINE_METRES, area, other);
    }
    const unheld = this.#unheldNear(area.id, lat, lng);
    return unheld === null ? null : fail('no-result', `${unheld}.`);
  }
}

/** "Irvine, CA, " or, outside every place, "Orange County, CA, ". */
function pointPlace({ placeName, countyFullName, state, stateName }: AreaRecord): string {
  if (placeName !== '') return `${placeName}, ${state}, `;
  return countyFullName === '' ? `${stateName}, ` : `${countyFullName}, ${state}, `;
}

/** Refuses a spot so near to the line between two provinces. */
function nearLine(metres: number, one: AreaRecord, other: AreaRecord): Failure {
  return fail(
    'no-result',
    `The coordinates lie within ${metres / 1_000} km of the line between ${one.stateName} and ` +
      `${other.stateName}, which is not known more closely: ` +
      'give an address with its postal code or province.',
  );
}

/** Refuses what lies in another country than was asked for. */
export function elsewhere(asked: string): Failure {
  return fail('no-result', `The location is not in ${asked}; check countryCode.`);
}
