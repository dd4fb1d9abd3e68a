/**
 * Synthetic nations: source files in publishers' formats, of any size, to measure how a build
 * grows.
 *
 * Real are the ZIPs with their post offices, counties and points (GeoNames), and the population of
 * each state (2020 census), by which the rows are divided among the states. Assumed is this: within
 * a state, a ZIP has rows in proportion to one more than the number of ZIPs of its city, so that
 * large cities are denser; a street has about 24 doors and 6 blocks in one ZIP; doors lie along
 * straight streets within about 3 km of their ZIP's point. Names are made from few words. Boundary
 * files have one ZIP record for each ZIP; of the rest a quarter are address ranges, on the streets
 * of the doors, and the others ZIP+4s. A fifth of all records have ended and were followed by
 * another; a third of the rows are in a district. The same sizes and seed give the same files.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readCatalogue } from '../../src/ingest/publisher/catalogue.js';
import { LineFileWriter, PieceWriter } from './shapefile.js';
import {
  generator,
  grouped,
  readNation,
  spread,
  type State,
  type Street,
  streetsIn,
} from './streets.js';

interface NationSize {
  /** How many doors, in one file for each state. */
  readonly points: number;
  /** How many features with ranges on both sides, in one shapefile for each county. */
  readonly ranges: number;
  /** How many records of boundary files, in one file for each state that publishes one. */
  readonly records: number;
  readonly seed: number;
}

/** Entries of a recipe for the written files. */
export interface NationFiles {
  readonly points: readonly (NationFile & { readonly layout: string })[];
  readonly ranges: readonly (NationFile & { readonly layout: string })[];
  readonly sst: readonly NationFile[];
}

interface NationFile {
  readonly file: string;
  readonly source: string;
  readonly state: string;
  readonly tolerance?: string;
}

/** In percent: streets around a ZIP's point may lie in a lake or abroad. */
const TOLERANCE = '60';

const DOORS_A_STREET = 24;
const BLOCKS_A_STREET = 6;
/** Microdegrees between two doors. */
const DOOR_STEP = 220;
const TIGER_COLUMNS = [
  ['FULLNAME', 100],
  ['LFROMHN', 12],
  ['LTOHN', 12],
  ['RFROMHN', 12],
  ['RTOHN', 12],
  ['ZIPL', 5],
  ['ZIPR', 5],
  ['PARITYL', 1],
  ['PARITYR', 1],
  ['PLUS4L', 4],
  ['PLUS4R', 4],
  ['OFFSETL', 1],
  ['OFFSETR', 1],
].map(([name, width]) => ({ name: String(name), width: Number(width) }));
const SST_COLUMNS = 89;

function degrees(micro: number): string {
  return (micro / 1e6).toFixed(6);
}

function writePoints(path: string, state: State, count: number, seed: number): void {
  const random = generator(seed);
  const file = new PieceWriter(path);
  file.add(Buffer.from('LON,LAT,NUMBER,STREET,UNIT,CITY,DISTRICT,REGION,POSTCODE,ID,HASH\n'));
  spread(state.zips, count, (zip, own) => {
    const zipText = String(zip.zip).padStart(5, '0');
    const next = streetsIn(zip, seed);
    for (let left = own; left > 0; left -= DOORS_A_STREET) {
      const { name, lat, lng, first } = next();
      let text = '';
      for (let door = 0; door < Math.min(left, DOORS_A_STREET); door += 1) {
        const unit = random(9) === 0 ? `APT ${random(20) + 1}` : '';
        text +=
          `${degrees(lng + door * DOOR_STEP)},${degrees(lat + (door % 2) * 200)},` +
          `${first + door * 2 + (door % 2)},${name},${unit},${zip.name},,${state.code},` +
          `${zipText},,\n`;
      }
      file.add(Buffer.from(text));
    }
  });
  file.end();
}

function writeRanges(path: string, zips: State['zips'], count: number, seed: number): void {
  const random = generator(seed);
  const file = new LineFileWriter(path, TIGER_COLUMNS);
  spread(zips, count, (zip, own) => {
    const zipText = String(zip.zip).padStart(5, '0');
    const next = streetsIn(zip, seed);
    let street = next();
    for (let block = 0; block < own; block += 1) {
      if (block % BLOCKS_A_STREET === 0 && block > 0) street = next();
      const { name, lat } = street;
      const first = street.first + (block % BLOCKS_A_STREET) * 100;
      const lng = street.lng + (block % BLOCKS_A_STREET) * 2_700;
      const line = [0, 1, 2, 3].map(
        (step) => [(lng + step * 900) / 1e6, (lat + random(200)) / 1e6] as const,
      );
      file.add(
        [
          name,
          String(first),
          String(first + 48),
          String(first + 1),
          String(first + 49),
          zipText,
          zipText,
          'O',
          'E',
          '',
          '',
          'N',
          'N',
        ],
        line,
      );
    }
  });
  file.end();
}

