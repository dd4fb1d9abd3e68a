/** Runs the tasks of reading sources and building shards, in this thread or in others. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { CellIndex } from '../../dataset/cell-index.js';
import type { ByteTable } from '../../dataset/layout.js';
import type { CellTables } from '../boundary/cells.js';
import { codeVersion } from '../inputs.js';
import type { OwnDistrict, SettledArea } from '../layer/districts.js';
import { type PartCache, partKey } from '../part-cache.js';
import type { SourceBatch } from './address-work.js';
import { type ParseResult, parseSources, type ParseTask } from './parse-sources.js';
import type { NearLine } from './apart.js';
import { buildShard, type ShardResult, type ShardSource, type ShardTask } from './shard.js';
import type { AreaNames } from './situate.js';
import { stateGazetteer } from './source-names.js';

const WORKER = new URL('../../../workers/ingest.js', import.meta.url);
/**
 * Limits of a thread's heap. A shard that is too large is reported this way instead of using up the
 * memory. Rows live briefly, and a large young generation lets the collector move few of them.
 */
const WORKER_HEAP = { maxOldGenerationSizeMb: 2_048, maxYoungGenerationSizeMb: 96 } as const;

/** A table of bytes in shared memory. */
interface SharedTable {
  readonly keys: Float64Array;
  /** Where the bytes of each key begin, and where the last ones end. */
  readonly starts: Float64Array;
  readonly bytes: Uint8Array;
}

/** What a thread needs to know before its first task. */
export interface World {
  readonly tiles: SharedTable;
  readonly leaves: SharedTable;
  readonly known: AreaNames;
  readonly states: readonly { readonly code: string; readonly name: string }[];
  readonly districts: readonly OwnDistrict[];
  readonly settled: readonly SettledArea[];
}

export interface Threads {
  readonly threads: number;
  /** Hash of all of this. */
  readonly world: string;
  parse(task: ParseTask): Promise<ParseResult>;
  build(task: ShardTask): Promise<ShardResult>;
  end(): Promise<void>;
}

function share(table: ReadonlyMap<number, Uint8Array>): SharedTable {
  const entries = [...table].sort(([one], [other]) => one - other);
  const total = entries.reduce((sum, [, bytes]) => sum + bytes.length, 0);
  const numbers = (count: number): Float64Array =>
    new Float64Array(new SharedArrayBuffer(count * 8));
  const shared = {
    keys: numbers(entries.length),
    starts: numbers(entries.length + 1),
    bytes: new Uint8Array(new SharedArrayBuffer(total)),
  };
  let at = 0;
  entries.forEach(([key, bytes], index) => {
    shared.keys[index] = key;
    shared.starts[index] = at;
    shared.bytes.set(bytes, at);
    at += bytes.length;
  });
  shared.starts[entries.length] = at;
  return shared;
}

function tableOf({ keys, starts, bytes }: SharedTable): ByteTable<number> {
  return {
    get(key) {
      let [low, high] = [0, keys.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (keys[middle]! < key) low = middle + 1;
        else high = middle;
      }
      return keys[low] === key ? bytes.subarray(starts[low]!, starts[low + 1]!) : null;
    },
  };
}

/** The tasks of one thread. */
export function tasksOf(world: World): Pick<Threads, 'parse' | 'build'> {
  const cells = new CellIndex(tableOf(world.tiles), tableOf(world.leaves));
  const gazetteer = stateGazetteer(world.states);
  const locate = (lat: number, lng: number): number => cells.locate(lat, lng);
  const nearLine: NearLine = (lat, lng, reach) => cells.isNear(lat, lng, reach);
  return {
    parse: (task) => parseSources(task, { ...world, locate, gazetteer }),
    build: (task) => Promise.resolve(buildShard(task, gazetteer, nearLine)),
  };
}

interface ThreadOptions extends Omit<World, 'tiles' | 'leaves'> {
  readonly cells: Pick<CellTables, 'tiles' | 'leaves'>;
  /** Number of threads; with 1, this thread does everything. */
  readonly workers: number;
}

function hashOf({ tiles, leaves, known, ...more }: World): string {
  const hash = createHash('sha256');
  for (const { keys, starts, bytes } of [tiles, leaves]) {
    hash.update(keys).update(starts).update(bytes);
  }
  return hash.update(JSON.stringify([{ ...known, names: [...known.names] }, more])).digest('hex');
}

