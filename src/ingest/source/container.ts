/**
 * Reads publishers' files in the form in which they come: plain, gzipped, a member of a zip
 * archive, or a sheet of a workbook. A file with other contents (such as a page "not found", or a
 * PDF) is refused by name.
 */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { readPdf } from './pdf-cells.js';
import { sheetText } from './workbook.js';
import { fileError, splitMember, UNPACK_RATIO_MAX, zipMember } from './zip.js';

const CHUNK_BYTES = 1 << 18;
/** Largest text that is held in memory; readers of larger lists take them in pieces. */
const TEXT_BYTES_MAX = 256 * 1_048_576;
const GZIP_FREE_BYTES = 64 * 1_048_576;

const ZIP = /\.zip$/i;
const WORKBOOK = /\.xlsx$/i;
const PDF = /\.pdf$/i;
/** Names of files that hold text. */
const TEXT = /\.(?:csv|txt|tsv|geojson|json|topojson)(?:\.gz)?$/i;

/** Whether a path stands for all matching files of a folder, such as "la-rates/*.html". */
export function isMany(path: string): boolean {
  return splitMember(path).file.includes('*');
}

/** Whether a recipe's file has to be unpacked asynchronously before its text is available. */
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
    // If the caller stops reading, only the decompression would end, so the file is closed here.
    file.destroy();
  }
}

/** What a file is by its first bytes, if it is not text; null for text. */
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
 * Yields the bytes of a file after decompression: "FILE", "FILE.gz", "FILE.zip" with a single
 * table, or "FILE.zip!MEMBER".
 * @throws Error with the file and the reason: empty, damaged, not what its name says, too large.
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

/** The bytes that `readBytes` yields, as a Readable. */
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

/** Text of bytes: UTF-8 or otherwise Windows-1252, which older publishers use. */
export function textOf(bytes: Buffer): string {
  return utf8Of(bytes) ?? WINDOWS_1252.decode(bytes);
}

/** Text of bytes in UTF-8; null for other bytes. */
export function utf8Of(bytes: Buffer): string | null {
  try {
    return UTF_8.decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Text of a packed file. Of a workbook it is a sheet as comma-separated rows, of a PDF what
 * pdf-cells describes.
 */
export async function readPacked(path: string): Promise<string> {
  const { file, member } = splitMember(path);
  if (WORKBOOK.test(file)) return sheetText(file, member);
  return PDF.test(file) ? readPdf(file) : textOf(await readWhole(path));
}

/** The visible text of web pages. */

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

/** Text of HTML with its entities replaced by characters; unknown ones are kept. */
export function withoutEntities(text: string): string {
  return text.replaceAll(/&(#?\w+);/g, character);
}

/**
 * The text of HTML without tags, scripts and styles, with entities replaced and white space as
 * single blanks.
 */
export function pageText(html: string): string {
  return withoutEntities(html.replaceAll(UNSEEN, ' ').replaceAll(TAG, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim();
}
