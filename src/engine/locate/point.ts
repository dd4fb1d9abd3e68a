/** Coordinates → tax area: the area they lie in, and what makes that doubtful in Canada. */
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

// Provinces are drawn by a map whose lines are off by up to some kilometre: harbours and old towns
// at the water lie in no province, and towns at a line may lie in the next one. Counties are drawn
// finely and hold their waters; none of this concerns them.

/** How far off a shore or a line may be drawn: 1.2 km were seen at Quebec City, 1.7 at Hull. */
const PROVINCE_LINE_METRES = 2_000;
/** Within this nothing but the one province may lie. */
const ALONE_METRES = 4_000;
/** So near to a county a spot may be one of its own. */
const COUNTY_METRES = 50;
const STEP_METRES = 250;
const AROUND = directions(24);

/** What of an index is looked at. */
interface AreaView {
  readonly cells: CellIndex;
  readonly areaOf: (id: number) => AreaRecord;
}

/** The areas on a circle around a spot, as often as they are met. */
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

/** In microdegrees of latitude, with what rounding adds. */
const PROVINCE_REACH = PROVINCE_LINE_METRES / METRES_PER_MICRO + 1;
/** Says yes to every cell that is not empty. */
const ANY_AREA: CellJudge = { whole: (area) => area >= 0, border: () => true };

/**
 * The province whose shore is near a spot that lies in no area, and another that is anywhere near
 * it; one that is alone has the spot. None out at sea and abroad, and where a county is near.
 */
function shoreAreas(
  view: AreaView,
  lat: Microdegrees,
  lng: Microdegrees,
): readonly [] | readonly [alone: number] | readonly [nearest: number, other: number] {
  // Far out at sea and abroad nothing needs to be walked around.
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

/** The other provinces that a spot of one may lie in instead. */
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
