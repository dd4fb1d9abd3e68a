/** How many people each ZIP stands for, to weigh what is said of ZIPs: an estimate. */
import type { Dataset } from '../dataset/dataset.js';
import type { ZipRecord } from '../dataset/records.js';

/** The document of the population of states and their counties. */
export const POPULATION = 'population';
/** Nearly all codes of a state's counties are odd: one that is the last plus two is not written. */
const CODE_STEP = 2;
const CODE_DIGITS = 3;

interface Row {
  readonly state: string;
  readonly population: string;
  /** People by county, "55869 223234 011:10101": behind the code where it is not the next one. */
  readonly counties?: string;
}

/** A state's ZIPs: their standing, that in counties whose people are held, and these people. */
interface Sum {
  held: number;
  people: number;
  standing: number;
}

function rowsOf(dataset: Dataset): readonly Row[] {
  return (dataset.document(POPULATION) as readonly Row[] | null) ?? [];
}

/** The population of states; without those that it is not held of. */
export function populations(dataset: Dataset): ReadonlyMap<string, number> {
  return new Map(rowsOf(dataset).map(({ state, population }) => [state, Number(population)]));
}

/** People by the state and the three-digit code of a county. */
function countyPeople(dataset: Dataset): ReadonlyMap<string, number> {
  const people = new Map<string, number>();
  for (const { state, counties = '' } of rowsOf(dataset)) {
    let last = 1 - CODE_STEP;
    for (const item of counties.split(' ').filter(Boolean)) {
      const [figure = '', code = String(last + CODE_STEP)] = item.split(':').reverse();
      last = Number(code);
      people.set(state + String(last).padStart(CODE_DIGITS, '0'), Number(figure));
    }
  }
  return people;
}

/** What nothing tells apart has the same text. */
function placeOf({ state, cities, parts }: ZipRecord): string {
  return [
    state,
    cities[0] ?? '',
    ...parts.map(({ area, weight, land, lat, lng }) => [area, weight, land, lat, lng].join(' ')),
  ].join('|');
}

/**
 * How much each ZIP counts within its county. Postal lists put boxes and buildings at the middle of
 * their city, several at one spot, so that all is alike of them: they count nothing where a ZIP of
 * their name is told apart, else as one ZIP together.
 */
function standings(records: readonly ZipRecord[]): readonly number[] {
  const places = records.map(placeOf);
  const at = new Map<string, number>();
  for (const place of places) at.set(place, (at.get(place) ?? 0) + 1);
  const alike = places.map((place) => at.get(place)!);
  const nameOf = ({ state, cities }: ZipRecord): string => `${state} ${cities[0] ?? ''}`;
  const alone = new Set(records.filter((_, index) => alike[index] === 1).map(nameOf));
  return records.map((record, index) =>
    alike[index] === 1 ? 1 : alone.has(nameOf(record)) ? 0 : 1 / alike[index]!,
  );
}

/** The counties of a ZIP with its standing shared out by their shares of it. */
function countiesOf(
  dataset: Dataset,
  { parts }: ZipRecord,
  standing: number,
): ReadonlyMap<string, number> {
  const shares = parts.map(({ weight, land }) => weight ?? land ?? 0);
  const all = shares.reduce((sum, share) => sum + share, 0);
  const counties = new Map<string, number>();
  parts.forEach(({ area }, index) => {
    const { state, countyFips } = dataset.area(area);
    const share = all === 0 ? 1 / parts.length : (shares[index] ?? 0) / all;
    const county = state + countyFips;
    counties.set(county, (counties.get(county) ?? 0) + standing * share);
  });
  return counties;
}

/**
 * People by ZIP. A county's people are shared out among its ZIPs alike, for nobody counts them by
 * ZIP in what is held; where a county's people are not held its ZIPs count like an average one of
 * the state. A state's ZIPs have all its people together; they count 1 each on average where no
 * population is held.
 */
export function peopleByZip(
  dataset: Dataset,
  records: readonly ZipRecord[],
): ReadonlyMap<number, number> {
  const standing = standings(records);
  const shares = new Map(
    records.map((record, index) => [record.zip, countiesOf(dataset, record, standing[index]!)]),
  );
  const inCounty = new Map<string, number>();
  for (const counties of shares.values()) {
    for (const [county, share] of counties) {
      inCounty.set(county, (inCounty.get(county) ?? 0) + share);
    }
  }
  const people = countyPeople(dataset);
  const inState = new Map<string, Sum>();
  for (const { zip, state } of records) {
    const sum = inState.get(state) ?? { held: 0, people: 0, standing: 0 };
    for (const [county, share] of shares.get(zip) ?? []) {
      const all = people.get(county);
      sum.standing += share;
      if (all === undefined) continue;
      sum.held += share;
      sum.people += all * (share / (inCounty.get(county) ?? 1));
    }
    inState.set(state, sum);
  }
  const totals = populations(dataset);
  return new Map(
    records.map(({ zip, state }) => {
      const { held, people: known, standing: zips } = inState.get(state)!;
      const mean = held === 0 ? 1 : known / held;
      let own = 0;
      for (const [county, share] of shares.get(zip) ?? []) {
        const all = people.get(county);
        own += all === undefined ? mean * share : all * (share / (inCounty.get(county) ?? 1));
      }
      const whole = known + mean * (zips - held);
      return [zip, (own / whole) * (totals.get(state) ?? zips)];
    }),
  );
}
