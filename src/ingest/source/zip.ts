/**
 * Members of zip archives as bytes: found by name, checked by size and CRC-32, and decompressed as
 * they are read, so that any archive needs little memory.
 */
import * as zlib from 'node:zlib';
import { type Entry, openPromise, type ZipFile } from 'yauzl';

/** Members with fewer bytes may be compressed to any extent. */
const RATIO_FREE_BYTES = 64 * 1_048_576;
/** Largest ratio of decompressed to compressed bytes of other members; boundary files reach 60. */
export const UNPACK_RATIO_MAX = 250;
/** Most members of an archive. */
const MEMBERS_MAX = 100_000;

/** The parts of a recipe's path. */
interface MemberPath {
  readonly file: string;
  /** Name of a member, or of a workbook's sheet, with * for any text; null where there is none. */
  readonly member: string | null;
}

/** Splits "FILE.zip!MEMBER" or "FILE.xlsx!SHEET"; any other path is a file. */
export function splitMember(path: string): MemberPath {
  const [, file = path, member = null] = /^(.*?\.(?:zip|xlsx))!(.+)$/is.exec(path) ?? [];
  return { file, member };
}

/** An error whose message already names the file. */
export class FileError extends Error {
  constructor(
    readonly file: string,
    message: string,
  ) {
    super(message);
  }
}

/** The error for a file, with its path and the reason. An error that names the file is kept. */
export function fileError(path: string, reason: unknown): FileError {
  if (reason instanceof FileError && reason.file.startsWith(path)) return reason;
  const text = reason instanceof Error ? reason.message : String(reason);
  return new FileError(path, `${path}: ${text}`);
}

/** The regular expression for a name with * for any text, in any case. */
export function nameExpression(pattern: string): RegExp {
  const escaped = pattern.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
  return new RegExp(`^${escaped}$`, 'is');
}

function baseName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** Whether a member is the publisher's, rather than of the program that made the archive. */
function isContent(name: string): boolean {
  return !name.endsWith('/') && !name.startsWith('__MACOSX/') && !baseName(name).startsWith('.');
}

/** Endings of tables. Without a member's name the table is meant, rather than notes beside it. */
const TABLE = /\.(?:csv|txt|tsv|geojson|json)$/i;
const NOTES = /^read_?me\b/i;

/** The member that is meant, of which there must be only one. */
function chosen(file: string, entries: readonly Entry[], member: string | null): Entry {
  const content = entries.filter(({ fileName }) => isContent(fileName));
  const named = (list: readonly Entry[]): string =>
    list
      .slice(0, 6)
      .map(({ fileName }) => fileName)
      .join(', ') || 'none';
  if (member === null) {
    const tables = content.filter(
      ({ fileName }) => TABLE.test(fileName) && !NOTES.test(baseName(fileName)),
    );
    const one = content.length === 1 ? content : tables;
    if (one.length === 1) return one[0]!;
    throw fileError(
      file,
      `it has ${content.length} members (${named(content)}); ` +
        `say which one: ${baseName(file)}!MEMBER`,
    );
  }
  const expression = nameExpression(member);
  const found = content.filter(
    ({ fileName }) => expression.test(fileName) || expression.test(baseName(fileName)),
  );
  if (found.length === 1) return found[0]!;
  throw fileError(
    file,
    found.length === 0
      ? `it has no member "${member}", but: ${named(content)}`
      : `"${member}" fits several members: ${named(found)}`,
  );
}

/** Reads the directory of an archive. */
async function entriesOf(file: string, zip: ZipFile): Promise<readonly Entry[]> {
  if (zip.entryCount > MEMBERS_MAX) {
    throw fileError(file, `it has more than ${MEMBERS_MAX} members`);
  }
  const entries: Entry[] = [];
  for await (const entry of zip.eachEntry()) entries.push(entry);
  return entries;
}

function refuseUnreadable(file: string, entry: Entry): void {
  const { fileName, uncompressedSize, compressedSize } = entry;
  if (entry.isEncrypted()) throw fileError(file, `${fileName} is encrypted`);
  if (uncompressedSize > RATIO_FREE_BYTES && uncompressedSize > compressedSize * UNPACK_RATIO_MAX) {
    throw fileError(
      file,
      `${fileName} would unpack to ${uncompressedSize} bytes, more than ` +
        `${UNPACK_RATIO_MAX} times its ${compressedSize}`,
    );
  }
}

/** CRC-32; Node.js has it from 20.15 on. Older versions only check the size. */
const crc32 = 'crc32' in zlib ? zlib.crc32 : null;

async function* unpacked(file: string, zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  let sum = 0;
  // The library reports an error when the member has more or fewer bytes than the directory says.
  for await (const chunk of await zip.openReadStreamPromise(entry)) {
    const bytes = chunk as Buffer;
    if (crc32 !== null) sum = crc32(bytes, sum);
    yield bytes;
  }
  if (crc32 !== null && sum !== entry.crc32) {
    throw fileError(file, `the bytes of ${entry.fileName} are not those that were packed (CRC-32)`);
  }
}

/** Names of an archive's members. @throws Error with the file where its directory is torn. */
export async function memberNames(file: string): Promise<readonly string[]> {
  let zip: ZipFile | null = null;
  try {
    zip = await openPromise(file, { autoClose: false, lazyEntries: true });
    return (await entriesOf(file, zip)).map(({ fileName }) => fileName);
  } catch (error) {
    throw fileError(file, error);
  } finally {
    zip?.close();
  }
}

/** Whether an archive has a member with this name. @throws Error as `memberNames`. */
export async function hasMember(file: string, member: string): Promise<boolean> {
  const expression = nameExpression(member);
  return (await memberNames(file)).some(
    (name) => isContent(name) && (expression.test(name) || expression.test(baseName(name))),
  );
}

/**
 * Yields the bytes of a member: the one that `member` matches by its path or last part or, without
 * that, the only member or only table.
 * @throws Error with the file and the reason: no zip archive, damaged, encrypted, no such member,
 * several, or a size beyond UNPACK_RATIO_MAX.
 */
export async function* zipMember(file: string, member: string | null): AsyncGenerator<Buffer> {
  let zip: ZipFile | null = null;
  try {
    zip = await openPromise(file, { autoClose: false, lazyEntries: true });
    const entry = chosen(file, await entriesOf(file, zip), member);
    refuseUnreadable(file, entry);
    yield* unpacked(file, zip, entry);
  } catch (error) {
    throw fileError(file, error);
  } finally {
    zip?.close();
  }
}