type Columns = Readonly<Record<number, string | number>>;

/** Days of records: most have no end, and some have ended and were followed by another. */
const OPEN: Columns = { 2: '20240101', 3: '99991231' };
const ENDED: readonly Columns[] = [{ 2: '20200101', 3: '20231231' }, OPEN];

function record(columns: Columns): string {
  return `${Array.from({ length: SST_COLUMNS }, (_, at) => columns[at + 1] ?? '').join(',')}\n`;
}

/** An address range with all numbers of a street. */
function numbersOf({ name, first }: Street): Columns {
  const end = name.lastIndexOf(' ');
  return {
    4: first,
    5: first + 2 * DOORS_A_STREET,
    6: 'B',
    8: name.slice(0, end),
    9: name.slice(end + 1),
  };
}

/** Writes boundary records of a state; `seed` is that of its doors. */
function writeRecords(path: string, state: State, count: number, seed: number): void {
  const random = generator(seed + 999);
  const file = new PieceWriter(path);
  spread(state.zips, count, (zip, own) => {
    const zipText = String(zip.zip).padStart(5, '0');
    const held = { 23: state.fips, 24: state.fips, 25: zip.county.slice(2) };
    const steps = Math.max(1, Math.floor(9_990 / own));
    const next = streetsIn(zip, seed);
    const isWhole = own > 1;
    let text = isWhole ? record({ 1: 'Z', ...OPEN, ...held, 18: zipText, 20: zipText }) : '';
    for (let row = isWhole ? 1 : 0; row < own; row += 1) {
      const district =
        random(3) === 0 ? { 30: 'ST', 31: String(80_000 + random(4)), 32: '63' } : {};
      const low = ((row * steps) % 9_990) + 1;
      const what: Columns =
        random(4) === 0
          ? { 1: 'A', ...numbersOf(next()), 16: zipText }
          : { 1: '4', 18: zipText, 19: low, 20: zipText, 21: low + random(steps) };
      for (const days of random(5) === 0 && row + 1 < own ? ENDED : [OPEN]) {
        text += record({ ...what, ...days, ...held, ...district });
        if (days === ENDED[0]) row += 1;
      }
    }
    file.add(Buffer.from(text));
  });
  file.end();
}

/** The states that publish boundary files, according to the catalogue. */
function memberStates(): ReadonlySet<string> {
  const source = readCatalogue().find(({ name }) => name === 'sst-boundaries');
  return new Set((source?.states ?? []).map((state) => state.slice(0, 2)));
}

/** Writes the files below `folder`, and returns the entries of a recipe for them. */
export function writeNation(folder: string, size: NationSize): NationFiles {
  const nation = readNation();
  for (const name of ['points', 'ranges', 'sst'])
    mkdirSync(join(folder, name), { recursive: true });
  const total = nation.reduce((sum, { share }) => sum + share, 0);
  const members = memberStates();
  const shareOfMembers = nation
    .filter(({ code }) => members.has(code))
    .reduce((sum, { share }) => sum + share, 0);
  const points: NationFiles['points'][number][] = [];
  const ranges: NationFiles['ranges'][number][] = [];
  const sst: NationFiles['sst'][number][] = [];
  nation.forEach((state, index) => {
    const { code } = state;
    const seed = size.seed * 100_000 + index * 1000;
    const share = (count: number): number => Math.round((count * state.share) / total);
    if (share(size.points) > 0) {
      const file = `points/${code.toLowerCase()}.csv`;
      writePoints(join(folder, file), state, share(size.points), seed);
      points.push({
        file,
        layout: 'openaddresses',
        source: 'nation-points',
        state: code,
        tolerance: TOLERANCE,
      });
    }
    const counties = grouped(state.zips, ({ county }) => county);
    const weights = state.zips.reduce((sum, { weight }) => sum + weight, 0);
    [...counties.keys()].sort().forEach((county, at) => {
      const own = counties.get(county)!;
      const count = Math.round(
        (share(size.ranges) * own.reduce((sum, { weight }) => sum + weight, 0)) / weights,
      );
      if (count === 0) return;
      writeRanges(join(folder, `ranges/${county}`), own, count, seed + 1 + at);
      ranges.push({
        file: `ranges/${county}.shp`,
        layout: 'tiger-addrfeat',
        source: 'nation-ranges',
        state: code,
        tolerance: TOLERANCE,
      });
    });
    const records = Math.round((size.records * state.share) / shareOfMembers);
    if (members.has(code) && records > 0) {
      const file = `sst/${code.toLowerCase()}.csv`;
      writeRecords(join(folder, file), state, records, seed);
      sst.push({ file, state: code, source: 'nation-records', tolerance: TOLERANCE });
    }
  });
  return { points, ranges, sst };
}
