/** The doors of one street, in order, with repeated addresses merged. */
import type { StreetCollection } from './street-collection.js';
import type { Door } from './street-encoding.js';

/**
 * Merges points of the same address (units, several entrances) to one door per tax area: the
 * point nearest to their middle. Where an address has doors in several areas all stay, so that a
 * lookup sees the ambiguity. `points` are row numbers of the collection, in any order.
 */
export function mergeDoors(collection: StreetCollection, points: Uint32Array): Door[] {
  const { value, text, texts, area, lat, lng, plus4 } = collection;
  const textOf = (row: number): string => texts[text.at(row)]!;
  points.sort((a, b) => value.at(a) - value.at(b)
    || (text.at(a) === text.at(b) ? 0 : textOf(a) < textOf(b) ? -1 : 1)
    || area.at(a) - area.at(b) || lat.at(a) - lat.at(b) || lng.at(a) - lng.at(b)
    || plus4.at(a) - plus4.at(b));
  const doors: Door[] = [];
  for (let from = 0; from < points.length;) {
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

/** The ZIP+4 that all rows with one agree on; units often have their own. */
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
