/** How the work of the address stage is divided: sources into batches, and shards into runs. */
import { existsSync, statSync } from 'node:fs';
import { companions } from '../inputs.js';
import type { Recipe } from '../recipe.js';
import type { SourceFiles } from '../source-files.js';
import { splitMember } from '../source/zip.js';
import { DATE_OPEN, type DateInt } from '../../tax/date.js';
import type { LostRows } from './lost.js';
import type { AddressSource, ParseResult, PlacedSource, StatedRecords } from './parse-sources.js';
import type { RecordCounts } from './boundary-records.js';
import { NO_AREA } from './periods.js';
import { type ShardSource, stateOf } from './shard.js';
import { type PlaceStated, UNRATED } from './named-areas.js';

/** Files are read together up to this many bytes. */
const BATCH_BYTES = 1 << 25;

/** Sources that are read together, by one thread. */
export interface SourceBatch {
  readonly sources: readonly PlacedSource[];
  readonly bytes: number;
  /** SHA-256 of the files of each source. */
  readonly sums: readonly string[];
}

/** What is needed of a build's files. */
export type AddressFiles = Pick<SourceFiles, 'note' | 'sha256'>;

export type SourceRecipe = Pick<Recipe, 'points' | 'ranges' | 'sst'>;

/**
 * The sources of a recipe, with an entry for several files ("tx/*.zip") split into one for each.
 */
export function eachFile(
  { points, ranges, sst }: SourceRecipe,
  files: Pick<SourceFiles, 'filesOf'>,
): SourceRecipe {
  const each = <Source extends { readonly file: string }>(sources: readonly Source[]): Source[] =>
    sources.flatMap((source) => files.filesOf(source.file).map((file) => ({ ...source, file })));
  return { points: each(points), ranges: each(ranges), sst: each(sst) };
}

/** Sources in a fixed order, so that the order of the recipe makes no difference. */
function placedSources(recipe: SourceRecipe, files: AddressFiles): readonly SourceBatch[] {
  const addresses: readonly AddressSource[] = [
    ...recipe.points.map((source) => ({ kind: 'points', source }) as const),
    ...recipe.ranges.map((source) => ({ kind: 'ranges', source }) as const),
    ...recipe.sst.map((source) => ({ kind: 'records', source }) as const),
  ];
  const nameOf = ({ kind, source }: AddressSource): string => `${kind} ${source.file}`;
  return addresses
    .toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
    .map((address): SourceBatch => {
      const { file } = address.source;
      const path = files.note(file);
      const folder = path.slice(0, -file.length);
      const sums = [file, ...companions(file).filter((own) => existsSync(`${folder}${own}`))].map(
        (own) => files.sha256(own),
      );
      return {
        sources: [{ ...address, folder }],
        bytes: statSync(splitMember(path).file).size,
        sums,
      };
    });
}

/** Batches of sources: small files of a state together, each boundary file alone. */
export function batchesOf(recipe: SourceRecipe, files: AddressFiles): readonly SourceBatch[] {
  const batches: SourceBatch[] = [];
  for (const batch of placedSources(recipe, files)) {
    const last = batches.at(-1);
    const [one, other] = [last?.sources[0], batch.sources[0]];
    const together =
      last !== undefined &&
      one?.kind === other?.kind &&
      one?.kind !== 'records' &&
      one?.source.state === other?.source.state &&
      last.bytes + batch.bytes <= BATCH_BYTES;
    if (together) {
      batches[batches.length - 1] = {
        sources: [...last.sources, ...batch.sources],
        bytes: last.bytes + batch.bytes,
        sums: [...last.sums, ...batch.sums],
      };
    } else batches.push(batch);
  }
  return batches;
}

/**
 * Most percent of a boundary file's records that may lead to no tax area; with more, it belongs to
 * another state.
 */
const UNPLACED_PERCENT_MAX = 50;

/** Where the rows of each shard are, and which records of boundary files lead to no tax area. */
interface ShardRows {
  readonly shards: Map<string, ShardSource[]>;
  readonly lost: readonly LostRows[];
  /** Boundary files that were read. */
  readonly files: readonly PlacedFile[];
}

