/** Asks a release for every listed city, by address, by spots inside it and by ZIP. */
import { foldName, plainName } from '../../src/address/place-name.js';
import type { Dataset } from '../../src/dataset/dataset.js';
import type { AreaRecord, ZipRecord } from '../../src/dataset/records.js';
import { Engine } from '../../src/engine/engine.js';
import {
  type LookupOutcome,
  type LookupQuery,
  NO_OPTIONS,
  type KnownRates,
} from '../../src/engine/lookup-query.js';
import { normalizedAddress } from '../../src/engine/situs.js';
import { isFailure } from '../../src/failure.js';
import {
  isInside,
  type Listed,
  type ListedCity,
  rowIn,
  type Spot,
  spotsIn,
} from './listed-cities.js';

/** A number and a name that no street has, so that ZIP and city decide. */
const DOOR = '1 Qzxv Wjkq Rd';

const TOWN_DIGITS = 10;

/** How the walk went. */
interface Walk {
  /** Answers at the city's own rate. */
  right: number;
  /** Refused, or assumed and flagged. */
  careful: number;
  /** Answers elsewhere that the city cannot reach, or taxed alike. */
  elsewhere: number;
  /** What a user would take for the city's rate and is not. */
  readonly wrong: string[];
}

interface Asking {
  readonly engine: Engine;
  readonly nowMs: number;
  readonly city: ListedCity;
  /** Combined rates of the city that were found right. */
  readonly totals: Set<number>;
  readonly walk: Walk;
}

function ask({ engine, nowMs }: Asking, query: LookupQuery): LookupOutcome {
  return engine.lookup(query, nowMs);
}

/** Whether an area is the city's. A town that is a city too is known by the city's code there. */
function isOf({ place, names }: ListedCity, area: AreaRecord): boolean {
  if (place === '') return false;
  if (area.placeGeoid === place) return true;
  return (
    place.length === TOWN_DIGITS &&
    area.placeGeoid.length < TOWN_DIGITS &&
    place.startsWith(area.stateFips + area.countyFips) &&
    names.some((name) => foldName(name) === foldName(area.placeName))
  );
}

/** Compares what is answered for an area of the city with the list's row there. */
function compare(asking: Asking, how: string, area: AreaRecord, rates: KnownRates): void {
  const { city, walk, totals } = asking;
  const row = rowIn(city, area.stateFips + area.countyFips);
  // The list names the city in another of its counties alone.
  if (row === null) return;
  const own = rates.rows.find(({ component }) => component.level === 'city')?.sales ?? 0;
  const answered = row.basis === 'total' ? rates.sales : own;
  if (row.basis === 'unknown' || answered !== row.sales) {
    walk.wrong.push(
      `${how}: ${city.names[0]}, ${city.state} is answered with ${answered}, listed ` +
        `${row.basis === 'unknown' ? 'as unknown' : row.sales}`,
    );
    return;
  }
  totals.add(rates.sales);
  walk.right += 1;
}

function askSpot(asking: Asking, { lat, lng }: Spot): void {
  const { city, walk } = asking;
  const found = ask(asking, {
    kind: 'point',
    lat,
    lng,
    latDegrees: lat / 1e6,
    lngDegrees: lng / 1e6,
    options: NO_OPTIONS,
  });
  const how = `${lat / 1e6},${lng / 1e6}`;
  if (isFailure(found)) walk.careful += 1;
  else if (found.kind === 'situs' && isOf(city, found.area)) {
    compare(asking, how, found.area, found.rates);
  } else if (found.kind === 'situs') {
    walk.wrong.push(
      `${how}: ${city.names[0]}, ${city.state} holds it, answered is ` +
        `${normalizedAddress(found.situs)} with ${found.rates.sales}`,
    );
  }
}

/** A ZIP as it is asked for; `mayHold` where the city may well lie in it. */
interface AskedZip {
  readonly zip: string;
  readonly mayHold: boolean;
}

function askAddress(asking: Asking, name: string, { zip, mayHold }: AskedZip): void {
  const { city, walk, totals } = asking;
  const address = `${DOOR}, ${name}, ${city.state} ${zip}`;
  const found = ask(asking, { kind: 'address', address, options: NO_OPTIONS });
  if (isFailure(found)) walk.careful += 1;
  else if (found.kind !== 'situs') return;
  else if (isOf(city, found.area)) compare(asking, address, found.area, found.rates);
  else if (found.situs.precision === 'city') walk.careful += 1;
  else if (!mayHold || totals.has(found.rates.sales)) walk.elsewhere += 1;
  else
    walk.wrong.push(
      `${address}: ${found.area.placeName}, ${found.area.countyName} with ${found.rates.sales}`,
    );
}