/** Starts the threads; `end` must be called. */
export function startThreads({ cells, states, workers, ...rest }: ThreadOptions): Threads {
  const world: World = {
    ...rest,
    tiles: share(cells.tiles),
    leaves: share(cells.leaves),
    states: states.map(({ code, name }) => ({ code, name })),
  };
  const hash = hashOf(world);
  if (workers <= 1) {
    return { ...tasksOf(world), threads: 1, world: hash, end: () => Promise.resolve() };
  }
  const pool = new Piscina<ParseTask | ShardTask, ParseResult | ShardResult>({
    filename: fileURLToPath(WORKER),
    workerData: world,
    minThreads: workers,
    maxThreads: workers,
    idleTimeout: Infinity,
    resourceLimits: WORKER_HEAP,
    recordTiming: false,
  });
  return {
    threads: workers,
    world: hash,
    parse: (task) => pool.run(task, { name: 'parse' }) as Promise<ParseResult>,
    build: (task) => pool.run(task, { name: 'build' }) as Promise<ShardResult>,
    end: () => pool.destroy(),
  };
}

/*
 * Reads sources and builds runs, unless they are in the part cache. A source that was read depends
 * on its files, its entry in the recipe, what is known of tax areas and places, and the program. A
 * run depends on the rows of its shards, and on the localities of its state. Rows are removed when
 * their run exists, and read again if another run needs them.
 */

/** What a run is built of. */
type RunOf = Omit<ShardTask, 'run' | 'strays'>;

export class AddressParts {
  readonly #cache: PartCache;
  readonly #threads: Threads;
  readonly #spillBytes: number;
  readonly #batches = new Map<string, SourceBatch>();
  /** Sources that are being read again. */
  readonly #again = new Map<string, Promise<unknown>>();

  constructor(cache: PartCache, threads: Threads, spillBytes: number) {
    this.#cache = cache;
    this.#threads = threads;
    this.#spillBytes = spillBytes;
  }

  /** Reads the sources of a batch, or finds them in the cache. */
  async parsed(batch: SourceBatch): Promise<ParseResult> {
    const sources = batch.sources.map(({ kind, source }) => [kind, source]);
    const spill = `source-${partKey(
      codeVersion(),
      this.#threads.world,
      this.#spillBytes,
      sources,
      batch.sums,
    )}`;
    this.#batches.set(spill, batch);
    const known = this.#cache.value<ParseResult>(`${spill}.told`);
    const result = known ?? (await this.#parse(spill, batch));
    return { ...result, spill: this.#cache.path(spill) };
  }

  async #parse(spill: string, { sources }: SourceBatch): Promise<ParseResult> {
    const result = await this.#threads.parse({
      sources,
      spill: this.#cache.temporary(spill),
      spillBytes: this.#spillBytes,
    });
    this.#cache.put(spill);
    this.#cache.putValue(`${spill}.told`, result, []);
    return result;
  }

  /**
   * Builds the run of some shards, or finds it. `dated`: the state has boundary files, so that the
   * run depends on the day.
   */
  async run(of: RunOf, dated: boolean): Promise<ShardResult> {
    const { shards, sources, localities, disbelieved, today } = of;
    const rows = sources.map(({ path, segments, areas, ended }) => [
      basename(path),
      segments,
      areas === null ? null : [...areas],
      ended,
    ]);
    const name = `run-${partKey(
      codeVersion(),
      shards,
      rows,
      localities,
      disbelieved,
      dated ? today : 0,
    )}`;
    const files = [name, `${name}.strays`];
    const known = this.#cache.value<ShardResult>(`${name}.told`);
    const result = known ?? (await this.#build(name, files, of));
    const [run = '', strays = ''] = files.map((file) => this.#cache.path(file));
    return { ...result, run, strays: { ...result.strays, path: strays } };
  }

  async #build(name: string, files: readonly string[], of: RunOf): Promise<ShardResult> {
    await Promise.all(of.sources.map((source) => this.#readAgain(source)));
    const [run = '', strays = ''] = files.map((file) => this.#cache.temporary(file));
    const result = await this.#threads.build({ ...of, run, strays });
    for (const file of files) this.#cache.put(file);
    this.#cache.putValue(`${name}.told`, result, files);
    return result;
  }

  /** Reads a source again whose rows were removed by an earlier build. */
  async #readAgain({ path }: ShardSource): Promise<void> {
    const spill = basename(path);
    const batch = this.#batches.get(spill);
    if (batch === undefined || existsSync(path)) return;
    if (!this.#again.has(spill)) this.#again.set(spill, this.#parse(spill, batch));
    await this.#again.get(spill);
  }

  /** Removes the rows of sources after their runs were built. */
  dropRows(): void {
    for (const spill of this.#batches.keys()) this.#cache.drop(spill);
  }
}
