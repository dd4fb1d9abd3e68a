/** The address stage: doors, ranges and ZIP+4 of every source → street table and door counts. */
import type { ByteEntries } from '../../dataset/tables.js';
import { distanceMetres } from '../../geo/interpolate.js';
import type { Microdegrees } from '../../geo/microdegrees.js';
import type { DateInt } from '../../tax/date.js';
import type { AreaTuple, InternArea, PlaceFact, Progress } from '../model.js';
import { READERS } from '../readers.js';
import type { Recipe } from '../recipe.js';
import type { SourceFiles } from '../source-files.js';
import { readPoints, readRanges } from '../source/addresses.js';
import type { AddressPoint } from '../source/points.js';
import { boundaryRange, boundaryTuple } from '../source/sst-boundary.js';
import type { StateFact } from '../state-facts.js';
import type { ZipCount } from '../zip/model.js';
import { stateGazetteer } from './collection.js';
import { type StreetCounts, StreetIndexBuilder } from './index.js';
import { boundariesInForce } from './zip9.js';

/** How far a door may lie across a border from the municipality its address names, in metres. */
const MUNICIPALITY_METRES = 120;
const METRES_PER_DEGREE = 111_195;
const DIRECTIONS = 8;

export interface AddressInput {
  readonly recipe: Recipe;
  readonly files: SourceFiles;
  readonly states: readonly StateFact[];
  readonly places: readonly PlaceFact[];
  readonly areaAt: (lat: number, lng: number) => number;
  readonly tupleOf: (area: number) => AreaTuple;
  readonly intern: InternArea;
  /** District codes of the rate lists by state and publisher's code and type. */
  readonly today: DateInt;
  readonly progress: Progress;
}

export interface Addresses {
  readonly entries: ByteEntries<string>;
  readonly counts: StreetCounts;
  readonly zipCounts: readonly ZipCount[];
  /** Doors by state code. */
  readonly doors: ReadonlyMap<string, number>;
}

/**
 * Tax areas of doors. The municipality a publisher names is an authority's statement and beats a
 * simplified border, but only where that municipality lies within a street's width.
 */
class DoorSituator {
  readonly #input: AddressInput;
  readonly #names = new Map<string, readonly string[]>();

  constructor(input: AddressInput) {
    this.#input = input;
    for (const { geoid, name, fullName } of input.places) {
      this.#names.set(geoid, [name.toUpperCase(), fullName.toUpperCase()]);
    }
  }

  areaAt(lat: number, lng: number, municipality: string | undefined): number {
    const here = this.#input.areaAt(lat, lng);
    if (municipality === undefined || here < 0) return here;
    const name = municipality.toUpperCase();
    if (this.#bears(here, name)) return here;
    const reach = (MUNICIPALITY_METRES / METRES_PER_DEGREE) * 1e6;
    const stretch = 1 / Math.max(0.01, Math.cos((lat / 1e6 / 180) * Math.PI));
    for (let direction = 0; direction < DIRECTIONS; direction += 1) {
      const angle = (2 * Math.PI * direction) / DIRECTIONS;
      const area = this.#input.areaAt(Math.round(lat + reach * Math.sin(angle)),
        Math.round(lng + reach * stretch * Math.cos(angle)));
      if (area >= 0 && this.#bears(area, name)) return area;
    }
    return here;
  }

  #bears(area: number, name: string): boolean {
    const { place, town } = this.#input.tupleOf(area);
    return [place, town].some((code) => this.#names.get(code)?.includes(name) ?? false);
  }
}

class ZipCounter {
  readonly #counts = new Map<string, { zip: number; tuple: AreaTuple; count: number }>();
  readonly doors = new Map<string, number>();

  constructor(readonly tupleOf: (area: number) => AreaTuple) {}

  add(point: AddressPoint, area: number): void {
    this.doors.set(point.state, (this.doors.get(point.state) ?? 0) + 1);
    if (point.zip === '' || area < 0) return;
    const key = `${point.zip}|${area}`;
    const known = this.#counts.get(key);
    if (known !== undefined) known.count += 1;
    else this.#counts.set(key, { zip: Number(point.zip), tuple: this.tupleOf(area), count: 1 });
  }

  list(): readonly ZipCount[] {
    return [...this.#counts].sort((one, other) => (one[0] < other[0] ? -1 : 1))
      .map(([, count]) => count);
  }
}

async function addBoundaryRecords(input: AddressInput, builder: StreetIndexBuilder): Promise<void> {
  for (const source of input.recipe.sst) {
    const records = [];
    const path = input.files.note(source.file);
    for await (const record of READERS.sst.read(path)) records.push(record);
    for (const record of boundariesInForce(records, input.today)) {
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
  const { recipe, files, progress } = input;
  const situator = new DoorSituator(input);
  const counter = new ZipCounter(input.tupleOf);
  const areaAt = (lat: number, lng: number, municipality: string | undefined): number =>
    situator.areaAt(lat, lng, municipality);
  const builder = new StreetIndexBuilder(areaAt, stateGazetteer(input.states));
  const total = recipe.points.length + recipe.ranges.length + recipe.sst.length;
  let done = 0;
  for (const source of recipe.points) {
    files.note(source.file);
    for await (const point of readPoints(dirOf(files, source.file), source)) {
      builder.addPoint(point);
      counter.add(point, areaAt(point.lat, point.lng, point.municipality || undefined));
    }
    progress('addresses', done += 1, total);
  }
  for (const source of recipe.ranges) {
    files.note(source.file);
    for await (const range of readRanges(dirOf(files, source.file), source)) {
      builder.addRange(range);
    }
    progress('addresses', done += 1, total);
  }
  await addBoundaryRecords(input, builder);
  if (recipe.sst.length > 0) progress('addresses', total, total);
  return {
    entries: [...builder.entries()], counts: builder.counts, zipCounts: counter.list(),
    doors: counter.doors,
  };
}

/** The folder that a path is resolved against. */
function dirOf(files: SourceFiles, path: string): string {
  return files.resolve(path).slice(0, -path.length);
}

// Doors on piers and shores lie outside simplified boundaries: the nearest area is theirs.

/** Rings around a door on which land is looked for. */
const RINGS_METRES = [60, 150, 300, 600, 1000];
const SHORE_DIRECTIONS = 16;
/** Metres from the equator to a millionth of a degree north of it. */
const MICRODEGREE_METRES = distanceMetres(0, 0, 1, 0);

type Locate = (lat: Microdegrees, lng: Microdegrees) => number;

/**
 * The area of a spot, or of the land nearest to it when it lies in none; −1 where there is none
 * near, or where the nearest ring touches several.
 */
export function areaAshore(lat: Microdegrees, lng: Microdegrees, locate: Locate): number {
  const here = locate(lat, lng);
  if (here >= 0) return here;
  const east = Math.max(0.01, Math.cos((lat / 1e6) * (Math.PI / 180)));
  for (const metres of RINGS_METRES) {
    const reach = metres / MICRODEGREE_METRES;
    let found = -1;
    for (let direction = 0; direction < SHORE_DIRECTIONS; direction += 1) {
      const angle = (2 * Math.PI * direction) / SHORE_DIRECTIONS;
      const area = locate(
        Math.round(lat + reach * Math.sin(angle)),
        Math.round(lng + (reach / east) * Math.cos(angle)),
      );
      if (area < 0) continue;
      if (found >= 0 && found !== area) return -1;
      found = area;
    }
    if (found >= 0) return found;
  }
  return -1;
}
