/** Sources of addresses: their rows are situated once and go to the segments of their shards. */
import type { Gazetteer } from '../../address/parsed.js';
import type { Microdegrees } from '../../geo/microdegrees.js';
import type { DateInt } from '../../tax/date.js';
import {
  areaSettler, type OwnDistrict, OwnDistricts, type SettledArea,
} from '../layer/districts.js';
import type { AreaTuple } from '../model.js';
import {
  type BoundaryRecordSource, type PointSource, type RangeSource, readPoints, readRanges,
  readRecords, type Report,
} from '../source/addresses.js';
import type { AddressPoint } from '../source/points.js';
import type { StreetRange } from '../source/ranges.js';
import {
  boundariesInForce, type BoundaryRecord, boundaryRange, boundaryTuple,
} from '../source/sst-boundary.js';
import type { Pair } from './believed.js';
import { LostCounter, type LostRows } from './lost.js';
import { areaAlong, areaAshore, type AreaNames, DoorSituator } from './situate.js';
import { Spellings } from './spelling.js';
import { type Segment, SpillWriter } from './spill.js';
import { addDoor, SideWriter } from './stated.js';

export type AddressSource =
  | { readonly kind: 'points'; readonly source: PointSource }
  | { readonly kind: 'ranges'; readonly source: RangeSource }
  | { readonly kind: 'records'; readonly source: BoundaryRecordSource };

/** A source with the folder that its file is named from. */
export type PlacedSource = AddressSource & { readonly folder: string };

export interface ParseTask {
  /** Of boundary files one at a time: the areas of its segments are numbers of its own. */
  readonly sources: readonly PlacedSource[];
  /** Where segments are written. */
  readonly spill: string;
  /** Bytes of rows that may wait to be written. */
  readonly spillBytes: number;
  readonly today: DateInt;
}

/** What the readers of addresses know of the world. */
export interface ParseWorld {
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
  zip9: number;
  /** Points and sides outside every tax area. */
  outside: number;
  /** Points, sides and records whose number, street or ZIP cannot be read. */
  unread: number;
}

export interface ParseResult {
  readonly spill: string;
  readonly segments: readonly Segment[];
  readonly pairs: readonly Pair[];
  readonly localities: readonly string[];
  readonly counts: Counts;
  /** Doors by ZIP and area. */
  readonly zips: readonly (readonly [zip: number, area: number, count: number])[];
  /** Doors that were kept, by state. */
  readonly doors: ReadonlyMap<string, number>;
  /** Boundary records: the tuples that the areas of its segments are numbers of. */
  readonly tuples: readonly AreaTuple[];
  /** Sentences on rows that fell away. */
  readonly lines: readonly string[];
  readonly lost: readonly LostRows[];
}

const AREAS_MAX = 2 ** 24;
const OUTSIDE = 'in no tax area';
const UNREAD = 'whose number, street or ZIP cannot be read';

class SourceParser {
  readonly counts: Counts = { points: 0, sides: 0, zip9: 0, outside: 0, unread: 0 };
  readonly doors = new Map<string, number>();
  readonly tuples: AreaTuple[] = [];
  /** Sentences on rows that fell away. */
  readonly lines: string[] = [];
  /** Of the file that is being read. */
  lost = new LostCounter('', '');
  readonly report: Report = (line, fallen) => {
    this.lines.push(line);
    this.lost.fell(fallen);
  };
  readonly #zips = new Map<number, number>();
  readonly #tupleIds = new Map<string, number>();
  readonly #sides = new SideWriter();
  readonly #situator: DoorSituator;
  readonly #settle: (area: number, zip: string) => number;
  readonly #districts: OwnDistricts;

  constructor(world: ParseWorld, readonly spill: SpillWriter) {
    this.#situator = new DoorSituator(world.locate, world.known);
    this.#settle = areaSettler(world.districts, world.settled);
    this.#districts = new OwnDistricts(world.districts);
  }

  point(point: AddressPoint): void {
    const { lat, lng, municipality, state, zip } = point;
    const here = this.#situator.areaAt(lat, lng, municipality);
    if (zip !== '' && here >= 0) {
      const key = Number(zip) * AREAS_MAX + this.#settle(here, zip);
      this.#zips.set(key, (this.#zips.get(key) ?? 0) + 1);
    }
    const area = this.#settle(areaAshore(lat, lng, (ownLat, ownLng) =>
      this.#situator.areaAt(ownLat, ownLng, municipality), here), zip);
    if (area >= 0 && addDoor(this.spill, point, area)) {
      this.#keep('points');
      this.doors.set(state, (this.doors.get(state) ?? 0) + 1);
    } else this.#lose(area < 0);
  }

