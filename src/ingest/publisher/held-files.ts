/** Which files of the catalogue a folder of sources has, and for which days each was published. */
import { basename } from 'node:path';
import { DATE_OPEN, type DateInt, dateOf, parseDate } from '../../tax/date.js';
import { readCatalogue, type Source, type Wanted, wantedOf } from './catalogue.js';
import { firstDayOf, type Link, newestLinks } from './get.js';
import { type FetchRecord, filesThere, readRecords } from './fetched-folder.js';

/** A file of the catalogue that is in a folder. */
export interface HeldFile {
  /** "sst-rates/MN" */
  readonly key: string;
  readonly source: Source;
  /** Two letters and two digits, "" for the nation. */
  readonly state: string;
  readonly fips: string;
  /** Path below the folder. */
  readonly path: string;
  /**
   * The date by its publisher: from its name or the server, or else the day on which it was got.
   */
  readonly asOf: DateInt;
  /** Last day that it was published for, by its name or by how often the source appears. */
  readonly until: DateInt;
}

/**
 * Months that a list speaks for. One that appears irregularly counts until the end of the quarter
 * in which it was read.
 */
const RHYTHM_MONTHS: Readonly<Record<Source['rhythm'], number>> = {
  daily: 0,
  monthly: 1,
  quarterly: 3,
  'half-yearly': 6,
  yearly: 12,
  'on change': 3,
};
const QUARTER_MONTHS = 3;

/** Last day of the period of `months` (a divisor of twelve) that contains a day. */
function periodEnd(day: DateInt, months: number): DateInt {
  const [year, month] = [Math.floor(day / 10_000), Math.floor(day / 100) % 100];
  const last = Math.ceil(month / months) * months;
  const ends = [31, 30, 29, 28].map((own) => dateOf(year, last, own));
  return ends.find((end) => end !== null) ?? DATE_OPEN;
}

/** Last day that a list of a day speaks for, by how often its source appears. */
export function endByRhythm(day: DateInt, rhythm: Source['rhythm']): DateInt {
  const months = RHYTHM_MONTHS[rhythm];
  return months === 0 ? DATE_OPEN : periodEnd(day, months);
}

/** What the path of a file's address says by the source's expression; any part of the path may. */
function namedBy({ find }: Wanted, url: string): Link | null {
  if (find?.link === undefined || !URL.canParse(url)) return null;
  const { origin, pathname } = new URL(url);
  const parts = pathname.split('/');
  const above = parts.map((_, at) => `${origin}${parts.slice(0, at + 1).join('/')}`);
  return newestLinks(above, find.link)[0] ?? null;
}

function dayOf(text: string): DateInt | null {
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : parseDate(new Date(time).toISOString().slice(0, 10));
}

/** The days that a file was published for. */
export function publishedFor(
  wanted: Wanted,
  { path, url, lastModified, fetchedOn, checkedOn }: FetchRecord,
): { readonly asOf: DateInt; readonly until: DateInt } {
  // Unchanged bytes under a new name keep their date, and may hold for longer.
  const link = namedBy(wanted, url);
  const first = namedBy(wanted, new URL(basename(path), url).href) ?? link;
  const named = parseDate(String(first === null ? 0 : firstDayOf(first)));
  const asOf = named ?? dayOf(lastModified) ?? dayOf(fetchedOn) ?? DATE_OPEN;
  const { year, quarter } = link?.named ?? {};
  if (year !== undefined && quarter !== undefined) {
    const long = Number(year) < 100 ? Number(year) + 2000 : Number(year);
    const begin = dateOf(long, Number(quarter) * QUARTER_MONTHS - 2, 1);
    if (begin !== null) return { asOf, until: periodEnd(begin, QUARTER_MONTHS) };
  }
  const { rhythm } = wanted.source;
  const read = rhythm === 'on change' ? (dayOf(checkedOn) ?? asOf) : asOf;
  return { asOf, until: endByRhythm(read, rhythm) };
}

/** The catalogue's files in a folder of sources, by key; empty without a folder. */
export function heldFiles(folder: string | null): ReadonlyMap<string, HeldFile> {
  const records = folder === null ? new Map<string, FetchRecord>() : readRecords(folder);
  const held = new Map<string, HeldFile>();
  if (folder === null || records.size === 0) return held;
  for (const wanted of readCatalogue().flatMap(wantedOf)) {
    const { key, source, state } = wanted;
    const record = records.get(key);
    if (record === undefined || filesThere(folder, record.path).length === 0) continue;
    const fips = source.states.find((entry) => entry.startsWith(state))?.slice(3) ?? '';
    held.set(key, {
      key,
      source,
      state,
      fips: state === '' ? '' : fips,
      path: record.path,
      ...publishedFor(wanted, record),
    });
  }
  return held;
}
