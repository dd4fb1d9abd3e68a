/**
 * Sources that were read and runs that were built, each taken from the parts of builds where it is.
 * A source as it was read depends on its files, on its entry in the recipe, on what is known of tax
 * areas and places, and on the program; a run on the rows of its shards and on what is known of the
 * localities of its state. Rows go once their run is there, and are read again where another run
 * needs them.
 */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { codeVersion } from '../inputs.js';
import { type PartCache, partKey } from '../part-cache.js';
import type { Crew } from './crew.js';
import type { Job } from './address-work.js';
import type { ParseResult } from './parse-sources.js';
import type { ShardResult, ShardSource, ShardTask } from './shard.js';

/** What a run is built of. */
export type RunOf = Omit<ShardTask, 'run' | 'strays'>;

export class AddressParts {
  readonly #cache: PartCache;
  readonly #crew: Crew;
  readonly #spillBytes: number;
  readonly #jobs = new Map<string, Job>();
  /** Sources that are being read again. */
  readonly #again = new Map<string, Promise<unknown>>();

  constructor(cache: PartCache, crew: Crew, spillBytes: number) {
    this.#cache = cache;
    this.#crew = crew;
    this.#spillBytes = spillBytes;
  }

  /** The sources of a job as they were read. */
  async parsed(job: Job): Promise<ParseResult> {
    const sources = job.sources.map(({ kind, source }) => [kind, source]);
    const spill = `source-${partKey(codeVersion(), this.#crew.world, this.#spillBytes, sources,
      job.sums)}`;
    this.#jobs.set(spill, job);
    const known = this.#cache.value<ParseResult>(`${spill}.told`);
    const result = known ?? await this.#parse(spill, job);
    return { ...result, spill: this.#cache.path(spill) };
  }

  async #parse(spill: string, { sources }: Job): Promise<ParseResult> {
    const result = await this.#crew.parse({
      sources, spill: this.#cache.temporary(spill), spillBytes: this.#spillBytes,
    });
    this.#cache.put(spill);
    this.#cache.putValue(`${spill}.told`, result, []);
    return result;
  }

  /** The run of some shards; `dated`: the state has boundary files, and so depends on the day. */
  async run(of: RunOf, dated: boolean): Promise<ShardResult> {
    const { shards, sources, localities, disbelieved, today } = of;
    const rows = sources.map(({ path, segments, areas, ended }) =>
      [basename(path), segments, areas === null ? null : [...areas], ended]);
    const name = `run-${partKey(codeVersion(), shards, rows, localities, disbelieved,
      dated ? today : 0)}`;
    const files = [name, `${name}.strays`];
    const known = this.#cache.value<ShardResult>(`${name}.told`);
    const result = known ?? await this.#build(name, files, of);
    const [run = '', strays = ''] = files.map((file) => this.#cache.path(file));
    return { ...result, run, strays: { ...result.strays, path: strays } };
  }

  async #build(name: string, files: readonly string[], of: RunOf): Promise<ShardResult> {
    await Promise.all(of.sources.map((source) => this.#readAgain(source)));
    const [run = '', strays = ''] = files.map((file) => this.#cache.temporary(file));
    const result = await this.#crew.build({ ...of, run, strays });
    for (const file of files) this.#cache.put(file);
    this.#cache.putValue(`${name}.told`, result, files);
    return result;
  }

  /** Reads sources again whose rows went with an earlier build. */
  async #readAgain({ path }: ShardSource): Promise<void> {
    const spill = basename(path);
    const job = this.#jobs.get(spill);
    if (job === undefined || existsSync(path)) return;
    if (!this.#again.has(spill)) this.#again.set(spill, this.#parse(spill, job));
    await this.#again.get(spill);
  }

  /** Removes the rows of sources: their runs are there. */
  dropRows(): void {
    for (const spill of this.#jobs.keys()) this.#cache.drop(spill);
  }
}
