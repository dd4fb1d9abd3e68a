/**
 * Publishers' files as they come: plain, gzipped, a member of a zip archive, or a sheet of a
 * workbook. What a file is not (a page that says "not found", a PDF) is refused with its name.
 */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { readPdf } from './pdf-cells.js';
import { sheetText } from './workbook.js';
import { fileError, splitMember, UNPACK_RATIO_MAX, zipMember } from './zip.js';

const CHUNK_BYTES = 1 << 18;
/** Largest text that is held whole; larger lists have readers that take them in pieces. */
const TEXT_BYTES_MAX = 256 * 1_048_576;
const GZIP_FREE_BYTES = 64 * 1_048_576;

const ZIP = /\.zip$/i;
const WORKBOOK = /\.xlsx$/i;
const PDF = /\.pdf$/i;
/** Names of files that hold text. */
const TEXT = /\.(?:csv|txt|tsv|geojson|json|topojson)(?:\.gz)?$/i;

/** Whether a path stands for each file of a folder whose name fits, such as "la-rates/*.html". */
export function isMany(path: string): boolean {
  return splitMember(path).file.includes('*');
}

/** Whether a path of a recipe has to be unpacked as a stream before its text is there. */
export function isPacked(path: string): boolean {
  const { file } = splitMember(path);
  return ZIP.test(file) || WORKBOOK.test(file) || PDF.test(file) || isMany(file);
}

async function* gunzipped(path: string): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  const unpacked = createGunzip({ chunkSize: CHUNK_BYTES });
  file.on('error', (error) => unpacked.destroy(error));
  let bytes = 0;
  try {
    for await (const chunk of file.pipe(unpacked)) {
      bytes += (chunk as Buffer).length;
      if (bytes > GZIP_FREE_BYTES && bytes > file.bytesRead * UNPACK_RATIO_MAX) {
        throw new Error(`it unpacks to more than ${UNPACK_RATIO_MAX} times its bytes`);
      }
      yield chunk as Buffer;
    }
  } finally {
    // Who reads no further ends the unpacking alone.
    file.destroy();
  }
}

/** What the first bytes of a text are, where they are none; null for text. */
export function foreign(first: Buffer): string | null {
  const head = first.subarray(0, 512).toString('latin1');
  if (head.startsWith('PK\x03\x04')) return 'it is a zip archive or a workbook, not text';
  if (head.startsWith('%PDF')) return 'it is a PDF, not a table';
  if (head.startsWith('\x1f\x8b')) return 'it is gzipped, and its name does not say so';
  if (/^[\s\u00ef\u00bb\u00bf]*<(?:!doctype\s+html|html)\b/i.test(head)) {
    return 'it is a web page, not a table: the publisher answered with one';
  }
  return null;
}

async function* checked(
  path: string,
  chunks: AsyncIterable<unknown>,
  text: boolean,
): AsyncGenerator<Buffer> {
  let first = true;
  for await (const chunk of chunks) {
    const bytes = chunk as Buffer;
    if (bytes.length === 0) continue;
    const problem = first && text ? foreign(bytes) : null;
    if (problem !== null) throw fileError(path, problem);
    first = false;
    yield bytes;
  }
  if (first) throw fileError(path, 'it is empty');
}

/**
 * Yields the bytes of a file, unpacked: "FILE", "FILE.gz", "FILE.zip" with one table in it, or
 * "FILE.zip!MEMBER".
 * @throws Error with the file and the reason: empty, torn, not what its name says, too large.
 */
export async function* readBytes(path: string): AsyncGenerator<Buffer> {
  const { file, member } = splitMember(path);
  try {
    if (ZIP.test(file)) yield* checked(file, zipMember(file, member), TEXT.test(member ?? '.csv'));
    else if (file.endsWith('.gz')) yield* checked(file, gunzipped(file), TEXT.test(file));
    else {
      const chunks = createReadStream(file, { highWaterMark: CHUNK_BYTES });
      yield* checked(file, chunks, TEXT.test(file));
    }
  } catch (error) {
    throw fileError(file, error);
  }
}

/** The unpacked bytes of a file as a stream, of whatever `readBytes` reads. */
export function openText(path: string): Readable {
  return Readable.from(readBytes(path), { objectMode: false, highWaterMark: CHUNK_BYTES });
}

/** All bytes of a file, unpacked. */
export async function readWhole(path: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of readBytes(path)) {
    bytes += chunk.length;
    if (bytes > TEXT_BYTES_MAX) throw fileError(path, `it has more than ${TEXT_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });
const WINDOWS_1252 = new TextDecoder('windows-1252');

/** Text of bytes: UTF-8, or Windows-1252 where they are none, as older publishers write. */
export function textOf(bytes: Buffer): string {
  return utf8Of(bytes) ?? WINDOWS_1252.decode(bytes);
}

/** Text of bytes that are UTF-8; null for others. */
export function utf8Of(bytes: Buffer): string | null {
  try {
    return UTF_8.decode(bytes);
  } catch {
    return null;
  }
}

/** Text of a packed file; a workbook's sheet as comma-separated rows, a PDF's as pdf-cells says. */
export async function readPacked(path: string): Promise<string> {
  const { file, member } = splitMember(path);
  if (WORKBOOK.test(file)) return sheetText(file, member);
  return PDF.test(file) ? readPdf(file) : textOf(await readWhole(path));
}

/** What people read on a web page. */

const UNSEEN = /<(script|style|head)\b.*?<\/\1\s*>|<!--.*?-->/gis;
const TAG = /<[^>]*>/g;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  quot: '"',
  apos: "'",
  lt: '<',
  gt: '>',
  nbsp: ' ',
  rsquo: '’',
  lsquo: '‘',
  ndash: '–',
  mdash: '—',
  sect: '§',
};

function character(whole: string, name: string): string {
  const [, hex, number] = /^#(?:x([\da-f]+)|(\d+))$/i.exec(name) ?? [];
  const code = hex === undefined ? Number(number ?? NaN) : Number.parseInt(hex, 16);
  if (Number.isInteger(code) && code <= 0x10ffff) return String.fromCodePoint(code);
  return ENTITIES[name.toLowerCase()] ?? whole;
}

/** Text of HTML with the characters that its entities stand for; unknown ones are left. */
export function withoutEntities(text: string): string {
  return text.replaceAll(/&(#?\w+);/g, character);
}

/** The text of HTML: without tags, scripts and styles, entities read, blanks of any kind as one. */
export function pageText(html: string): string {
  return withoutEntities(html.replaceAll(UNSEEN, ' ').replaceAll(TAG, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim();
}
