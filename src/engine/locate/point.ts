/** Finds the tax area of coordinates, and what makes it doubtful in Canada. */
import { NumberCache } from '../../base/tables.js';
import type { CellIndex, CellJudge } from '../../dataset/cell-index.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { AreaRecord } from '../../dataset/records.js';
import { fail, isFailure, type Failure } from '../../failure.js';
import { directions, METRES_PER_MICRO, type Microdegrees } from '../../geo/microdegrees.js';
import type { PointQuery } from '../lookup-query.js';
import type { RatesByArea } from '../rate/on-day.js';
import type { Situs } from '../situs.js';
import type { DateOf } from './doubt.js';
import { countryName } from '../../dataset/city-names.js';

/** Places in each of two generations of the cache. */
const PLACES_MAX = 16_384;

/** Why the rate at coordinates in a province is missing; null where it is known. */
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

  /**
   * Locates coordinates; `dateAt` gives the day on which rates on two sides of a line are compared.
   */
  locate(query: PointQuery, dateAt: DateOf): Situs | Failure {
    const held = this.#dataset.cells.locate(query.lat, query.lng);
    const id = held >= 0 ? held : this.#atShore(query);
    if (typeof id !== 'number') return id;
    const area = this.#dataset.area(id);
    // Coordinates in a territory or in Canada need that countryCode (specification, lookups 5).
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

  /** The province near coordinates that lie in no area, at its shore. */
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
    // Joining makes one flat text. A text of concatenated parts is slower to print each time.
    const place = [pointPlace(area), countryName(area.country)].join('');
    this.#places.set(area.id, place);
    return place;
  }

  /**
   * The refusal of coordinates so near another province with other taxes that they may lie there,
   * or at a city whose rate is missing.
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

/** The refusal of coordinates near the line between two provinces. */
function nearLine(metres: number, one: AreaRecord, other: AreaRecord): Failure {
  return fail(
    'no-result',
    `The coordinates lie within ${metres / 1_000} km of the line between ${one.stateName} and ` +
      `${other.stateName}, which is not known more closely: ` +
      'give an address with its postal code or province.',
  );
}

/** The refusal of a place in a country other than asked for. */
export function elsewhere(asked: string): Failure {
  return fail('no-result', `The location is not in ${asked}; check countryCode.`);
}

// Provinces come from a map whose lines are off by up to a kilometre or two. Harbours and old towns
// at the water may lie in no province, and towns at a line in the wrong one. Counties are drawn
// finely and include their waters, so none of this concerns them.

/** How far off a shore or a line may be: 1.2 km were seen at Quebec City, 1.7 at Hull. */
const PROVINCE_LINE_METRES = 2_000;
/** A province has coordinates if no other area is within this distance. */
const ALONE_METRES = 4_000;
/** Coordinates this near a county may lie in it. */
const COUNTY_METRES = 50;
const STEP_METRES = 250;
const AROUND = directions(24);

/** The parts of an index that are used here. */
interface AreaView {
  readonly cells: CellIndex;
  readonly areaOf: (id: number) => AreaRecord;
}

/** The areas on a circle around a spot, possibly repeated. */
function* around(
  { cells }: AreaView,
  lat: Microdegrees,
  lng: Microdegrees,
  metres: number,
): Generator<number> {
  for (const direction of AROUND) {
    const found = cells.locateAway(lat, lng, metres / METRES_PER_MICRO, direction);
    if (found >= 0) yield found;
  }
}

function isProvince({ areaOf }: AreaView, id: number): boolean {
  return areaOf(id).countyFips === '';
}

/** The distance in microdegrees of latitude, plus a rounding error. */
const PROVINCE_REACH = PROVINCE_LINE_METRES / METRES_PER_MICRO + 1;
/** Stops at the first cell that has an area. */
const ANY_AREA: CellJudge = { whole: (area) => area >= 0, border: () => true };

/**
 * The province whose shore is near a spot that lies in no area, and any other near it; a single
 * province has the spot. Empty out at sea, abroad and near a county.
 */
function shoreAreas(
  view: AreaView,
  lat: Microdegrees,
  lng: Microdegrees,
): readonly [] | readonly [alone: number] | readonly [nearest: number, other: number] {
  // Tested first, to avoid walking circles far out at sea and abroad.
  if (!view.cells.anyNear(lat, lng, PROVINCE_REACH, ANY_AREA)) return [];
  for (const found of around(view, lat, lng, COUNTY_METRES)) {
    if (!isProvince(view, found)) return [];
  }
  let shore = -1;
  for (let metres = STEP_METRES; metres <= ALONE_METRES; metres += STEP_METRES) {
    if (metres > PROVINCE_LINE_METRES && shore < 0) return [];
    for (const found of around(view, lat, lng, metres)) {
      if (found === shore || !isProvince(view, found)) continue;
      if (shore >= 0) return [shore, found];
      shore = found;
    }
  }
  return shore < 0 ? [] : [shore];
}

/** Other provinces that a spot in a province may really lie in. */
function provincesNear(
  view: AreaView,
  area: number,
  lat: Microdegrees,
  lng: Microdegrees,
): ReadonlySet<number> {
  const near = new Set<number>();
  if (!view.cells.isNear(lat, lng, PROVINCE_LINE_METRES / METRES_PER_MICRO)) return near;
  for (let metres = STEP_METRES; metres <= PROVINCE_LINE_METRES; metres += STEP_METRES) {
    for (const found of around(view, lat, lng, metres)) {
      if (found !== area && isProvince(view, found)) near.add(found);
    }
  }
  return near;
}
