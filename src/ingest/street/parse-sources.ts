/**
 * Reads address sources: finds the tax area of each row once, and writes it to the segments of its
 * shard.
 */
import type { Gazetteer } from '../../address/parsed.js';
import type { Microdegrees } from '../../geo/microdegrees.js';
import type { DateInt } from '../../tax/date.js';
import { areaSettler, type OwnDistrict, type SettledArea } from '../layer/districts.js';
import {
  type BoundaryRecordSource,
  type PointSource,
  type RangeSource,
  readPoints,
  readRanges,
  readRecords,
  type Report,
} from '../source/address-source.js';
import type { AddressPoint } from '../source/points.js';
import type { StreetRange } from '../source/ranges.js';
import type { Pair } from './believed.js';
import { LostCounter, type LostRows } from './lost.js';
import { RecordWriter, type StatedTuple, type TupleRows } from './boundary-records.js';
import { areaAlong, areaAshore, type AreaNames, DoorSituator } from './situate.js';
import { Spellings } from './source-names.js';
import { type Segment, SpillWriter } from './spill.js';
import { addDoor, SideWriter } from './stated.js';

export type AddressSource =
  | { readonly kind: 'points'; readonly source: PointSource }
  | { readonly kind: 'ranges'; readonly source: RangeSource }
  | { readonly kind: 'records'; readonly source: BoundaryRecordSource };

/** A source, with the folder that its file is relative to. */
export type PlacedSource = AddressSource & { readonly folder: string };

export interface ParseTask {
  /**
   * Sources to read; a boundary file must be alone, since its segments have area numbers of their
   * own.
   */
  readonly sources: readonly PlacedSource[];
  /** Path to which segments are written. */
  readonly spill: string;
  /** Bytes of rows that may be kept before they are written. */
  readonly spillBytes: number;
}

/** What the readers of addresses need to know. */
interface ParseWorld {
  readonly locate: (lat: Microdegrees, lng: Microdegrees) => number;
  readonly known: AreaNames;
  readonly gazetteer: Gazetteer;
  /** Districts of layers, and the areas that a ZIP settles. */
  readonly districts: readonly OwnDistrict[];
  readonly settled: readonly SettledArea[];
}

export interface Counts {
  points: number;
  sides: number;
  /** Numbers of records on ZIP+4s, and below on whole ZIPs. */
  zip9: number;
  zip5: number;
  /** Points and sides outside of all tax areas. */
  outside: number;
  /** Points, sides and records whose number, street or ZIP cannot be read. */
  unread: number;
}

/** What is known of a boundary file after reading. */
export interface StatedRecords {
  /** Two-letter code. */
  readonly state: string;
  readonly file: string;
  readonly tuples: readonly StatedTuple[];
  /** Numbers of kept records by tuple. */
  readonly rows: readonly TupleRows[];
  /** The last day of any record. */
  readonly lastDay: DateInt;
}

export interface ParseResult {
  readonly spill: string;
  readonly segments: readonly Segment[];
  readonly pairs: readonly Pair[];
  readonly localities: readonly string[];
  readonly counts: Counts;
  /** Doors by ZIP and area. */
  readonly zips: readonly (readonly [zip: number, area: number, count: number])[];
  /** Numbers of doors that were kept, by state. */
  readonly doors: ReadonlyMap<string, number>;
  /** For a boundary file: the tuples that the area numbers of its segments stand for. */
  readonly records: StatedRecords | null;
  /** Sentences about rows that were left out. */
  readonly lines: readonly string[];
  readonly lost: readonly LostRows[];
}

const AREAS_MAX = 2 ** 24;
const OUTSIDE = 'in no tax area';
const ASTRAY = 'far from the municipality and the county that they name';
const UNREAD = 'whose number, street or ZIP cannot be read';

class SourceParser {
  readonly counts: Counts = { points: 0, sides: 0, zip9: 0, zip5: 0, outside: 0, unread: 0 };
  readonly doors = new Map<string, number>();
  /** The writer of the boundary file being read. */
  readonly records: RecordWriter;
  /** Sentences about rows that were left out. */
  readonly lines: string[] = [];
  /** Counts what is lost of the file being read. */
  lost = new LostCounter('', '');
  readonly report: Report = (line, fallen) => {
    this.lines.push(line);
    this.lost.fell(fallen);
  };
  readonly #zips = new Map<number, number>();
  readonly #sides = new SideWriter();
  readonly #situator: DoorSituator;
  readonly #settle: (area: number, zip: string) => number;

