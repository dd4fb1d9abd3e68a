/** Estimates how many people live in each ZIP, to weigh what is reported about ZIPs. */
import type { Dataset } from '../dataset/dataset.js';
import type { ZipRecord } from '../dataset/records.js';

/** The document of the population of states and their counties. */
export const POPULATION = 'population';
/**
 * Nearly all codes of a state's counties are odd. A code that is 2 above the previous one is left
 * out.
 */
const CODE_STEP = 2;
const CODE_DIGITS = 3;

interface Row {
  readonly state: string;
  readonly population: string;
  /**
   * People by county, as in "55869 223234 011:10101": a code is only given where it is not the next
   * one.
   */
  readonly counties?: string;
}

/**
 * Sums over a state's ZIPs: their standings, the standings of those in counties with known people,
 * and these people.
 */
interface Sum {
  held: number;
  people: number;
  standing: number;
}

function rowsOf(dataset: Dataset): readonly Row[] {
  return (dataset.document(POPULATION) as readonly Row[] | null) ?? [];
}

/** The population of states, without those for which it is not known. */
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

/** A text that is the same for ZIPs which cannot be distinguished. */
function placeOf({ state, cities, parts }: ZipRecord): string {
  return [
    state,
    cities[0] ?? '',
    ...parts.map(({ area, weight, land, lat, lng }) => [area, weight, land, lat, lng].join(' ')),
  ].join('|');
}

/**
 * How much each ZIP counts within its county. Postal lists place boxes and single buildings in the
 * middle of their city, several ZIPs at one spot, so that these look the same. They count nothing
 * if another ZIP of their name can be distinguished, and otherwise together as one ZIP.
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

/** The counties of a ZIP, with its standing divided by their shares. */
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
 * People by ZIP. The people of a county are divided evenly among its ZIPs, because they are not
 * counted by ZIP in the data. ZIPs of a county whose people are not known count as an average one
 * of the state. The ZIPs of a state together have all its people; where no population is known,
 * they count 1 each on average.
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
