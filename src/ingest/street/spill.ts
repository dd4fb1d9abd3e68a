/**
 * Doors, sides and ZIP+4 ranges on their way from the readers to the shards they belong to: a file
 * of segments. A segment holds rows of one shard and every street they name, so that it can be read
 * alone. A shard is a state's streets in ZIPs of the same first three digits, or without a ZIP.
 *
 * segment: 1, state, ZIP, city, municipality, street (texts) · numbered from 0 in the segment
 *          2, u32 street, u32 number, text, i32 lat, i32 lng, u32 area, u16 ZIP+4 and 1
 *          3, u32 street, u32 from, u32 to, u8 flags, u16 ZIP+4 and 1, i32 area, u32 begin,
 *             u32 end, u16 vertices, u32 bytes, line
 *          4 or 5 (ZIP+4s or whole ZIPs), state, u32 and u32 ZIPs, u16 and u16 add-ons, u32 area,
 *             u32 begin, u32 end
 *          6 (some doors of a ZIP), state, u32 ZIP, u32 area, u32 begin, u32 end
 * text:    u16 bytes, UTF-8
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { extendPair, type Pair, PairTable } from './believed.js';
import { ByteSink } from './bytes.js';
import { isLed } from './collection.js';
import type { Statement } from './periods.js';
import type { SideFacts } from './sides.js';
import type { Spellings } from './source-names.js';
import type { DoorFacts, StreetSink } from './stated.js';
import { isSound, lastZip, type ZipRange } from './stated-zips.js';

/** Kinds of rows. */
export const STREET = 1;
export const DOOR = 2;
export const SIDE = 3;
export const ZIP9 = 4;
export const ZIP5 = 5;
export const SAID = 6;

/** The shard of a state's streets without a ZIP. */
export const NO_ZIP = '---';
const ZIPS_A_SHARD = 100;

/** State and the first three digits of the ZIP, or NO_ZIP. */
export function shardOf(state: string, zip: number): string {
  return `${state}${zip > 0 ? String(Math.floor(zip / ZIPS_A_SHARD)).padStart(3, '0') : NO_ZIP}`;
}

/** The range of ZIPs of successive shards in a state; empty for the shard without ZIPs. */
export function zipsOf(shards: readonly string[]): {
  readonly first: number;
  readonly last: number;
} {
  const digits = shards.map((shard) => shard.slice(-NO_ZIP.length));
  if (digits.includes(NO_ZIP)) return { first: 1, last: 0 };
  return {
    first: Number(digits[0]) * ZIPS_A_SHARD,
    last: (Number(digits[digits.length - 1]) + 1) * ZIPS_A_SHARD - 1,
  };
}

/** The position of a segment in its file. */
export interface Segment {
  readonly shard: string;
  readonly at: number;
  readonly bytes: number;
}

interface Street {
  readonly sink: ByteSink;
  readonly id: number;
  readonly pair: Pair | null;
}

/** Used as the last street where there is none yet; no state has this name. */
const NO_STREET = { state: '-', zip: '', city: '', municipality: '', text: '', id: -1 };

/**
 * Writes segments. Memory stays below `budget` bytes of rows, plus what their streets take. The
 * file is made with the first segment.
 */
export class SpillWriter implements StreetSink {
  readonly segments: Segment[] = [];
  readonly pairs = new PairTable();
  /** States and folded names of the localities of its streets. */
  readonly localities = new Set<string>();
  readonly #path: string;
  #fd = -1;
  readonly #spellings: Spellings;
  readonly #budget: number;
  readonly #shardOf: typeof shardOf;
  readonly #ids = new Map<string, number>();
  #streets: Street[] = [];
  #shards = new Map<string, { readonly sink: ByteSink; streets: number }>();
  #waiting = 0;
  #at = 0;
  #last = NO_STREET;

  constructor(path: string, spellings: Spellings, budget: number, of = shardOf) {
    this.#path = path;
    this.#spellings = spellings;
    this.#budget = budget;
    this.#shardOf = of;
  }

  street(state: string, zip: string, city: string, municipality: string, text: string): number {
    // In most files, doors of a street follow one another.
    const last = this.#last;
    if (
      text === last.text &&
      zip === last.zip &&
      city === last.city &&
      municipality === last.municipality &&
      state === last.state
    )
      return last.id;
    const id = this.#idOf(state, zip, city, municipality, text);
    this.#last = { state, zip, city, municipality, text, id };
    return id;
  }

