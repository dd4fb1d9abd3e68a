/** How the work of the address stage is cut: sources into jobs, shards into runs. */
import { statSync } from 'node:fs';
import type { InternArea } from '../model.js';
import type { Recipe } from '../recipe.js';
import type { SourceFiles } from '../source-files.js';
import { splitMember } from '../source/zip.js';
import type { AddressSource, ParseResult, PlacedSource } from './parse.js';
import { type ShardSource, stateOf } from './shard.js';

/** Files of fewer bytes are read together. */
const JOB_BYTES = 1 << 25;

export interface Job {
  readonly sources: readonly PlacedSource[];
  readonly bytes: number;
}

export type SourceRecipe = Pick<Recipe, 'points' | 'ranges' | 'sst'>;

/** Sources in an order of their own, so that the recipe's order decides nothing. */
function placedSources(
  recipe: SourceRecipe, files: Pick<SourceFiles, 'note'>,
): readonly Job[] {
  const addresses: readonly AddressSource[] = [
    ...recipe.points.map((source) => ({ kind: 'points', source }) as const),
    ...recipe.ranges.map((source) => ({ kind: 'ranges', source }) as const),
    ...recipe.sst.map((source) => ({ kind: 'records', source }) as const),
  ];
  const nameOf = ({ kind, source }: AddressSource): string => `${kind} ${source.file}`;
  return addresses.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
    .map((address): Job => {
      const { file } = address.source;
      const path = files.note(file);
      const folder = path.slice(0, -file.length);
      return { sources: [{ ...address, folder }], bytes: statSync(splitMember(path).file).size };
    });
}

/** Small files are read together; each boundary file alone. */
export function jobsOf(
  recipe: SourceRecipe, files: Pick<SourceFiles, 'note'>,
): readonly Job[] {
  const jobs: Job[] = [];
  for (const { sources, bytes } of placedSources(recipe, files)) {
    const last = jobs.at(-1);
    const kind = sources[0]?.kind;
    if (last !== undefined && kind !== 'records' && last.sources[0]?.kind === kind
      && last.bytes + bytes <= JOB_BYTES) {
      jobs[jobs.length - 1] = {
        sources: [...last.sources, ...sources], bytes: last.bytes + bytes,
      };
    } else jobs.push({ sources, bytes });
  }
  return jobs;
}

/** Where the rows of each shard lie; areas of boundary files get their numbers in the release. */
export function shardSources(
  parsed: readonly ParseResult[], intern: InternArea,
): Map<string, ShardSource[]> {
  const shards = new Map<string, ShardSource[]>();
  for (const { spill, segments, tuples } of parsed) {
    const areas = tuples.length > 0 ? Int32Array.from(tuples, intern) : null;
    addSource(shards, { path: spill, segments, areas });
  }
  return shards;
}

/** Adds what lies in a file to the shards that it is of. */
export function addSource(shards: Map<string, ShardSource[]>, source: ShardSource): void {
  for (const shard of new Set(source.segments.map((segment) => segment.shard))) {
    const own = { ...source, segments: source.segments.filter((one) => one.shard === shard) };
    const known = shards.get(shard);
    if (known === undefined) shards.set(shard, [own]);
    else known.push(own);
  }
}

/** Bytes of all segments. */
export function bytesOf(sources: readonly ShardSource[]): number {
  return sources.reduce((sum, { segments }) =>
    sum + segments.reduce((own, { bytes }) => own + bytes, 0), 0);
}

/** Shards of a state that follow one another, as many as make a run of a fair size. */
export function groupsOf(
  names: readonly string[], shards: ReadonlyMap<string, readonly ShardSource[]>,
  bytesMax: number,
): readonly (readonly string[])[] {
  const groups: string[][] = [];
  let [state, bytes] = ['', 0];
  for (const name of names.toSorted()) {
    const own = bytesOf(shards.get(name)!);
    if (stateOf(name) !== state || bytes + own > bytesMax) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)!.push(name);
    state = stateOf(name);
    bytes += own;
  }
  return groups;
}

/** The sources of all shards of a group, each file once. */
export function sourcesOf(
  group: readonly string[], shards: ReadonlyMap<string, readonly ShardSource[]>,
): readonly ShardSource[] {
  const byPath = new Map<string, ShardSource>();
  for (const source of group.flatMap((name) => shards.get(name)!)) {
    const known = byPath.get(source.path);
    byPath.set(source.path, known === undefined ? source
      : { ...known, segments: [...known.segments, ...source.segments] });
  }
  return [...byPath.values()];
}

