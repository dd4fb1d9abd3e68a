/**
 * Lines of a shapefile with some of their fields. The .shp and the .dbf file are read in parallel,
 * and only what is asked for is decoded.
 */
import { existsSync, readFileSync } from 'node:fs';
import { toMicrodegrees } from '../../geo/microdegrees.js';
import { readBytes } from './container.js';
import { fileError, hasMember, splitMember, zipMember } from './zip.js';

/*
 * Where the parts of a shapefile lie, and whether its coordinates are degrees.
 */

const ZIP = /\.zip$/i;
const SHP = /\.shp$/i;

/** A part of a shapefile by its ending: a path of its own, or of the archive's member. */
export function partOf(path: string, ending: string): string {
  const { file, member } = splitMember(path);
  if (!ZIP.test(file)) return file.replace(SHP, ending);
  return `${file}!${member === null ? `*${ending}` : member.replace(SHP, ending)}`;
}

/** Text of a small part of a shapefile; "" where it is missing. */
export async function partText(path: string): Promise<string> {
  const { file, member } = splitMember(path);
  if (member === null) return existsSync(path) ? readFileSync(path, 'latin1') : '';
  if (!(await hasMember(file, member))) return '';
  let text = '';
  for await (const chunk of zipMember(file, member)) text += chunk.toString('latin1');
  return text;
}

/**
 * Checks that coordinates are degrees, as lines are published.
 * @throws Error where they are metres or feet of a projection.
 */
async function checkDegrees(path: string): Promise<void> {
  const [, projection] = /^\s*PROJCS\["([^"]*)"/.exec(await partText(partOf(path, '.prj'))) ?? [];
  if (projection === undefined) return;
  throw fileError(
    path,
    `its coordinates are those of ${projection}, not degrees; ` +
      "convert it to EPSG:4326 or take the publisher's file in degrees",
  );
}

/** Whether a path is that of a shapefile. */
export function isShapes(path: string): boolean {
  const { file, member } = splitMember(path);
  return SHP.test(member ?? file) || (ZIP.test(file) && member === null);
}

const SHP_HEAD_BYTES = 100;
const SHP_CODE = 9994;
const RECORD_HEAD_BYTES = 8;
/** Types of polylines: plain, and with heights or measures, which follow the vertices. */
const LINE_TYPES = [3, 13, 23];
/** Type, box, number of parts, number of vertices, first vertex of the first part. */
const LINE_HEAD_BYTES = 48;
const DBF_HEAD_BYTES = 32;
const DBF_FIELD_BYTES = 32;
const DBF_FIELDS_END = 0x0d;
const SPACE = 32;
const DELETED = 42;

