/** Builds a run of the street table from the segments of one state's shards. */
import { closeSync, openSync, readSync } from 'node:fs';
import type { Gazetteer } from '../../address/parsed.js';
import { DATE_OPEN, type DateInt } from '../../tax/date.js';
import type { NearLine } from './apart.js';
import { compareDoors, type StatedFindings } from './agreement.js';
import { Disbelieved } from './believed.js';
import { StreetCollection } from './collection.js';
import { byKey, streetEntries } from './entries.js';
import { type Labels, LocalityNumbers } from './localities.js';
import { finalStreets } from './order.js';
import { NO_AREA, type Period } from './periods.js';
import { writeRun } from './run-file.js';
import { Spellings } from './source-names.js';
import { readSegment, readUnplaced, type SegmentTarget, UnplacedSides } from './segments.js';
import { NO_ZIP, type Segment, shardOf, SpillWriter, zipsOf } from './spill.js';
import { StatedZips } from './stated-zips.js';

/** Segments of some shards in one file. */
export interface ShardSource {
  readonly path: string;
  readonly segments: readonly Segment[];
  /**
   * Areas in the release, by the file's own numbers; null where the file has those of the release.
   */
  readonly areas: Int32Array | null;
  /**
   * Last day of a boundary file that has ended: what is in force then is assumed to continue.
   * Otherwise null.
   */
  readonly ended: DateInt | null;
}

export interface ShardTask {
  /** Successive shards of the state, ascending; the one without ZIPs is alone. */
  readonly shards: readonly string[];
  readonly sources: readonly ShardSource[];
  /** States and folded names of the state's localities, in order. */
  readonly localities: readonly string[];
  /** The day for which doors are compared with boundary files. */
  readonly today: DateInt;
  /** Pairs of municipality and ZIP that are mistakes. */
  readonly disbelieved: readonly string[];
  /** Path for the run, and below for streets that turn out to belong to the shard without ZIPs. */
  readonly run: string;
  readonly strays: string;
}

export interface ShardResult {
  readonly state: string;
  readonly run: string;
  readonly strays: ShardSource;
  readonly labels: Labels;
  /** Flags of the state's localities, by number. */
  readonly flags: readonly number[];
  /** The comparison with the state's boundary file; empty without one. */
  readonly stated: StatedFindings;
}

/** Puts rows of segments into a collection, except for streets with a ZIP that is a mistake. */
class ShardTarget implements SegmentTarget {
  readonly stated = new StatedZips();
  readonly unplaced = new UnplacedSides();
  readonly #collection: StreetCollection;
  readonly #strays: SpillWriter;
  readonly #disbelieved: Disbelieved;
  readonly #spellings: Spellings;
  readonly #hasZips: boolean;

  constructor(
    task: ShardTask,
    collection: StreetCollection,
    strays: SpillWriter,
    spellings: Spellings,
  ) {
    this.#collection = collection;
    this.#strays = strays;
    this.#spellings = spellings;
    this.#disbelieved = new Disbelieved(task.disbelieved);
    this.#hasZips = hasZips(task);
  }

  /** Strays have numbers below −1. */
  street(state: string, zip: string, city: string, municipality: string, text: string): number {
    if (!this.#hasZips) {
      return Number(zip) > 0
        ? this.#collection.uncounted(state, zip, city, municipality, text)
        : this.#collection.street(state, zip, city, municipality, text);
    }
    const town = this.#spellings.locality(municipality);
    if (!this.#disbelieved.has(state, town, Number(zip))) {
      return this.#collection.street(state, zip, city, municipality, text);
    }
    this.#collection.countOnly(state, zip, city, municipality, text);
    return -2 - this.#strays.street(state, zip, city, municipality, text);
  }

  door(...[street, door]: Parameters<StreetCollection['door']>): void {
    if (street >= 0) this.#collection.door(street, door);
    else this.#strays.door(-2 - street, door);
  }

  side(...[street, facts, vertices, line]: Parameters<StreetCollection['side']>): void {
    if (street >= 0) this.#collection.side(street, facts, vertices, line);
    else this.#strays.side(-2 - street, facts, vertices, line);
  }

  zips(...[range]: Parameters<SegmentTarget['zips']>): void {
    this.stated.add(range);
  }

  said(...[state, zip, statement]: Parameters<SegmentTarget['said']>): void {
    if (zip > 0) this.stated.street(state, zip, statement);
  }
}

function readSources(sources: readonly ShardSource[], target: SegmentTarget): void {
  for (const { path, segments, areas, ended } of sources) {
    const facts = {
      areaOf: (area: number): number => areas?.[area] ?? area,
      endOf: (end: DateInt): DateInt => (ended !== null && end >= ended ? DATE_OPEN : end),
    };
    const readAll = (read: typeof readSegment): void => {
      const fd = openSync(path, 'r');
      try {
        for (const { at, bytes } of segments) {
          const segment = Buffer.allocUnsafe(bytes);
          if (readSync(fd, segment, 0, bytes, at) < bytes) throw new Error(`${path} is cut short`);
          read(segment, facts, target);
        }
      } finally {
        closeSync(fd);
      }
    };
    // Read first, since ranges that lead nowhere may follow those that they supersede.
    if (areas?.includes(NO_AREA) === true) readAll(readUnplaced);
    readAll(readSegment);
  }
}

function hasZips({ shards }: ShardTask): boolean {
  return !shards[0]!.endsWith(NO_ZIP);
}

/** The state of a shard. */
export function stateOf(shard: string): string {
  return shard.slice(0, -NO_ZIP.length);
}

/** Builds the run of some shards. */
export function buildShard(task: ShardTask, gazetteer: Gazetteer, nearLine: NearLine): ShardResult {
  const { shards, run, strays: straysPath } = task;
  const state = stateOf(shards[0]!);
  const collection = new StreetCollection(gazetteer);
  const spellings = new Spellings(gazetteer);
  // There are few: each is one of a door or two among hundreds of its municipality.
  const strays = new SpillWriter(straysPath, spellings, Infinity, (own) => shardOf(own, 0));
  const target = new ShardTarget(task, collection, strays, spellings);
  try {
    readSources(task.sources, target);
  } finally {
    strays.end();
  }
  const localities = new LocalityNumbers(task.localities);
  const zips = Int32Array.from(collection.streets, ({ zip }) => (hasZips(task) ? zip : 0));
  const streets = finalStreets(collection, localities, zips);
  const { first, last } = zipsOf(shards);
  collection.stateZips(target.stated);
  const stated: StatedFindings = { ...compareDoors(collection, streets, task.today), zips: [] };
  const tell = (zip: number, all: readonly Period[]): void => {
    const held = all.find(({ begin, end }) => begin <= task.today && end >= task.today);
    if (held !== undefined) stated.zips.push([zip, held.areas]);
  };
  writeRun(
    run,
    [
      ...target.stated.entries(first, last, tell),
      ...streetEntries(collection, streets, nearLine),
    ].sort(byKey),
  );
  return {
    state,
    run,
    labels: collection.labels,
    flags: localities.flags(state),
    strays: { path: straysPath, segments: strays.segments, areas: null, ended: null },
    stated,
  };
}
