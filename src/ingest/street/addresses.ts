/**
 * The address stage: makes the street table and counts of doors from the doors, ranges and ZIP+4s
 * of all sources, in limited memory. Threads read the sources one after the other and write rows to
 * the shards they belong to; shards become sorted runs; the runs are merged while the release is
 * written. The result does not depend on which thread did what.
 */
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { ByteEntries } from '../../dataset/layout.js';
import type { DateInt } from '../../tax/date.js';
import type { CellTables } from '../boundary/cells.js';
import type { AreaTuple, PlaceFact, Progress } from '../model.js';
import type { PartCache } from '../part-cache.js';
import type { CountyFact } from '../rates/facts.js';
import type { StateFact } from '../state-facts.js';
import type { ZipCount } from '../zip/zip-facts.js';
import { addFile, addFindings, type StatedCounts } from './agreement.js';
import { PairTable } from './believed.js';
import { AddressParts, startThreads, type Threads, type World } from './build-tasks.js';
import { byKey, stateEntries } from './entries.js';
import {
  type AddressFiles,
  addSource,
  batchesOf,
  bytesOf,
  groupsOf,
  type PlacedFile,
  shardSources,
  type SourceBatch,
  sourcesOf,
  type SourceRecipe,
} from './address-work.js';
import { type Labels, LocalityNumbers, mergeLabels } from './localities.js';
import { type LostRows, lostSentence } from './lost.js';
import type { Counts, ParseResult } from './parse-sources.js';
import { mergeRuns, writeRun } from './run-file.js';
import { type ShardResult, type ShardSource, stateOf } from './shard.js';
import { areaNames } from './situate.js';
import type { PlaceStated } from './named-areas.js';
import { NO_ZIP } from './spill.js';
import { inTurn } from '../progress.js';

/** Total size of sources from which threads are worthwhile. */
const THREADS_FROM_BYTES = 1 << 20;
/** Bytes of rows that a thread keeps before it writes them, and of the shards of one run. */
const SPILL_BYTES = 1 << 25;

export interface AddressInput {
  readonly recipe: SourceRecipe;
  readonly files: AddressFiles;
  readonly states: readonly Pick<StateFact, 'code' | 'name'>[];
  readonly places: readonly PlaceFact[];
  /** Counties; without them, no door is tested for being astray. */
  readonly counties?: readonly CountyFact[];
  readonly cells: Pick<CellTables, 'tiles' | 'leaves'>;
  /** The tuples interned so far, by id. */
  readonly tuples: readonly AreaTuple[];
  /** Gives the areas of what boundary files name. */
  readonly place: PlaceStated;
  /** Districts of layers, and the areas that a ZIP settles; none if absent. */
  readonly own?: Pick<World, 'districts' | 'settled'>;
  /** The newest date of any source, which decides which boundary files have ended. */
  readonly today: DateInt;
  /**
   * Folder for files that are needed until the release is written; made when it is first needed.
   */
  readonly scratch: string;
  /** Where sources that were read, and runs, are kept at least until the release is written. */
  readonly parts: PartCache;
  /** Number of threads; if absent, one for each processor. */
  readonly workers?: number;
  /** Bytes of rows that each thread keeps before it writes them. */
  readonly spillBytes?: number;
  readonly progress: Progress;
  /** Called with a sentence on each file of which rows were left out. */
  readonly report: (line: string) => void;
}

export interface Addresses {
  /** Ascending by key; to be read once, while the scratch folder exists. */
  readonly entries: ByteEntries<string>;
  readonly counts: Counts;
  readonly zipCounts: readonly ZipCount[];
  /** Doors by state code. */
  readonly doors: ReadonlyMap<string, number>;
  /** What boundary files state, by state code. */
  readonly stated: ReadonlyMap<string, StatedCounts>;
  /** What was left out of each file, in the order of files. */
  readonly lost: readonly LostRows[];
}

/** Items with the largest first, so that no thread is left with a large one at the end. */
function bySize<T>(items: readonly T[], size: (item: T) => number): readonly T[] {
  return [...items].sort((one, other) => size(other) - size(one));
}

async function parseAll(
  { progress }: AddressInput,
  batches: readonly SourceBatch[],
  threads: number,
  parts: AddressParts,
): Promise<readonly ParseResult[]> {
  const numbered = batches.map((batch, index) => ({ batch, index }));
  let done = 0;
  const results = await inTurn(
    bySize(numbered, ({ batch }) => batch.bytes),
    threads,
    async ({ batch, index }) => {
      const result = await parts.parsed(batch);
      progress('addresses', (done += 1), batches.length);
      return { index, result };
    },
  );
  return results.sort((one, other) => one.index - other.index).map(({ result }) => result);
}

interface Known {
  readonly localities: LocalityNumbers;
  readonly pairs: PairTable;
  /** States with boundary files. */
  readonly stated: ReadonlySet<string>;
}