/** The records of a boundary file that lead to a tax area, and its last day. */
export interface PlacedFile extends RecordCounts {
  readonly state: string;
  readonly lastDay: DateInt;
}

/**
 * Gives areas of boundary files their numbers in the release.
 * @throws Error where most records of a file lead to none.
 */
export function shardSources(parsed: readonly ParseResult[], place: PlaceStated): ShardRows {
  const shards = new Map<string, ShardSource[]>();
  const lost: LostRows[] = [];
  const files: PlacedFile[] = [];
  for (const { spill, segments, records, lost: unread } of parsed) {
    const found = records === null ? null : placeRecords(records, place);
    // Rows of a file are only counted once, with its first lost ones.
    if (found?.lost != null) lost.push(unread.length > 0 ? { ...found.lost, rows: 0 } : found.lost);
    if (records !== null && found !== null) {
      const { state, lastDay } = records;
      files.push({ state, lastDay, ...found.placed });
    }
    const { areas = null, ended = null } = found ?? {};
    addSource(shards, { path: spill, segments, areas, ended });
  }
  return { shards, lost, files };
}

function placeRecords(
  { state, file, tuples, rows, lastDay }: StatedRecords,
  place: PlaceStated,
): {
  readonly areas: Int32Array;
  /** The file's last day where it has ended. */
  readonly ended: DateInt | null;
  readonly lost: LostRows | null;
  readonly placed: RecordCounts;
} {
  const reasons = new Map<string, number>();
  const placed: RecordCounts = { sides: 0, zip9: 0, zip5: 0 };
  const ended = lastDay < DATE_OPEN ? lastDay : null;
  let kept = 0;
  const areas = Int32Array.from(tuples, (tuple, id) => {
    const { sides, zip9, zip5, said } = rows[id]!;
    const own = sides + zip9 + zip5;
    kept += own;
    const area = own + said === 0 ? NO_AREA : place(tuple, state, ended);
    if (typeof area === 'number') {
      for (const kind of ['sides', 'zip9', 'zip5'] as const) placed[kind] += rows[id]![kind];
      return area;
    }
    if (own > 0) reasons.set(area, (reasons.get(area) ?? 0) + own);
    return NO_AREA;
  });
  const unplaced = [...reasons.values()].reduce((sum, own) => sum + own, 0);
  const unrated = Object.values(UNRATED).reduce((sum, why) => sum + (reasons.get(why) ?? 0), 0);
  const told = [...reasons].map(([reason, own]) => `${own} ${reason}`).join('; ');
  // A state whose codes have no rates is answered by its lists, so this is no reason for the build
  // to fail.
  if ((unplaced - unrated) * 100 > kept * UNPLACED_PERCENT_MAX) {
    throw new Error(
      `${file}: ${unplaced} of ${kept} records lead to no tax area, more than the ` +
        `${UNPLACED_PERCENT_MAX} % that may: ${told}`,
    );
  }
  const lost = unplaced === 0 ? null : { file, state, rows: kept, reasons: [...reasons] };
  return { areas, ended, lost, placed };
}

/** Adds the segments in a file to the shards that they belong to. */
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
  return sources.reduce(
    (sum, { segments }) => sum + segments.reduce((own, { bytes }) => own + bytes, 0),
    0,
  );
}

/** Groups successive shards of a state, so that each makes a run of a suitable size. */
export function groupsOf(
  names: readonly string[],
  shards: ReadonlyMap<string, readonly ShardSource[]>,
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

/** The sources of all shards in a group, each file once. */
export function sourcesOf(
  group: readonly string[],
  shards: ReadonlyMap<string, readonly ShardSource[]>,
): readonly ShardSource[] {
  const byPath = new Map<string, ShardSource>();
  for (const source of group.flatMap((name) => shards.get(name)!)) {
    const known = byPath.get(source.path);
    byPath.set(
      source.path,
      known === undefined
        ? source
        : { ...known, segments: [...known.segments, ...source.segments] },
    );
  }
  return [...byPath.values()];
}
