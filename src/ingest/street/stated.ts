/** Doors and ranges as sources state them, and the interface that receives them. */
import { parseHouseNumber } from '../../address/house-number.js';
import { RANGE_STATED, RANGE_UNITS } from '../../dataset/street-format.js';
import { DATE_OPEN } from '../../tax/date.js';
import type { AddressPoint } from '../source/points.js';
import type { StreetRange } from '../source/ranges.js';
import { ByteSink } from './bytes.js';
import { type SideFacts, sideFlags, writeLine } from './sides.js';

/** A door, without its street. */
export interface DoorFacts {
  readonly value: number;
  /** The number as written where it is more than its integer; otherwise "". */
  readonly text: string;
  readonly lat: number;
  readonly lng: number;
  readonly area: number;
  /** ZIP+4 add-on plus 1; 0 for none. */
  readonly plus4: number;
}

/** Receives streets, with what lies along them. */
export interface StreetSink {
  /** Number of a street, valid until a door or side is added; −1 when it is none. */
  street(state: string, zip: string, city: string, municipality: string, text: string): number;
  door(street: number, door: DoorFacts): void;
  side(street: number, facts: SideFacts, vertices: number, line: Uint8Array): void;
}

/** A longer text is no name, but rows joined by a stray quote. Lengths are stored in 16 bits. */
const NAME_CHARS_MAX = 1_000;
const VERTICES_MAX = 65_535;

/** Adds a door; false when its number or street cannot be read. */
export function addDoor(sink: StreetSink, point: AddressPoint, area: number): boolean {
  const number = parseHouseNumber(point.number);
  if (number === null) return false;
  const { state, zip, city, municipality } = point;
  if (city.length + municipality.length + point.street.length > NAME_CHARS_MAX) return false;
  const street = sink.street(state, zip, city, municipality, point.street);
  if (street < 0) return false;
  // Grid numbers ("N12W3456") have no order. They come first and are found by their text.
  const value = Math.max(0, number.value);
  sink.door(street, {
    value,
    text: number.number === String(value) ? '' : number.number,
    lat: point.lat,
    lng: point.lng,
    area,
    plus4: point.zip4 === '' ? 0 : Number(point.zip4) + 1,
  });
  return true;
}

/** Adds sides of ranges; false when their street cannot be read. */
export class SideWriter {
  readonly #line = new ByteSink();

  add(sink: StreetSink, range: StreetRange, right: boolean, area: number): boolean {
    const side = right ? range.right : range.left;
    if (side === null) return false;
    const { state, city, municipality, geometry, begin, end = DATE_OPEN, units = false } = range;
    if (
      city.length + municipality.length + range.street.length > NAME_CHARS_MAX ||
      geometry.length > 2 * VERTICES_MAX
    )
      return false;
    const street = sink.street(state, side.zip, city, municipality, range.street);
    if (street < 0) return false;
    this.#line.clear();
    writeLine(this.#line, geometry);
    sink.side(
      street,
      {
        from: side.from,
        to: side.to,
        flags:
          sideFlags(side, right) | (begin === null ? 0 : RANGE_STATED) | (units ? RANGE_UNITS : 0),
        zip4: side.zip4 === '' ? 0 : Number(side.zip4) + 1,
        area,
        begin: begin ?? 0,
        end: begin === null ? 0 : end,
      },
      geometry.length / 2,
      this.#line.view(0, this.#line.length),
    );
    return true;
  }
}
