/** Reads the segments that a SpillWriter wrote. */
import { RANGE_STATED } from '../../dataset/street-format.js';
import type { DateInt } from '../../tax/date.js';
import { NO_AREA, type Statement } from './periods.js';
import { DOOR, SAID, SIDE, STREET, ZIP5, ZIP9 } from './spill.js';
import type { StreetSink } from './stated.js';
import type { ZipRange } from './stated-zips.js';

/** Receives the rows of segments; rows name streets by the numbers that it returned for them. */
export interface SegmentTarget extends StreetSink {
  /** Ranges seen so far that lead to no tax area. */
  readonly unplaced: UnplacedSides;
  zips(range: ZipRange): void;
  /** Receives what is stated for some doors of a ZIP; NO_AREA where that is not known. */
  said(state: string, zip: number, statement: Statement): void;
}

/** How areas and days of segments translate to the release. */
interface SegmentFacts {
  /** The area in the release; NO_AREA where the row leads to none. */
  readonly areaOf: (area: number) => number;
  readonly endOf: (end: DateInt) => DateInt;
}

/** A range of numbers that leads to no tax area. */
interface UnplacedSide {
  readonly low: number;
  readonly high: number;
  readonly begin: number;
  readonly end: number;
}

/**
 * Ranges of a file that lead to no tax area, by street as written. Where they are in force, ranges
 * stated before them are not.
 */
export class UnplacedSides {
  readonly #byStreet = new Map<string, UnplacedSide[]>();

  get isEmpty(): boolean {
    return this.#byStreet.size === 0;
  }

  add(street: string, side: UnplacedSide): void {
    const known = this.#byStreet.get(street);
    if (known === undefined) this.#byStreet.set(street, [side]);
    else known.push(side);
  }

  /** Whether one of them is stated later than a range that it meets, while that is in force. */
  supersede(street: string, { low, high, begin, end }: UnplacedSide): boolean {
    return (
      this.#byStreet
        .get(street)
        ?.some(
          (side) => side.begin > begin && side.begin <= end && side.low <= high && side.high >= low,
        ) === true
    );
  }
}

/** Streets of a segment. A street is only passed to the target when its first row is kept. */
class SegmentStreets {
  readonly #stated: Parameters<StreetSink['street']>[] = [];
  readonly #numbers: (number | undefined)[] = [];

  constructor(readonly target: SegmentTarget) {}

  add(...stated: Parameters<StreetSink['street']>): void {
    this.#stated.push(stated);
  }

  /** State and ZIP of a street. */
  placeOf(id: number): readonly [state: string, zip: number] {
    const [state, zip] = this.#stated[id]!;
    return [state, Number(zip)];
  }

  /** The street as written, with its place, as a key. */
  keyOf(id: number): string {
    return this.#stated[id]!.join('|');
  }

  number(id: number): number {
    return (this.#numbers[id] ??= this.target.street(...this.#stated[id]!));
  }
}

/**
 * Reads one segment.
 * @throws Error when the bytes are no segment.
 */
export function readSegment(bytes: Buffer, facts: SegmentFacts, target: SegmentTarget): void {
  const rows = new SegmentRows(bytes);
  const streets = new SegmentStreets(target);
  while (rows.left) {
    const kind = rows.u8();
    if (kind === STREET) {
      streets.add(rows.text(), rows.text(), rows.text(), rows.text(), rows.text());
    } else if (kind === DOOR) {
      target.door(streets.number(rows.u32()), {
        value: rows.u32(),
        text: rows.text(),
        lat: rows.i32(),
        lng: rows.i32(),
        area: facts.areaOf(rows.u32()),
        plus4: rows.u16(),
      });
    } else if (kind === SIDE) readSide(rows, facts, streets);
    else if (kind === ZIP9 || kind === ZIP5) {
      const range: ZipRange = {
        kind: kind === ZIP9 ? 'zip9' : 'zip5',
        state: rows.text(),
        zipLow: rows.u32(),
        zipHigh: rows.u32(),
        plus4Low: rows.u16(),
        plus4High: rows.u16(),
        area: facts.areaOf(rows.u32()),
        begin: rows.u32() as DateInt,
        end: endOf(kind, rows.u32() as DateInt, facts),
      };
      target.zips(range);
    } else if (kind === SAID) {
      target.said(rows.text(), rows.u32(), {
        area: facts.areaOf(rows.u32()),
        begin: rows.u32() as DateInt,
        end: facts.endOf(rows.u32() as DateInt),
      });
    } else throw new Error(`a segment has a row of kind ${kind}`);
  }
}

/** A file's statements on whole ZIPs are only certain as long as the file lasts. */
function endOf(kind: number, end: DateInt, facts: SegmentFacts): DateInt {
  return kind === ZIP5 ? end : facts.endOf(end);
}

function readSide(rows: SegmentRows, facts: SegmentFacts, streets: SegmentStreets): void {
  const street = rows.u32();
  const [from, to, flags, zip4] = [rows.u32(), rows.u32(), rows.u8(), rows.u16()];
  const [stated, begin, end] = [rows.i32(), rows.u32(), rows.u32()];
  const [vertices, line] = [rows.u16(), rows.raw()];
  const area = stated < 0 ? stated : facts.areaOf(stated);
  const side = { low: Math.min(from, to), high: Math.max(from, to), begin, end };
  const { unplaced } = streets.target;
  if (area === NO_AREA) unplaced.add(streets.keyOf(street), side);
  if (
    area === NO_AREA ||
    (!unplaced.isEmpty &&
      (flags & RANGE_STATED) !== 0 &&
      unplaced.supersede(streets.keyOf(street), side))
  ) {
    streets.target.said(...streets.placeOf(street), {
      area: NO_AREA,
      begin: begin as DateInt,
      end: facts.endOf(end as DateInt),
    });
    return;
  }
  streets.target.side(
    streets.number(street),
    {
      from,
      to,
      flags,
      zip4,
      area,
      begin,
      end: end === 0 ? 0 : facts.endOf(end as DateInt),
    },
    vertices,
    line,
  );
}

/** Adds the ranges of a segment that lead to no tax area to those of the target. */
export function readUnplaced(
  bytes: Buffer,
  facts: SegmentFacts,
  { unplaced }: SegmentTarget,
): void {
  const nothing = (): number => 0;
  readSegment(bytes, facts, {
    unplaced,
    street: nothing,
    door: nothing,
    side: nothing,
    zips: nothing,
    said: nothing,
  });
}

class SegmentRows {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): boolean {
    return this.#at < this.#bytes.length;
  }

  u8(): number {
    this.#at += 1;
    return this.#bytes[this.#at - 1]!;
  }

  u16(): number {
    this.#at += 2;
    return this.#bytes.readUInt16LE(this.#at - 2);
  }

  u32(): number {
    this.#at += 4;
    return this.#bytes.readUInt32LE(this.#at - 4);
  }

  i32(): number {
    this.#at += 4;
    return this.#bytes.readInt32LE(this.#at - 4);
  }

  text(): string {
    const length = this.u16();
    if (length === 0) return '';
    this.#at += length;
    return this.#bytes.toString('utf8', this.#at - length, this.#at);
  }

  /** The bytes that follow their length. */
  raw(): Uint8Array {
    const length = this.u32();
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}