/** Reads bytes that arrive in pieces, in lengths that the caller chooses. */
class ByteReader {
  readonly #pieces: AsyncIterator<Buffer>;
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(pieces: AsyncIterable<Buffer>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  /** Whether this many bytes have arrived. If not, `fill` waits for them. */
  has(count: number): boolean {
    return this.#bytes.length - this.#at >= count;
  }

  /** Waits for this many bytes; false when there are fewer. */
  async fill(count: number): Promise<boolean> {
    while (!this.has(count)) {
      const { done, value } = await this.#pieces.next();
      if (done === true) return false;
      const rest = this.#bytes.subarray(this.#at);
      this.#bytes = rest.length === 0 ? value : Buffer.concat([rest, value]);
      this.#at = 0;
    }
    return true;
  }

  /** A view of the next bytes, which `has` or `fill` must have confirmed. */
  take(count: number): Buffer {
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  async end(): Promise<void> {
    await this.#pieces.return?.();
  }
}

interface Field {
  readonly at: number;
  readonly bytes: number;
}

/** One feature, which the next one overwrites. */
export class LineShape {
  #record: Buffer = Buffer.alloc(0);
  #shape: Buffer = Buffer.alloc(0);
  readonly #fields: readonly Field[];

  constructor(fields: readonly Field[]) {
    this.#fields = fields;
  }

  set(record: Buffer, shape: Buffer): this {
    this.#record = record;
    this.#shape = shape;
    return this;
  }

  /** Text of a field without surrounding blanks, by its index among those asked for. */
  text(index: number): string {
    const { at, bytes } = this.#fields[index]!;
    const record = this.#record;
    let from = at;
    let to = at + bytes;
    while (to > from && record[to - 1] === SPACE) to -= 1;
    while (from < to && record[from] === SPACE) from += 1;
    if (from === to) return '';
    for (let byte = from; byte < to; byte += 1) {
      if (record[byte]! > 127) return record.toString('utf8', from, to).trim();
    }
    return record.toString('latin1', from, to).trim();
  }

  /** Microdegrees: lat, lng, lat, lng …; empty where there is no line, or one of several parts. */
  line(): number[] {
    const shape = this.#shape;
    if (shape.length < LINE_HEAD_BYTES || shape.readInt32LE(36) !== 1) return [];
    const vertices = shape.readInt32LE(40);
    const line: number[] = [];
    for (let vertex = 0; vertex < vertices; vertex += 1) {
      const at = LINE_HEAD_BYTES + vertex * 16;
      line.push(toMicrodegrees(shape.readDoubleLE(at + 8)), toMicrodegrees(shape.readDoubleLE(at)));
    }
    return line;
  }
}

interface Table {
  readonly records: number;
  readonly recordBytes: number;
  readonly fields: readonly Field[];
}

async function readTableHead(dbf: ByteReader, names: readonly string[]): Promise<Table> {
  if (!(await dbf.fill(DBF_HEAD_BYTES))) throw new Error('the .dbf file has no header');
  const head = dbf.take(DBF_HEAD_BYTES);
  const [records, headBytes] = [head.readUInt32LE(4), head.readUInt16LE(8)];
  const recordBytes = head.readUInt16LE(10);
  const rest = headBytes - DBF_HEAD_BYTES;
  if (rest < 1 || recordBytes < 1 || !(await dbf.fill(rest))) {
    throw new Error('the header of the .dbf file is cut short');
  }
  const columns = dbf.take(rest);
  const found = new Map<string, Field>();
  let at = 1;
  for (let start = 0; start + DBF_FIELD_BYTES <= rest; start += DBF_FIELD_BYTES) {
    if (columns[start] === DBF_FIELDS_END) break;
    const name = columns
      .toString('latin1', start, start + 11)
      .replace(/\0.*$/s, '')
      .trim();
    const bytes = columns[start + 16]!;
    found.set(name, { at, bytes });
    at += bytes;
  }
  const fields = names.map((name) => {
    const field = found.get(name);
    if (field === undefined) throw new Error(`the .dbf file has no column "${name}"`);
    return field;
  });
  return { records, recordBytes, fields };
}

async function readShapeHead(shp: ByteReader): Promise<number> {
  if (!(await shp.fill(SHP_HEAD_BYTES))) throw new Error('the .shp file has no header');
  const head = shp.take(SHP_HEAD_BYTES);
  if (head.readInt32BE(0) !== SHP_CODE) throw new Error('this is no .shp file');
  const type = head.readInt32LE(32);
  if (!LINE_TYPES.includes(type)) throw new Error(`shapes of type ${type} are no lines`);
  return type;
}

/**
 * Yields the features of a shapefile of lines; each overwrites the one before.
 * @throws Error when a column is missing, the two files differ in length, or one is incomplete.
 */
async function* lineShapes(
  shpBytes: AsyncIterable<Buffer>,
  dbfBytes: AsyncIterable<Buffer>,
  names: readonly string[],
): AsyncGenerator<LineShape> {
  const [shp, dbf] = [new ByteReader(shpBytes), new ByteReader(dbfBytes)];
  try {
    const { records, recordBytes, fields } = await readTableHead(dbf, names);
    const type = await readShapeHead(shp);
    const feature = new LineShape(fields);
    for (let index = 0; index < records; index += 1) {
      if (!dbf.has(recordBytes) && !(await dbf.fill(recordBytes))) throw cutShort(index, records);
      if (!shp.has(RECORD_HEAD_BYTES) && !(await shp.fill(RECORD_HEAD_BYTES))) {
        throw cutShort(index, records);
      }
      const bytes = shp.take(RECORD_HEAD_BYTES).readInt32BE(4) * 2;
      if (bytes < 4) throw new Error(`shape ${index + 1} has no content`);
      if (!shp.has(bytes) && !(await shp.fill(bytes))) throw cutShort(index, records);
      const shape = shp.take(bytes);
      const own = shape.readInt32LE(0);
      if (own !== 0 && own !== type) throw new Error(`shape ${index + 1} is of type ${own}`);
      const record = dbf.take(recordBytes);
      if (record[0] !== DELETED) yield feature.set(record, shape);
    }
    if (await shp.fill(RECORD_HEAD_BYTES)) throw new Error('there are more shapes than records');
  } finally {
    await Promise.all([shp.end(), dbf.end()]);
  }
}

function cutShort(index: number, records: number): Error {
  return new Error(`the file is cut short: ${index} of ${records} features`);
}

/** Yields the features of "NAME.shp" and of the "NAME.dbf" beside it, or of "NAME.zip". */
export async function* readLineShapes(
  path: string,
  names: readonly string[],
): AsyncGenerator<LineShape> {
  await checkDegrees(path);
  try {
    yield* lineShapes(readBytes(partOf(path, '.shp')), readBytes(partOf(path, '.dbf')), names);
  } catch (error) {
    throw fileError(path, error);
  }
}
