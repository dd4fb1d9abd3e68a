/**
 * What a state's boundary file says of a ZIP+4 and of a ZIP: tax areas by day.
 *
 * ZIP+4s of a ZIP: u16 ranges · per range, ascending: u16 low, u16 high, u32 where its periods are
 * ZIP:             u32 where the second periods are · periods of the ZIP's own record · periods of
 *                  everything that is stated in the ZIP
 * periods:         u16 count · per period: u32 first day, u32 last day, u16 areas, u32 area each;
 *                  they do not overlap
 */
import type { DateInt } from '../tax/date.js';

const RANGE_BYTES = 8;
const PERIOD_HEAD_BYTES = 10;

/** What a state's boundary file states for a ZIP on a day. */
export interface StatedZip {
  /**
   * Areas of the ZIP's own record; more than one only where records of one day contradict each
   * other.
   */
  readonly own: readonly number[];
  /** Areas of everything stated within the ZIP, which includes its ZIP+4s and streets. */
  readonly all: readonly number[];
}

const NONE: readonly number[] = [];

function u16(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8);
}

function u32(bytes: Uint8Array, at: number): number {
  return u16(bytes, at) + u16(bytes, at + 2) * 65_536;
}

/** The areas of the period that contains the day; empty where none does. */
function areasOn(bytes: Uint8Array, from: number, day: DateInt): readonly number[] {
  let at = from + 2;
  for (let left = u16(bytes, from); left > 0; left -= 1) {
    const count = u16(bytes, at + 8);
    if (day >= u32(bytes, at) && day <= u32(bytes, at + 4)) {
      return Array.from({ length: count }, (_, index) =>
        u32(bytes, at + PERIOD_HEAD_BYTES + index * 4),
      );
    }
    at += PERIOD_HEAD_BYTES + count * 4;
  }
  return NONE;
}

/** The areas stated for an add-on (0 to 9999) of a ZIP on a day; empty where none are. */
export function areasOfAddOn(bytes: Uint8Array, addOn: number, day: DateInt): readonly number[] {
  let low = 0;
  let high = u16(bytes, 0);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (u16(bytes, 2 + middle * RANGE_BYTES + 2) < addOn) low = middle + 1;
    else high = middle;
  }
  const at = 2 + low * RANGE_BYTES;
  if (low === u16(bytes, 0) || u16(bytes, at) > addOn) return NONE;
  return areasOn(bytes, u32(bytes, at + 4), day);
}

export function areasOfZip(bytes: Uint8Array, day: DateInt): StatedZip {
  return { own: areasOn(bytes, 4, day), all: areasOn(bytes, u32(bytes, 0), day) };
}
