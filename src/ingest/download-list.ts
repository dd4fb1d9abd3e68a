/** What `situs dataset fetch` gets from publishers: one entry per file, or per state of a file. */
import { readFileSync } from 'node:fs';
import { isAbsolute, join, normalize } from 'node:path';
import { datasetsDir } from './source-files.js';

export interface Download {
  /** Where it goes below the folder asked for. */
  readonly path: string;
  readonly url: string;
  /** As published; null where the list does not say. */
  readonly bytes: number | null;
  /** 64 hexadecimal digits; null as above. */
  readonly sha256: string | null;
}

const SHA256 = /^[0-9a-f]{64}$/;
const STATE = '{fips}';

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A path that cannot leave the folder it is put below. */
function isBelow(path: string): boolean {
  const plain = normalize(path);
  return path !== '' && !isAbsolute(path) && plain !== '..' && !plain.startsWith('../');
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** The states of an entry whose path has a place for them; one empty text for any other. */
function statesOf(entry: Fields, path: string): readonly string[] {
  if (!path.includes(STATE)) return [''];
  const { states } = entry;
  return Array.isArray(states) ? states.map(String) : [];
}

function readEntry(entry: unknown, at: number): readonly Download[] {
  const wrong = (what: string): Error => new Error(`download ${at + 1}: ${what}`);
  if (!isFields(entry)) throw wrong('expected an object');
  const { path, url, bytes = null, sha256 = null } = entry;
  if (typeof path !== 'string' || !isBelow(path)) throw wrong('path must lie below the folder');
  if (typeof url !== 'string' || !isWebAddress(url)) throw wrong('url must be of http or https');
  if (bytes !== null && (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes < 0)) {
    throw wrong('bytes must be a whole number');
  }
  if (sha256 !== null && (typeof sha256 !== 'string' || !SHA256.test(sha256))) {
    throw wrong('sha256 must be 64 small hexadecimal digits');
  }
  const states = statesOf(entry, path);
  if (states.length === 0) throw wrong(`states must say what ${STATE} stands for`);
  return states.map((state) => ({
    path: path.replaceAll(STATE, state), url: url.replaceAll(STATE, state), bytes, sha256,
  }));
}

/**
 * Reads a list of downloads.
 * @throws Error naming the entry that cannot be read.
 */
export function parseDownloads(text: string): readonly Download[] {
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list)) throw new Error('a list of downloads is a JSON array');
  const downloads = list.flatMap(readEntry);
  const paths = new Set(downloads.map(({ path }) => path));
  if (paths.size < downloads.length) throw new Error('two downloads have one path');
  return downloads;
}

/** The file that lists the downloads of a recipe. */
export function downloadsFile(recipe: string): string {
  if (!/^[a-z0-9-]+$/.test(recipe)) throw new Error(`"${recipe}" is no recipe's name`);
  return join(datasetsDir(), 'recipes', `downloads-${recipe}.json`);
}

/**
 * Reads the list in a file.
 * @throws Error naming the file.
 */
export function readDownloads(file: string): readonly Download[] {
  try {
    return parseDownloads(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`no list of downloads in ${file}: ${(error as Error).message}`);
  }
}