async function buildShards(
  { progress, today, spillBytes = SPILL_BYTES }: AddressInput,
  shards: Map<string, ShardSource[]>,
  threads: number,
  parts: AddressParts,
  { localities, pairs, stated }: Known,
): Promise<readonly ShardResult[]> {
  const disbelieved = pairs.disbelieved();
  const results: (readonly [shard: string, ShardResult])[] = [];
  const build = async (names: readonly string[], more: number): Promise<void> => {
    const groups = groupsOf(names, shards, spillBytes).map((group) => ({
      group,
      sources: sourcesOf(group, shards),
    }));
    const total = results.length + groups.length + more;
    await inTurn(
      bySize(groups, ({ sources }) => bytesOf(sources)),
      threads,
      async ({ group, sources }) => {
        const state = stateOf(group[0]!);
        results.push([
          group[0]!,
          await parts.run(
            {
              shards: group,
              sources,
              today,
              localities: localities.keys(state),
              disbelieved: disbelieved.keys(state),
            },
            stated.has(state),
          ),
        ]);
        progress('streets', results.length, total);
      },
    );
  };
  const without = (): string[] => [...shards.keys()].filter((shard) => shard.endsWith(NO_ZIP));
  await build(
    [...shards.keys()].filter((shard) => !shard.endsWith(NO_ZIP)),
    without().length,
  );
  for (const [, { strays }] of results) addSource(shards, strays);
  await build(without(), 0);
  parts.dropRows();
  return results.sort(([one], [other]) => (one < other ? -1 : 1)).map(([, result]) => result);
}

/** Writes the run with entries for whole states. */
function writeStates(
  path: string,
  results: readonly ShardResult[],
  localities: LocalityNumbers,
): void {
  const labels: Labels = new Map();
  const states = new Set<string>();
  for (const { state, labels: own, flags } of results) {
    states.add(state);
    mergeLabels(labels, own);
    flags.forEach((flag, id) => localities.mark(state, id, flag));
  }
  writeRun(path, stateEntries(states, (state) => localities.rows(state, labels)).sort(byKey));
}

function sumOf(parsed: readonly ParseResult[]): Counts {
  const sum: Counts = { points: 0, sides: 0, zip9: 0, zip5: 0, outside: 0, unread: 0 };
  for (const { counts } of parsed) {
    for (const name of Object.keys(sum) as (keyof Counts)[]) sum[name] += counts[name];
  }
  return sum;
}

function zipCounts(parsed: readonly ParseResult[], tuples: readonly AreaTuple[]): ZipCount[] {
  const counts = new Map<string, { zip: number; tuple: AreaTuple; count: number }>();
  for (const { zips } of parsed) {
    for (const [zip, area, count] of zips) {
      const key = `${String(zip).padStart(5, '0')}|${area}`;
      const known = counts.get(key);
      if (known !== undefined) known.count += count;
      else counts.set(key, { zip, tuple: tuples[area]!, count });
    }
  }
  return [...counts].sort((one, other) => (one[0] < other[0] ? -1 : 1)).map(([, count]) => count);
}

function doorsByState(parsed: readonly ParseResult[]): ReadonlyMap<string, number> {
  const doors = new Map<string, number>();
  for (const result of parsed) {
    for (const [state, own] of result.doors) doors.set(state, (doors.get(state) ?? 0) + own);
  }
  return doors;
}

function statedByState(
  files: readonly PlacedFile[],
  shards: readonly ShardResult[],
): ReadonlyMap<string, StatedCounts> {
  const states = new Map<string, StatedCounts>();
  for (const file of files) {
    const known = states.get(file.state);
    if (known === undefined) {
      const { sides, zip9, zip5, lastDay } = file;
      states.set(file.state, { doors: 0, doorsElsewhere: 0, zips: [], sides, zip9, zip5, lastDay });
    } else addFile(known, file);
  }
  for (const { state, stated } of shards) {
    const own = states.get(state);
    if (own !== undefined) addFindings(own, stated);
  }
  return states;
}

async function buildRuns(
  input: AddressInput,
  batches: readonly SourceBatch[],
  workers: Threads,
): Promise<Omit<Addresses, 'entries'> & { readonly runs: readonly string[] }> {
  const { parts: cache, spillBytes = SPILL_BYTES } = input;
  const { threads } = workers;
  const parts = new AddressParts(cache, workers, spillBytes);
  const parsed = await parseAll(input, batches, threads, parts);
  for (const line of parsed.flatMap(({ lines }) => lines)) input.report(line);
  const localities = new LocalityNumbers(parsed.flatMap((result) => result.localities));
  const pairs = new PairTable();
  for (const result of parsed) pairs.merge(result.pairs);
  const { shards, lost, files } = shardSources(parsed, input.place);
  for (const one of lost) input.report(lostSentence(one));
  const stated = new Set(files.map(({ state }) => state));
  const results = await buildShards(input, shards, threads, parts, { localities, pairs, stated });
  const states = join(input.scratch, 'run-states');
  writeStates(states, results, localities);
  return {
    runs: [...results.map(({ run }) => run), states],
    counts: sumOf(parsed),
    zipCounts: zipCounts(parsed, input.tuples),
    doors: doorsByState(parsed),
    stated: statedByState(files, results),
    lost: [...parsed.flatMap((result) => result.lost), ...lost],
  };
}

/** Reads every address source of the recipe. */
export async function buildAddresses(input: AddressInput): Promise<Addresses> {
  const batches = batchesOf(input.recipe, input.files);
  if (batches.length === 0) {
    // Without a copy of all cells, a hundred megabytes, which these threads do not need.
    const none = new Map<string, never>();
    return { entries: [], counts: sumOf([]), zipCounts: [], doors: none, stated: none, lost: [] };
  }
  mkdirSync(input.scratch, { recursive: true });
  const bytes = batches.reduce((sum, batch) => sum + batch.bytes, 0);
  const threads = startThreads({
    cells: input.cells,
    known: areaNames(input),
    states: input.states,
    ...(input.own ?? { districts: [], settled: [] }),
    workers: input.workers ?? (bytes < THREADS_FROM_BYTES ? 1 : availableParallelism()),
  });
  try {
    const { runs, ...rest } = await buildRuns(input, batches, threads);
    return { ...rest, entries: { [Symbol.iterator]: () => mergeRuns(runs) } };
  } finally {
    await threads.end();
  }
}