  #idOf(state: string, zip: string, city: string, municipality: string, text: string): number {
    const key = `${state}|${zip}|${city}|${municipality}|${text}`;
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    let id = -1;
    if (isLed(zip, city, municipality) && this.#spellings.street(text) !== null) {
      const shard = this.#shard(this.#shardOf(state, Number(zip)));
      const { sink } = shard;
      sink.u8(STREET);
      for (const part of [state, zip, city, municipality, text]) writeText(sink, part);
      const town = this.#spellings.locality(municipality);
      id = this.#streets.length;
      this.#streets.push({
        sink,
        id: shard.streets,
        pair: this.pairs.of(state, town, Number(zip)),
      });
      shard.streets += 1;
      if (municipality !== '') this.localities.add(`${state}|${town}`);
      if (city !== '') this.localities.add(`${state}|${this.#spellings.locality(city)}`);
      this.#waiting += key.length * 2;
    }
    this.#ids.set(key, id);
    return id;
  }

  door(street: number, door: DoorFacts): void {
    const { sink, id, pair } = this.#streets[street]!;
    const before = sink.length;
    sink.u8(DOOR);
    sink.u32(id);
    sink.u32(door.value);
    writeText(sink, door.text);
    sink.i32(door.lat);
    sink.i32(door.lng);
    sink.u32(door.area);
    sink.u16(door.plus4);
    if (pair !== null) {
      pair.doors += 1;
      extendPair(pair, door.lat, door.lng);
    }
    this.#count(sink.length - before);
  }

  side(street: number, facts: SideFacts, vertices: number, line: Uint8Array): void {
    const { sink, id, pair } = this.#streets[street]!;
    const before = sink.length;
    sink.u8(SIDE);
    sink.u32(id);
    sink.u32(facts.from);
    sink.u32(facts.to);
    sink.u8(facts.flags);
    sink.u16(facts.zip4);
    sink.i32(facts.area);
    sink.u32(facts.begin);
    sink.u32(facts.end);
    sink.u16(vertices);
    sink.u32(line.length);
    sink.raw(line);
    if (pair !== null) pair.doors += 1;
    this.#count(sink.length - before);
  }

  /** Writes a range to every shard in which it has ZIPs; false where its ends are not valid. */
  zips(range: ZipRange): boolean {
    if (!isSound(range)) return false;
    const last = lastZip(range);
    for (let zip = range.zipLow; zip <= last; zip += ZIPS_A_SHARD - (zip % ZIPS_A_SHARD)) {
      const { sink } = this.#shard(this.#shardOf(range.state, Math.max(zip, 1)));
      const before = sink.length;
      sink.u8(range.kind === 'zip5' ? ZIP5 : ZIP9);
      writeText(sink, range.state);
      sink.u32(range.zipLow);
      sink.u32(range.zipHigh);
      sink.u16(range.plus4Low);
      sink.u16(range.plus4High);
      sink.u32(range.area);
      sink.u32(range.begin);
      sink.u32(range.end);
      this.#waiting += sink.length - before;
    }
    this.#count(0);
    return true;
  }

  /** Writes what is stated for some doors of a ZIP without a range of numbers or add-ons. */
  said(state: string, zip: number, { area, begin, end }: Statement): void {
    const { sink } = this.#shard(this.#shardOf(state, zip));
    const before = sink.length;
    sink.u8(SAID);
    writeText(sink, state);
    for (const value of [zip, area, begin, end]) sink.u32(value);
    this.#count(sink.length - before);
  }

  /** Writes the remaining rows and closes the file. */
  end(): void {
    try {
      this.#flush();
    } finally {
      if (this.#fd >= 0) closeSync(this.#fd);
    }
  }

  #shard(name: string): { readonly sink: ByteSink; streets: number } {
    let shard = this.#shards.get(name);
    if (shard === undefined) {
      shard = { sink: new ByteSink(), streets: 0 };
      this.#shards.set(name, shard);
    }
    return shard;
  }

  #count(bytes: number): void {
    this.#waiting += bytes;
    if (this.#waiting > this.#budget) this.#flush();
  }

  #flush(): void {
    if (this.#fd < 0 && this.#shards.size > 0) this.#fd = openSync(this.#path, 'w');
    for (const [shard, { sink }] of this.#shards) {
      const bytes = sink.view(0, sink.length);
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at);
      this.segments.push({ shard, at: this.#at, bytes: bytes.length });
      this.#at += bytes.length;
    }
    this.#shards = new Map();
    this.#streets = [];
    this.#ids.clear();
    this.#last = NO_STREET;
    this.#spellings.clear();
    this.#waiting = 0;
  }
}

function writeText(sink: ByteSink, text: string): void {
  const bytes = Buffer.from(text, 'utf8');
  sink.u16(bytes.length);
  sink.raw(bytes);
}
