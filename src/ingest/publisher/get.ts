/** Gets the newest file of a source into a folder, with a record of it. */
import { closeSync, existsSync, mkdirSync, openSync, readSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { foreign, pageText, textOf, withoutEntities } from '../source/container.js';
import { monthOf } from '../source/workbook.js';
import { memberNames } from '../source/zip.js';
import type { Source, Wanted } from './catalogue.js';
import type { FetchRecord } from './fetched-folder.js';
import { dropPart, reasonOf, Refusal, transfer, type TransferOptions } from './transfer.js';

/** Links on publishers' pages and in directories, and the newest of those with a matching name. */

const LINK = /<a\b[^>]*?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/gis;

/** A link whose name matches. */
export interface Link {
  readonly url: string;
  /** Last part of its address, without a slash at its end. */
  readonly name: string;
  /** Groups of the expression: year, quarter, month, day. */
  readonly named: Readonly<Record<string, string | undefined>>;
}

/** Addresses that a page links to, in order; other links are left out. */
export function linksOf(html: string, base: string): readonly string[] {
  return [...html.matchAll(LINK)].flatMap(([, double, single, bare]) => {
    const text = withoutEntities((double ?? single ?? bare ?? '').trim());
    return URL.canParse(text, base) ? [new URL(text, base).href] : [];
  });
}

/** Last part of an address, decoded. */
function nameOf(url: string): string {
  const part = new URL(url).pathname.replace(/\/$/, '').split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function number(text: string | undefined): number {
  return text === undefined ? 0 : Number(text);
}

/**
 * Year, quarter, month and day of a link's name, where months may be words and years may have two
 * digits.
 */
function ageOf({ named }: Link): readonly number[] {
  const year = number(named['year']);
  const month = monthOf(named['month'] ?? '');
  return [
    year < 100 && year > 0 ? year + 2000 : year,
    number(named['quarter']),
    month || number(named['month']),
    number(named['day']),
  ];
}

/** First day that a link's name stands for, as YYYYMMDD; 0 where it has no year. */
export function firstDayOf(link: Link): number {
  const [year = 0, quarter = 0, month = 0, day = 0] = ageOf(link);
  if (year === 0) return 0;
  return year * 10_000 + (month || Math.max(1, quarter * 3 - 2)) * 100 + (day || 1);
}

/** Links whose names match an expression, newest first; equal ones in the order of the page. */
export function newestLinks(urls: readonly string[], expression: string): readonly Link[] {
  const pattern = new RegExp(expression, 'i');
  const links = urls.flatMap((url): readonly Link[] => {
    const name = nameOf(url);
    const found = pattern.exec(name);
    return found === null ? [] : [{ url, name, named: { ...found.groups } }];
  });
  return links.sort((one, other) => {
    const [mine, theirs] = [ageOf(one), ageOf(other)];
    const at = mine.findIndex((value, index) => value !== theirs[index]);
    return at < 0 ? 0 : (theirs[at] ?? 0) - (mine[at] ?? 0);
  });
}

/** Largest page that is searched for links. */
const PAGE_BYTES_MAX = 16 * 1_048_576;
/** How many older links are tried if the newest one leads to nothing yet. */
const OLDER_MAX = 2;
const NAME = /^[A-Za-z0-9][\w.,()-]*$/;
const HEAD_BYTES = 512;

export interface GetOptions extends TransferOptions {
  readonly folder: string;
  /** Whether to get a file even if the publisher says that it has not changed. */
  readonly again: boolean;
  /** YYYY-MM-DD. */
  readonly today: string;
  /** Pages that were already searched for links, since many sources share one. */
  readonly pages?: Map<string, string>;
}

/** The outcome for a file. */
export interface Got {
  readonly kind: 'fetched' | 'same' | 'renamed';
  readonly record: FetchRecord;
  /** Name of the file at the publisher. */
  readonly name: string;
}

/** Gets a page without storing it. @throws Error with the reason. */
async function readPage(url: string, options: GetOptions): Promise<Buffer> {
  const target = join(options.folder, '.page');
  dropPart(target);
  try {
    const got = await transfer(url, target, null, {
      ...options,
      bytesMax: PAGE_BYTES_MAX,
      progress: () => undefined,
    });
    if (got.kind !== 'whole') return Buffer.alloc(0);
    const bytes = Buffer.alloc(got.bytes);
    const file = openSync(got.part, 'r');
    readSync(file, bytes, 0, got.bytes, 0);
    closeSync(file);
    return bytes;
  } finally {
    dropPart(target);
  }
}

/** Addresses of the newest file, and of older ones in case the newest does not exist yet. */
async function candidates(wanted: Wanted, options: GetOptions): Promise<readonly string[]> {
  const { url, links: listed, link = '', below, begun = false } = wanted.find ?? {};
  if (url !== undefined) return [url];
  if (listed === undefined) return [];
  const links = listed.replaceAll('{now}', options.today.slice(0, 4));
  const { pages = new Map<string, string>() } = options;
  const text = pages.get(links) ?? (await readPage(links, options)).toString('latin1');
  pages.set(links, text);
  const all = newestLinks(linksOf(text, links), link);
  const today = Number(options.today.replaceAll('-', ''));
  const now = begun ? all.filter((each) => firstDayOf(each) <= today) : all;
  const found = now.length === 0 ? all : now;
  if (found.length === 0) throw new Error(`no link of ${links} is named as ${link}`);
  if (below === undefined) return [found[0]!.url];
  const at = ({ url: base, named }: Link): string =>
    new URL(below.replaceAll('{year}', named['year'] ?? ''), base.replace(/\/?$/, '/')).href;
  return found.slice(0, 1 + OLDER_MAX).map(at);
}

/** Why a file's bytes do not fit its name; null where they do. */
async function faultOf(part: string, name: string): Promise<string | null> {
  const head = Buffer.alloc(HEAD_BYTES);
  const file = openSync(part, 'r');
  const bytes = readSync(file, head, 0, HEAD_BYTES, 0);
  closeSync(file);
  if (bytes === 0) return 'it is empty';
  const first = head.subarray(0, bytes);
  if (/\.(?:zip|xlsx)$/i.test(name)) {
    if (!first.toString('latin1').startsWith('PK\x03\x04')) {
      return foreign(first) ?? 'it is no zip archive';
    }
    try {
      await memberNames(part);
      return null;
    } catch (error) {
      return `its archive is torn: ${(error as Error).message}`;
    }
  }
  if (/\.pdf$/i.test(name)) {
    return first.toString('latin1').startsWith('%PDF-') ? null : (foreign(first) ?? 'it is no PDF');
  }
  const packed = first[0] === 0x1f && first[1] === 0x8b;
  if (/\.gz$/i.test(name)) return packed ? null : (foreign(first) ?? 'it is not gzipped');
  return foreign(first);
}

async function getFrom(
  url: string,
  wanted: Wanted,
  held: FetchRecord | null,
  options: GetOptions,
): Promise<Got> {
  const { folder, again, today } = options;
  const name = wanted.find?.name ?? nameOf(url);
  if (!NAME.test(name)) throw new Error(`"${name}" is no name for a file`);
  const path = join(wanted.source.name, name);
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  // A file from an address that its publisher has given up is requested from the new one.
  const known = held !== null && held.url === url;
  const target = join(folder, known ? held.path : path);
  const version = known && !again ? held : null;
  const came = await transfer(url, target, version, options);
  if (came.kind === 'same' && held !== null) {
    return { kind: 'same', name, record: { ...held, checkedOn: today } };
  }
  if (came.kind !== 'whole') throw new Error('the publisher says nothing changed');
  const fault = await faultOf(came.part, name);
  if (fault !== null) {
    dropPart(target);
    throw new Error(fault);
  }
  const { etag, lastModified, bytes, sha256 } = came;
  // The same bytes under a new name are not a new file.
  if (held !== null && held.sha256 === sha256 && existsSync(join(folder, held.path))) {
    dropPart(target);
    const record = { ...held, checkedOn: today, etag, lastModified, url };
    return { kind: held.path === path ? 'same' : 'renamed', name, record };
  }
  renameSync(came.part, join(folder, path));
  dropPart(target);
  return {
    kind: 'fetched',
    name,
    record: {
      path,
      url,
      bytes,
      sha256,
      etag,
      lastModified,
      fetchedOn: today,
      checkedOn: today,
    },
  };
}

/**
 * Gets the newest file of a source. `held` is the record of what the folder has.
 * @throws Error with the reason; the present file stays unchanged.
 */
export async function getNewest(
  wanted: Wanted,
  held: FetchRecord | null,
  options: GetOptions,
): Promise<Got> {
  const urls = await candidates(wanted, options);
  const there = held !== null && existsSync(join(options.folder, held.path)) ? held : null;
  for (const [at, url] of urls.entries()) {
    try {
      return await getFrom(url, wanted, there, options);
    } catch (error) {
      // Publishers make the folder of a new year before its files.
      const older = error instanceof Refusal && error.status === 404 && at < urls.length - 1;
      if (!older) throw new Error(`${basename(url)} from ${url}: ${reasonOf(error)}`);
    }
  }
  throw new Error('there is no address to get it from');
}

/*
 * Figures that are only published on pages. They are stored as facts, and the pages are checked to
 * still say them.
 */

/** An expected statement that a page no longer contains. */
interface Unsaid {
  readonly url: string;
  readonly expected: string;
}

/** The expressions that match nothing in a page's text; case does not matter. */
export function unsaidIn(text: string, says: readonly string[]): readonly string[] {
  // Publishers use all kinds of quotes and dashes.
  const plain = text.replaceAll(/[’‘]/g, "'").replaceAll(/[–—]/g, '-');
  return says.filter((expected) => !new RegExp(expected, 'i').test(plain));
}

/**
 * What the pages of a source no longer say.
 * @throws Error with a page's address and the reason where it cannot be got.
 */
export async function checkPages(source: Source, options: GetOptions): Promise<readonly Unsaid[]> {
  const unsaid: Unsaid[] = [];
  for (const { url, says } of source.pages ?? []) {
    try {
      const text = pageText(textOf(await readPage(url, options)));
      unsaid.push(...unsaidIn(text, says).map((expected) => ({ url, expected })));
    } catch (error) {
      throw new Error(`${url}: ${(error as Error).message}`, { cause: error });
    }
  }
  return unsaid;
}
