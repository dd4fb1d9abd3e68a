/**
 * How much of a country a release answers, and how certainly. Every ZIP is looked up with an
 * address that no list of doors contains, so that its ZIP and postal city decide, and by spots in
 * its areas.
 */
import { zipText } from '../dataset/city-names.js';
import type { Dataset } from '../dataset/dataset.js';
import type { ZipRecord } from '../dataset/records.js';
import { isFailure } from '../failure.js';
import type { Engine } from './engine.js';
import { NO_OPTIONS, type PointQuery } from './lookup-query.js';
import { peopleByZip, populations } from './zip-people.js';

/** A number and a street that exist nowhere, used with each ZIP. */
const DOOR = '1 Qzxv Wjkq Rd';
const ZIP_MIN = 501;
const ZIP_MAX = 99_950;
const PPM = 1_000_000;

/** How addresses and spots of a state are answered. Shares are parts per million of its people. */
export interface StateCoverage {
  readonly state: string;
  /** People of the state; 0 where that is not known. */
  readonly population: number;
  readonly zips: number;
  /** Share that is answered by the ZIP, with certainty. */
  readonly certain: number;
  /** Share that is answered by an assumption, which the answer says. */
  readonly assumed: number;
  /** Share that is refused because more of the address is needed (109). */
  readonly refused: number;
  /** Share whose rate is missing (110). */
  readonly unknown: number;
  /** Share of spots that are answered, by the ZIP's land or doors that each stands for. */
  readonly points: number;
  /** Of the ZIPs that are answered, the share whose lists are out of date. */
  readonly stale: number;
}

interface Sum {
  zips: number;
  people: number;
  certain: number;
  assumed: number;
  refused: number;
  unknown: number;
  points: number;
  stale: number;
}

/** Looks up one ZIP, and adds the outcome for its people. */
function askZip(
  engine: Engine,
  dataset: Dataset,
  record: ZipRecord,
  people: number,
  sum: Sum,
  nowMs: number,
): void {
  const address = `${DOOR}, ${record.cities[0] ?? ''}, ${record.state} ${zipText(record.zip)}`;
  const found = engine.lookup({ kind: 'address', address, options: NO_OPTIONS }, nowMs);
  sum.zips += 1;
  sum.people += people;
  if (isFailure(found)) sum[found.failure === 'no-result' ? 'unknown' : 'refused'] += people;
  else if (found.kind === 'situs') {
    sum[found.situs.precision === 'city' ? 'assumed' : 'certain'] += people;
    if (found.area.staleAfter < found.date) sum.stale += people;
  }
  let all = 0;
  let answered = 0;
  for (const { area, weight, land, lat, lng } of record.parts) {
    const share = weight ?? land ?? 0;
    if (share === 0 || (lat === 0 && lng === 0)) continue;
    all += share;
    const { country } = dataset.area(area);
    const spot: PointQuery = {
      kind: 'point',
      lat,
      lng,
      latDegrees: lat / 1e6,
      lngDegrees: lng / 1e6,
      options: { ...NO_OPTIONS, country },
    };
    if (!isFailure(engine.lookup(spot, nowMs))) answered += share;
  }
  sum.points += all === 0 ? 0 : people * (answered / all);
}

/** Counts a ZIP that the release does not have. */
function unknownZip(sum: Sum, people: number): void {
  sum.zips += 1;
  sum.people += people;
  sum.unknown += people;
}

/** The ZIPs of a release that have tax areas. */
export function zipRecords(dataset: Dataset): readonly ZipRecord[] {
  const records: ZipRecord[] = [];
  for (let zip = ZIP_MIN; zip <= ZIP_MAX; zip += 1) {
    const record = dataset.zip(zip);
    if (record !== null && record.parts.length > 0) records.push(record);
  }
  return records;
}

/** Stands for the state of weighted ZIPs that have no tax area, since nothing is known of them. */
const NO_STATE = '-';

/**
 * Looks up every ZIP of the states; `progress` is called with the number so far. With `weights`,
 * each ZIP counts as much as its weight, or 0 without one, and `population` is the sum of weights.
 */
export function zipCoverage(
  engine: Engine,
  dataset: Dataset,
  nowMs: number,
  progress: (done: number, total: number) => void = () => undefined,
  weights: ReadonlyMap<number, number> | null = null,
): readonly StateCoverage[] {
  const sums = new Map<string, Sum>();
  const sumOf = (state: string): Sum => {
    let sum = sums.get(state);
    if (sum === undefined) {
      sum = {
        zips: 0,
        people: 0,
        certain: 0,
        assumed: 0,
        refused: 0,
        unknown: 0,
        points: 0,
        stale: 0,
      };
      sums.set(state, sum);
    }
    return sum;
  };
  const people = weights ?? peopleByZip(dataset, zipRecords(dataset));
  let done = 0;
  for (const [zip, own] of people) {
    if (done % 400 === 0) progress(done, people.size);
    done += 1;
    const record = dataset.zip(zip);
    if (record !== null && record.parts.length > 0) {
      askZip(engine, dataset, record, own, sumOf(record.state), nowMs);
    } else unknownZip(sumOf(NO_STATE), own);
  }
  const population = weights === null ? populations(dataset) : null;
  return [...sums]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([state, sum]) => {
      const share = (part: number): number =>
        sum.people === 0 ? 0 : Math.round((part / sum.people) * PPM);
      return {
        state,
        zips: sum.zips,
        population: population === null ? sum.people : (population.get(state) ?? 0),
        certain: share(sum.certain),
        assumed: share(sum.assumed),
        refused: share(sum.refused),
        unknown: share(sum.unknown),
        points: share(sum.points),
        stale: share(sum.stale),
      };
    });
}

const SHARES = ['certain', 'assumed', 'refused', 'unknown', 'points', 'stale'] as const;

function percent(ppm: number): string {
  return `${(ppm / 10_000).toFixed(1)} %`;
}

/** A table in Markdown with a line for each state, and one for all weighted by population. */
export function zipCoverageTable(states: readonly StateCoverage[]): string {
  const people = states.reduce((sum, { population }) => sum + population, 0);
  const all = SHARES.map(
    (name) =>
      states.reduce((sum, state) => sum + state[name] * state.population, 0) / Math.max(1, people),
  );
  const zips = states.reduce((sum, state) => sum + state.zips, 0);
  return [
    '| State | Population | ZIPs | Certain | Assumed | Refused | Unknown | Points | Stale |',
    '|---|---|---|---|---|---|---|---|---|',
    ...states.map(
      (state) =>
        `| ${state.state} | ${state.population} | ${state.zips} | ${SHARES.map((name) =>
          percent(state[name]),
        ).join(' | ')} |`,
    ),
    `| **all, by population** | ${people} | ${zips} | ${all.map(percent).join(' | ')} |`,
  ].join('\n');
}
