/** Writes one street of a group, in the layout of dataset/street-format.ts. */
import {
  FLAG_APART,
  FLAG_STATED,
  FLAG_TEXTS,
  FLAG_WIDE_NUMBERS,
  FLAG_WIDE_POINTS,
  FLAG_ZIP4,
} from '../../dataset/street-format.js';
import { directionCode } from '../../dataset/street-index.js';
import { type NearLine, areApart } from './apart.js';
import type { ByteSink } from './bytes.js';
import type { StreetCollection } from './collection.js';
import { type SideColumns, writeSide } from './sides.js';
import type { DoorFacts } from './stated.js';

export interface StreetHead {
  readonly pre: string;
  readonly suffix: string;
  readonly post: string;
  readonly label: string;
  readonly city: number;
  readonly municipality: number;
}

const U16_MAX = 0xffff;

/**
 * Writes a street. Doors ascend by value; `sides` are row numbers in `columns`, by house number.
 */
export function writeStreet(
  sink: ByteSink,
  head: StreetHead,
  doors: readonly DoorFacts[],
  columns: SideColumns,
  sides: Uint32Array,
  nearLine: NearLine,
): void {
  const areas = areaPalette(doors, columns, sides);
  const south = doors.reduce((least, door) => Math.min(least, door.lat), doors[0]?.lat ?? 0);
  const west = doors.reduce((least, door) => Math.min(least, door.lng), doors[0]?.lng ?? 0);
  const wideNumbers = doors.some((door) => door.value > U16_MAX);
  const widePoints = doors.some((door) => door.lat - south > U16_MAX || door.lng - west > U16_MAX);
  const hasZip4 = doors.some((door) => door.plus4 > 0);
  const hasTexts = doors.some((door) => door.text !== '');
  const suffix = Buffer.from(head.suffix.slice(0, 255), 'latin1');
  const label = Buffer.from(head.label, 'utf8').subarray(0, 255);
  const start = sink.length;
  sink.u32(0);
  sink.u32(doors.length);
  sink.u16(sides.length);
  sink.u16(areas.length);
  sink.u16(head.city);
  sink.u16(head.municipality);
  sink.i32(south);
  sink.i32(west);
  sink.u8(directionCode(head.pre));
  sink.u8(directionCode(head.post));
  sink.u8(
    (wideNumbers ? FLAG_WIDE_NUMBERS : 0) |
      (widePoints ? FLAG_WIDE_POINTS : 0) |
      (hasZip4 ? FLAG_ZIP4 : 0) |
      (hasTexts ? FLAG_TEXTS : 0) |
      (sides.some((side) => columns.isStated(side)) ? FLAG_STATED : 0) |
      (areApart(doors, nearLine) ? FLAG_APART : 0),
  );
  sink.u8(suffix.length);
  sink.u8(label.length);
  sink.raw(suffix);
  sink.raw(label);
  for (const area of areas) sink.u32(area);
  for (const door of doors) wideNumbers ? sink.u32(door.value) : sink.u16(door.value);
  for (const door of doors) widePoints ? sink.u32(door.lat - south) : sink.u16(door.lat - south);
  for (const door of doors) widePoints ? sink.u32(door.lng - west) : sink.u16(door.lng - west);
  if (areas.length > 1) for (const door of doors) sink.u16(areas.indexOf(door.area));
  if (hasZip4) for (const door of doors) sink.u16(door.plus4);
  if (hasTexts) writeTexts(sink, doors);
  for (const side of sides) writeSide(sink, columns, side, areas);
  sink.patchU32(start, sink.length - start);
}

function areaPalette(
  doors: readonly DoorFacts[],
  columns: SideColumns,
  sides: Uint32Array,
): readonly number[] {
  const areas = new Set<number>();
  for (const door of doors) areas.add(door.area);
  for (const side of sides) if (columns.area(side) >= 0) areas.add(columns.area(side));
  return [...areas].sort((a, b) => a - b);
}

function writeTexts(sink: ByteSink, doors: readonly DoorFacts[]): void {
  const offsets = new Map<string, number>();
  const texts: Uint8Array[] = [];
  let size = 1;
  for (const { text } of doors) {
    if (text === '' || offsets.has(text)) continue;
    const bytes = Buffer.from(text.slice(0, 32), 'latin1');
    if (size + bytes.length + 1 > U16_MAX) continue;
    offsets.set(text, size);
    texts.push(bytes);
    size += bytes.length + 1;
  }
  for (const { text } of doors) sink.u16(text === '' ? 0 : (offsets.get(text) ?? 0));
  sink.u16(size);
  sink.u8(0);
  for (const bytes of texts) {
    sink.u8(bytes.length);
    sink.raw(bytes);
  }
}

// The doors of one street in order, with repeated addresses merged.

/**
 * Merges points of one address (units, several entrances) into one door for each tax area: the
 * point nearest to their middle. Doors in several areas all stay, so that lookups see the
 * ambiguity. `points` are row numbers of the collection, in any order.
 */
export function mergeDoors(collection: StreetCollection, points: Uint32Array): DoorFacts[] {
  const { value, text, texts, area, lat, lng, plus4 } = collection;
  const textOf = (row: number): string => texts[text.at(row)]!;
  points.sort(
    (a, b) =>
      value.at(a) - value.at(b) ||
      (text.at(a) === text.at(b) ? 0 : textOf(a) < textOf(b) ? -1 : 1) ||
      area.at(a) - area.at(b) ||
      lat.at(a) - lat.at(b) ||
      lng.at(a) - lng.at(b) ||
      plus4.at(a) - plus4.at(b),
  );
  const doors: DoorFacts[] = [];
  for (let from = 0; from < points.length; ) {
    const first = points[from]!;
    let to = from + 1;
    while (to < points.length && isSameDoor(collection, first, points[to]!)) to += 1;
    const middle = nearestToMiddle(collection, points.subarray(from, to));
    doors.push({
      value: value.at(first),
      text: textOf(first),
      lat: lat.at(middle),
      lng: lng.at(middle),
      area: area.at(first),
      plus4: commonPlus4(collection, points.subarray(from, to)),
    });
    from = to;
  }
  return doors;
}

function isSameDoor({ value, text, area }: StreetCollection, a: number, b: number): boolean {
  return value.at(a) === value.at(b) && text.at(a) === text.at(b) && area.at(a) === area.at(b);
}

function nearestToMiddle({ lat, lng }: StreetCollection, rows: Uint32Array): number {
  if (rows.length === 1) return rows[0]!;
  let north = 0;
  let east = 0;
  for (const row of rows) {
    north += lat.at(row);
    east += lng.at(row);
  }
  let best = rows[0]!;
  let least = Infinity;
  for (const row of rows) {
    const far = (lat.at(row) - north / rows.length) ** 2 + (lng.at(row) - east / rows.length) ** 2;
    if (far < least) {
      best = row;
      least = far;
    }
  }
  return best;
}

/** The ZIP+4 on which all rows with one agree; units often have their own. */
function commonPlus4({ plus4 }: StreetCollection, rows: Uint32Array): number {
  let common = 0;
  for (const row of rows) {
    const own = plus4.at(row);
    if (own === 0 || own === common) continue;
    if (common !== 0) return 0;
    common = own;
  }
  return common;
}