  range(range: StreetRange): void {
    for (const right of [false, true]) {
      const side = right ? range.right : range.left;
      if (side === null) continue;
      const area = range.area ?? areaAlong(range, side, right, (lat, lng) =>
        this.#situator.areaAt(lat, lng, range.municipality));
      const settled = area === null ? null : this.#settle(area, side.zip);
      if (settled !== null && this.#sides.add(this.spill, range, right, settled)) {
        this.#keep('sides');
      } else this.#lose(settled === null);
    }
  }

  #keep(kind: 'points' | 'sides' | 'zip9'): void {
    this.counts[kind] += 1;
    this.lost.count(null);
  }

  #lose(outside: boolean): void {
    this.counts[outside ? 'outside' : 'unread'] += 1;
    this.lost.count(outside ? OUTSIDE : UNREAD);
  }

  /** Adds the records of a boundary file that are in force. */
  async records(source: BoundaryRecordSource, path: string, today: DateInt): Promise<void> {
    let report: Report | undefined = this.report;
    const read = (): AsyncIterable<BoundaryRecord> => {
      const told = report;
      // A second reading has nothing new to tell.
      report = undefined;
      return readRecords(path, source, told);
    };
    for await (const record of boundariesInForce(read, today)) {
      if (record.kind === 'zip5' || !record.stateTaxed || record.county === '') continue;
      const area = this.#tuple(this.#districts.ofRecord(
        boundaryTuple(record, (district) => district.code), zipOf(record)));
      if (record.kind === 'zip9') {
        if (this.spill.zip9({ ...record, state: source.state, area })) this.#keep('zip9');
        else this.#lose(false);
      } else {
        const range = boundaryRange(record, area, source.state, source.source);
        if (range !== null) this.range(range);
        else this.#lose(false);
      }
    }
  }

  zips(): readonly (readonly [number, number, number])[] {
    return [...this.#zips].map(([key, count]) =>
      [Math.floor(key / AREAS_MAX), key % AREAS_MAX, count] as const);
  }

  #tuple(tuple: AreaTuple): number {
    const key = `${tuple.state}|${tuple.county}|${tuple.place}|${tuple.districts.join()}`;
    const known = this.#tupleIds.get(key);
    if (known !== undefined) return known;
    const id = this.tuples.length;
    this.tuples.push(tuple);
    this.#tupleIds.set(key, id);
    return id;
  }
}

/** The ZIP of a boundary record, null where it has none or several. */
function zipOf({ kind, zip, zipLow, zipHigh }: BoundaryRecord): number | null {
  if (kind === 'address') return zip === '' ? null : Number(zip);
  return zipLow === zipHigh ? zipLow : null;
}

/** Reads one source to its end and tells what was lost of it. */
async function parseOne(
  parser: SourceParser, one: PlacedSource, today: DateInt,
): Promise<readonly LostRows[]> {
  const { folder, source: { file, state, tolerance } } = one;
  parser.lost = new LostCounter(file, state, tolerance);
  if (one.kind === 'points') {
    for await (const point of readPoints(folder, one.source, parser.report)) parser.point(point);
  } else if (one.kind === 'ranges') {
    for await (const range of readRanges(folder, one.source, parser.report)) parser.range(range);
  } else {
    await parser.records(one.source, `${folder}${file}`, today);
  }
  const lost = parser.lost.settle();
  const sentence = parser.lost.sentence();
  if (sentence !== null) parser.lines.push(sentence);
  return lost === null ? [] : [lost];
}

/** Reads sources to their end. */
export async function parseSources(task: ParseTask, world: ParseWorld): Promise<ParseResult> {
  const { sources, spill: path, today, spillBytes } = task;
  const spill = new SpillWriter(path, new Spellings(world.gazetteer), spillBytes);
  const parser = new SourceParser(world, spill);
  const lost: LostRows[] = [];
  try {
    for (const one of sources) lost.push(...await parseOne(parser, one, today));
  } finally {
    spill.end();
  }
  return {
    spill: path, segments: spill.segments, pairs: spill.pairs.list(),
    localities: [...spill.localities], counts: parser.counts, zips: parser.zips(),
    doors: parser.doors, tuples: parser.tuples, lines: parser.lines, lost,
  };
}
