/** The address stage: doors, ranges and ZIP+4 of every source → street table and door counts. */
import type { ByteEntries } from '../../dataset/tables.js';
import type { DateInt } from '../../tax/date.js';
import type { AreaTuple, InternArea, PlaceFact, Progress } from '../model.js';
import type { Recipe } from '../recipe.js';
import type { SourceFiles } from '../source-files.js';
import { readPoints, readRanges, readRecords, type Report } from '../source/addresses.js';
import type { AddressPoint } from '../source/points.js';
import {
  boundariesInForce, type BoundaryRecord, boundaryRange, boundaryTuple,
} from '../source/sst-boundary.js';
import type { StateFact } from '../state-facts.js';
import type { ZipCount } from '../zip/model.js';
import { type StreetCounts, StreetIndexBuilder } from './index.js';
import { type AreaNames, DoorSituator } from './situate.js';
import { stateGazetteer } from './spelling.js';

export interface AddressInput {
  readonly recipe: Recipe;
  readonly files: SourceFiles;
  readonly states: readonly StateFact[];
  readonly places: readonly PlaceFact[];
  readonly areaAt: (lat: number, lng: number) => number;
  /** What was interned so far, by id. */
  readonly tuples: () => readonly AreaTuple[];
  readonly intern: InternArea;
  /** District codes of the rate lists by state and publisher's code and type. */
  readonly today: DateInt;
  readonly progress: Progress;
  /** Takes a sentence on the rows of each file that fell away. */
  readonly report: Report;
}

export interface Addresses {
  readonly entries: ByteEntries<string>;
  readonly counts: StreetCounts;
  readonly zipCounts: readonly ZipCount[];
  /** Doors by state code. */
  readonly doors: ReadonlyMap<string, number>;
}

/** Names of places and of what lies in the tax areas so far. */
export function areaNames({ places, tuples }: AddressInput): AreaNames {
  return {
    municipalities: tuples().map(({ place, town }) => [place, town] as const),
    names: new Map(places.map(({ geoid, name, fullName }) =>
      [geoid, [name.toUpperCase(), fullName.toUpperCase()]])),
  };
}

class ZipCounter {
  readonly #counts = new Map<string, { zip: number; tuple: AreaTuple; count: number }>();
  readonly doors = new Map<string, number>();

  constructor(readonly tuples: readonly AreaTuple[]) {}

  add(point: AddressPoint, area: number): void {
    this.doors.set(point.state, (this.doors.get(point.state) ?? 0) + 1);
    if (point.zip === '' || area < 0) return;
    const key = `${point.zip}|${area}`;
    const known = this.#counts.get(key);
    if (known !== undefined) known.count += 1;
    else this.#counts.set(key, { zip: Number(point.zip), tuple: this.tuples[area]!, count: 1 });
  }

  list(): readonly ZipCount[] {
    return [...this.#counts].sort((one, other) => (one[0] < other[0] ? -1 : 1))
      .map(([, count]) => count);
  }
}

async function addBoundaryRecords(input: AddressInput, builder: StreetIndexBuilder): Promise<void> {
  for (const source of input.recipe.sst) {
    const path = input.files.note(source.file);
    let report = input.report;
    const read = (): AsyncIterable<BoundaryRecord> => {
      const records = readRecords(path, source, report);
      // A second reading has nothing new to tell.
      report = () => undefined;
      return records;
    };
    for await (const record of boundariesInForce(read, input.today)) {
      if (record.kind === 'zip5' || !record.stateTaxed || record.county === '') continue;
      const area = input.intern(boundaryTuple(record, (district) => district.code));
      if (record.kind === 'zip9') {
        builder.addZip9({ ...record, state: source.state, area });
      } else {
        const range = boundaryRange(record, area, source.state, source.source);
        if (range !== null) builder.addRange(range);
      }
    }
  }
}

/** Reads every address source of the recipe. */
export async function buildAddresses(input: AddressInput): Promise<Addresses> {
  const { recipe, files, progress, report } = input;
  const situator = new DoorSituator(input.areaAt, areaNames(input));
  const counter = new ZipCounter(input.tuples());
  const areaAt = (lat: number, lng: number, municipality: string | undefined): number =>
    situator.areaAt(lat, lng, municipality ?? '');
  const builder = new StreetIndexBuilder(areaAt, stateGazetteer(input.states));
  const total = recipe.points.length + recipe.ranges.length + recipe.sst.length;
  let done = 0;
  for (const source of recipe.points) {
    files.note(source.file);
    for await (const point of readPoints(dirOf(files, source.file), source, report)) {
      builder.addPoint(point);
      counter.add(point, areaAt(point.lat, point.lng, point.municipality || undefined));
    }
    progress('addresses', done += 1, total);
  }
  for (const source of recipe.ranges) {
    files.note(source.file);
    for await (const range of readRanges(dirOf(files, source.file), source, report)) {
      builder.addRange(range);
    }
    progress('addresses', done += 1, total);
  }
  await addBoundaryRecords(input, builder);
  if (recipe.sst.length > 0) progress('addresses', total, total);
  return {
    entries: builder.entries(), counts: builder.counts, zipCounts: counter.list(),
    doors: counter.doors,
  };
}

/** The folder that a path is resolved against. */
function dirOf(files: SourceFiles, path: string): string {
  return files.resolve(path).slice(0, -path.length);
}
