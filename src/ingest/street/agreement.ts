/** Where a state's boundary file differs from the boundaries, for doors and ZIPs. */
import type { StateFileCoverage } from '../../dataset/manifest.js';
import type { ZipRecord } from '../../dataset/records.js';
import { RANGE_EVEN, RANGE_ODD, RANGE_UNITS } from '../../dataset/street-format.js';
import { DATE_OPEN, type DateInt, formatDate } from '../../tax/date.js';
import type { StreetCollection } from './collection.js';
import type { FinalStreet } from './order.js';
import type { RecordCounts } from './boundary-records.js';
import type { SideFacts } from './sides.js';

/** The comparison of one state's file with the boundaries on a day. */
export interface StatedFindings {
  /**
   * Doors whose number one of its address ranges holds, and below how many of them it places
   * elsewhere.
   */
  doors: number;
  doorsElsewhere: number;
  /** Areas that it states in each ZIP. */
  readonly zips: (readonly [zip: number, areas: readonly number[]])[];
}

/**
 * The comparison for one state's files, with the number of their records that lead to a tax area.
 */
export interface StatedCounts extends StatedFindings, RecordCounts {
  lastDay: DateInt;
}

/** Sums the files of a state. */
export function addFile(
  into: StatedCounts,
  more: RecordCounts & { readonly lastDay: DateInt },
): void {
  for (const kind of ['sides', 'zip9', 'zip5'] as const) into[kind] += more[kind];
  if (more.lastDay > into.lastDay) into.lastDay = more.lastDay;
}

function isSame(one: FinalStreet, other: FinalStreet): boolean {
  return (
    one.zip === other.zip &&
    one.town === other.town &&
    one.fold === other.fold &&
    one.suffix === other.suffix &&
    one.pre === other.pre &&
    one.post === other.post
  );
}

/** Groups streets that differ only in the names of their place; these are next to each other. */
function* sameStreets(streets: readonly FinalStreet[]): Generator<readonly FinalStreet[]> {
  let group: FinalStreet[] = [];
  for (const street of streets) {
    if (group.length > 0 && !isSame(street, group[0]!)) {
      yield group;
      group = [];
    }
    group.push(street);
  }
  if (group.length > 0) yield group;
}

function holds({ from, to, flags }: SideFacts, value: number): boolean {
  if (value < Math.min(from, to) || value > Math.max(from, to)) return false;
  if ((flags & RANGE_ODD) !== 0) return value % 2 === 1;
  return (flags & RANGE_EVEN) === 0 || value % 2 === 0;
}

/** The area stated for a number: by the latest range, then the shortest; −1 for none. */
function areaOf(sides: readonly SideFacts[], value: number): number {
  let best: SideFacts | null = null;
  for (const side of sides) {
    if (!holds(side, value)) continue;
    const later =
      best === null
        ? 1
        : side.begin - best.begin || Math.abs(best.to - best.from) - Math.abs(side.to - side.from);
    if (later > 0) best = side;
  }
  return best?.area ?? -1;
}

/** Whether a street of the file may be the one with the doors: it names no other city. */
function isOf(stated: FinalStreet, { city, municipality }: FinalStreet): boolean {
  return city === 0 || [0, city, municipality].includes(stated.city);
}

/** Compares doors with the areas that are stated for their numbers on a day. */
export function compareDoors(
  { sides, value, area }: StreetCollection,
  streets: readonly FinalStreet[],
  day: DateInt,
): Pick<StatedFindings, 'doors' | 'doorsElsewhere'> {
  const found = { doors: 0, doorsElsewhere: 0 };
  for (const group of sameStreets(streets)) {
    if (group.every((street) => street.sides.length === 0)) continue;
    const stated = group
      .map(
        (street) =>
          [
            street,
            [...street.sides]
              .filter((row) => sides.isStated(row))
              .map((row) => sides.facts(row))
              .filter(
                ({ begin, end, flags }) =>
                  begin <= day && end >= day && (flags & RANGE_UNITS) === 0,
              ),
          ] as const,
      )
      .filter(([, own]) => own.length > 0);
    if (stated.length === 0) continue;
    for (const street of group) {
      const said = stated.flatMap(([other, own]) => (isOf(other, street) ? own : []));
      for (const door of street.points) {
        const own = areaOf(said, value.at(door));
        if (own < 0) continue;
        found.doors += 1;
        if (own !== area.at(door)) found.doorsElsewhere += 1;
      }
    }
  }
  return found;
}

/** Adds up the findings of several shards or files of a state. */
export function addFindings(into: StatedFindings, more: StatedFindings): void {
  into.doors += more.doors;
  into.doorsElsewhere += more.doorsElsewhere;
  into.zips.push(...more.zips);
}

/** For the coverage: the size of a state's file, and how much of it differs from the boundaries. */
export function stateFileCoverage(
  stated: StatedCounts,
  zips: ReadonlyMap<number, ZipRecord>,
): StateFileCoverage {
  const elsewhere = stated.zips.filter(([zip, areas]) => {
    const record = zips.get(zip);
    const drawn = new Set(
      [...(record?.parts ?? []), ...(record?.reach ?? [])].map(({ area }) => area),
    );
    return areas.some((area) => !drawn.has(area));
  });
  const { sides, zip9, zip5, doors, doorsElsewhere, lastDay } = stated;
  return {
    until: lastDay === DATE_OPEN ? '' : formatDate(lastDay),
    ranges: sides,
    zip9,
    zip5,
    doors,
    doorsElsewhere,
    zips: stated.zips.length,
    zipsElsewhere: elsewhere.length,
  };
}

/** Sentences on a state's file, for the gaps of its coverage; `today` as YYYY-MM-DD. */
export function stateFileGaps(file: StateFileCoverage, today: string): readonly string[] {
  const { until, doors, doorsElsewhere, zips, zipsElsewhere } = file;
  const told: string[] = [];
  if (until !== '' && until < today) told.push(`the state's boundary file ended on ${until}`);
  const moved = [
    ...(doorsElsewhere === 0 ? [] : [`${doorsElsewhere} of ${doors} doors`]),
    ...(zipsElsewhere === 0 ? [] : [`${zipsElsewhere} of ${zips} ZIPs`]),
  ];
  if (moved.length > 0) {
    told.push(
      `the state's boundary file has ${moved.join(' and ')} elsewhere than the boundaries, ` +
        'and is followed',
    );
  }
  return told;
}