function askZip(asking: Asking, { zip, mayHold }: AskedZip): void {
  const { city, walk, totals } = asking;
  const found = ask(asking, {
    kind: 'postal',
    zip,
    state: '',
    stateCode: '',
    city: '',
    county: '',
    options: NO_OPTIONS,
  });
  if (isFailure(found)) {
    walk.careful += 1;
    return;
  }
  if (found.kind !== 'postal') return;
  const own = found.rows.filter(({ area }) => isOf(city, area));
  for (const { area, rates } of own) compare(asking, zip, area, rates);
  if (own.length > 0) return;
  if (!mayHold || found.rows.some(({ rates }) => totals.has(rates.sales))) walk.elsewhere += 1;
  else {
    walk.wrong.push(
      `${zip}: no row of ${city.names[0]}, ${city.state} among ` +
        found.rows.map((row) => `${row.city} ${row.rates.sales}`).join(', '),
    );
  }
}

/** Points of ZIPs by what they are looked for. */
class ZipPoints {
  readonly #byZip = new Map<number, Spot[]>();
  readonly #byName = new Map<string, number[]>();
  readonly #byCounty = new Map<string, number[]>();
  readonly #byCell = new Map<string, (Spot & { readonly zip: number })[]>();

  constructor({ points }: Listed) {
    const add = <K, V>(map: Map<K, V[]>, key: K, value: V): void => {
      const list = map.get(key);
      if (list === undefined) map.set(key, [value]);
      else list.push(value);
    };
    for (const { zip, state, name, county, lat, lng } of points) {
      add(this.#byZip, zip, { lat, lng });
      add(this.#byName, `${state}|${foldName(name)}`, zip);
      add(this.#byCounty, county, zip);
      add(this.#byCell, `${Math.floor(lat / 500_000)} ${Math.floor(lng / 500_000)}`, {
        zip,
        lat,
        lng,
      });
    }
  }

  of(zip: number): readonly Spot[] {
    return this.#byZip.get(zip) ?? [];
  }

  named(state: string, name: string): readonly number[] {
    return this.#byName.get(`${state}|${foldName(name)}`) ?? [];
  }

  inCounty(county: string): readonly number[] {
    return this.#byCounty.get(county) ?? [];
  }

  /** The ZIP whose point is nearest, among those some 50 km around. */
  nearest({ lat, lng }: Spot): readonly number[] {
    const [row, column] = [Math.floor(lat / 500_000), Math.floor(lng / 500_000)];
    let [best, least] = [-1, Infinity];
    for (let y = row - 1; y <= row + 1; y += 1) {
      for (let x = column - 1; x <= column + 1; x += 1) {
        for (const point of this.#byCell.get(`${y} ${x}`) ?? []) {
          const far =
            (point.lat - lat) ** 2 +
            ((point.lng - lng) * Math.cos((lat / 1e6) * (Math.PI / 180))) ** 2;
          if (far < least) [best, least] = [point.zip, far];
        }
      }
    }
    return best < 0 ? [] : [best];
  }
}

/** ZIPs of its name, those nearest to its land, else all of its county. */
function zipsOf(dataset: Dataset, city: ListedCity, points: ZipPoints): ReadonlySet<number> {
  const named = city.names.flatMap((name) => [
    ...(dataset.city(city.state, plainName(name))?.zips ?? []),
    ...points.named(city.state, name),
  ]);
  if (city.polygon !== null) {
    return new Set([...named, ...spotsIn(city.polygon).flatMap((spot) => points.nearest(spot))]);
  }
  return new Set(named.length > 0 || city.county === '' ? named : points.inCounty(city.county));
}

/** Whether the city may well lie in the ZIP, by the post's name of it and the point of the ZIP. */
function mayHold(
  { polygon, names }: ListedCity,
  { cities, parts }: ZipRecord,
  points: readonly Spot[],
  listed: Listed,
): boolean {
  const isNamed = cities.some((name) => names.some((own) => foldName(own) === foldName(name)));
  if (polygon === null) return isNamed || !points.every((point) => listed.isInCity(point));
  // Where a ZIP has no land its point is the post office's, or that of the city it is named for.
  return (
    points.some((point) => isInside(polygon, point)) &&
    (isNamed || parts.some(({ land }) => land !== null))
  );
}

/** Walks every city of the lists. */
export function walkCities(dataset: Dataset, listed: Listed, nowMs: number): Walk {
  const engine = new Engine(dataset);
  const walk: Walk = { right: 0, careful: 0, elsewhere: 0, wrong: [] };
  const points = new ZipPoints(listed);
  for (const city of listed.cities) {
    const asking: Asking = { engine, nowMs, city, totals: new Set(), walk };
    for (const spot of city.polygon === null ? [] : spotsIn(city.polygon)) askSpot(asking, spot);
    for (const zip of zipsOf(dataset, city, points)) {
      const record = dataset.zip(zip);
      if (record === null) continue;
      const asked: AskedZip = {
        zip: String(zip).padStart(5, '0'),
        mayHold: mayHold(city, record, points.of(zip), listed),
      };
      for (const name of city.names) askAddress(asking, name, asked);
      askZip(asking, asked);
    }
  }
  return walk;
}