  constructor(
    world: ParseWorld,
    readonly spill: SpillWriter,
  ) {
    this.#situator = new DoorSituator(world.locate, world.known);
    this.#settle = areaSettler(world.districts, world.settled);
    this.records = new RecordWriter(spill, this.#sides, world.districts.length > 0);
  }

  point(point: AddressPoint): void {
    const { lat, lng, municipality, county, state, zip } = point;
    const here = this.#situator.areaAt(lat, lng, municipality, county);
    if (this.#situator.isAstray(lat, lng, here, point)) {
      this.#lose('outside', ASTRAY);
      return;
    }
    if (zip !== '' && here >= 0) {
      const key = Number(zip) * AREAS_MAX + this.#settle(here, zip);
      this.#zips.set(key, (this.#zips.get(key) ?? 0) + 1);
    }
    const area = this.#settle(
      areaAshore(
        lat,
        lng,
        (ownLat, ownLng) => this.#situator.areaAt(ownLat, ownLng, municipality, county),
        here,
      ),
      zip,
    );
    if (area >= 0 && addDoor(this.spill, point, area)) {
      this.#keep('points');
      this.doors.set(state, (this.doors.get(state) ?? 0) + 1);
    } else this.#loseUnless(area >= 0);
  }

  range(range: StreetRange): void {
    for (const right of [false, true]) {
      const side = right ? range.right : range.left;
      if (side === null) continue;
      const area =
        range.area ??
        areaAlong(range, side, right, (lat, lng) =>
          this.#situator.areaAt(lat, lng, range.municipality),
        );
      const settled = area === null ? null : this.#settle(area, side.zip);
      if (settled !== null && this.#sides.add(this.spill, range, right, settled)) {
        this.#keep('sides');
      } else this.#loseUnless(settled !== null);
    }
  }

  #keep(kind: 'points' | 'sides' | 'zip9' | 'zip5'): void {
    this.counts[kind] += 1;
    this.lost.count(null);
  }

  #loseUnless(inside: boolean): void {
    if (inside) this.#lose('unread', UNREAD);
    else this.#lose('outside', OUTSIDE);
  }

  #lose(as: 'outside' | 'unread', why: string): void {
    this.counts[as] += 1;
    this.lost.count(why);
  }

  /** Adds the records of a boundary file, for all days. */
  async readRecords(source: BoundaryRecordSource, path: string): Promise<void> {
    for await (const record of readRecords(path, source, this.report)) {
      const found = this.records.add(record, source.state, source.source);
      if (found.kind === 'kept') this.#keep(found.as);
      else if (found.kind === 'left') this.lost.leave(found.why);
      else this.#loseUnless(true);
    }
  }

  zips(): readonly (readonly [number, number, number])[] {
    return [...this.#zips].map(
      ([key, count]) => [Math.floor(key / AREAS_MAX), key % AREAS_MAX, count] as const,
    );
  }
}

/** Reads one source to its end, and returns what was lost of it. */
async function parseOne(parser: SourceParser, one: PlacedSource): Promise<readonly LostRows[]> {
  const {
    folder,
    source: { file, state, tolerance },
  } = one;
  parser.lost = new LostCounter(file, state, tolerance);
  if (one.kind === 'points') {
    for await (const point of readPoints(folder, one.source, parser.report)) parser.point(point);
  } else if (one.kind === 'ranges') {
    for await (const range of readRanges(folder, one.source, parser.report)) parser.range(range);
  } else {
    await parser.readRecords(one.source, `${folder}${file}`);
  }
  const lost = parser.lost.settle();
  const sentence = parser.lost.sentence();
  if (sentence !== null) parser.lines.push(sentence);
  return lost === null ? [] : [lost];
}

function recordsOf(
  [one]: readonly PlacedSource[],
  { tuples, rows, lastDay }: RecordWriter,
): StatedRecords | null {
  if (one?.kind !== 'records') return null;
  const { state, file } = one.source;
  return { state, file, tuples, rows, lastDay };
}

/** Reads sources to their end. */
export async function parseSources(task: ParseTask, world: ParseWorld): Promise<ParseResult> {
  const { sources, spill: path, spillBytes } = task;
  const spill = new SpillWriter(path, new Spellings(world.gazetteer), spillBytes);
  const parser = new SourceParser(world, spill);
  const lost: LostRows[] = [];
  try {
    for (const one of sources) lost.push(...(await parseOne(parser, one)));
  } finally {
    spill.end();
  }
  return {
    spill: path,
    segments: spill.segments,
    pairs: spill.pairs.list(),
    localities: [...spill.localities],
    counts: parser.counts,
    zips: parser.zips(),
    doors: parser.doors,
    records: recordsOf(sources, parser.records),
    lines: parser.lines,
    lost,
  };
}
