/**
 * The catalogue of sources: one JSON file each below datasets/catalogue, which says who publishes
 * it, on which page, how its newest file is found, what reads it and what it completes.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { choice, closed, flag, list, type Of, optional } from '../../base/shape.js';
import { faultsOf, isExpression, TEXT, TEXTS } from '../entry-shapes.js';
import { READERS } from '../readers.js';
import { shapeFaults } from '../recipe-check.js';
import { datasetsDir } from '../source-files.js';
import { unknownName } from '../spelling.js';

const ENTRY = closed({
  /** What the source is, in a few words. */
  title: TEXT,
  publisher: TEXT,
  /** The page for people. */
  page: TEXT,
  /**
   * `url`: the file's own lasting address. Or `links`: a page or directory; `link`: an expression
   * of the name that the file's link ends in; `below`: an address below the link that was chosen.
   * `begun`: files named for days to come are passed over while there are others.
   * `name`: what the file is called here, where its address ends in no name of it.
   * {state} and {fips} stand for each of `states`, {year} for the year in the chosen link, {now}
   * in `links` for the year it is.
   */
  find: optional(
    closed({
      url: optional(TEXT),
      links: optional(TEXT),
      link: optional(TEXT),
      below: optional(TEXT),
      begun: optional(flag()),
      name: optional(TEXT),
    }),
  ),
  /**
   * Pages that say a figure which is held as a fact, each with expressions of what its text says;
   * there is no file.
   */
  pages: optional(list(closed({ url: TEXT, says: TEXTS }))),
  /** Why no program can get it, so that people have to put it into the source's folder. */
  withheld: optional(TEXT),
  /** Files with this set are read together: all in the folder that have the newest one's ending. */
  together: optional(flag()),
  container: choice(['csv', 'text', 'csv or zip', 'zip', 'xlsx', 'shapefile', 'page', 'pdf']),
  /** Name in the table of readers, or the reason why nothing reads it. */
  reader: optional(TEXT),
  unread: optional(TEXT),
  rhythm: choice(['daily', 'monthly', 'quarterly', 'half-yearly', 'yearly', 'on change']),
  /** Month (YYYY-MM) in which somebody last checked the publisher's file or page. */
  seen: optional(TEXT),
  /** States by letters and FIPS code ("MN 27"); empty for the whole nation. */
  states: list(TEXT),
  levels: list(choice(['state', 'county', 'city', 'district', 'place', 'address', 'zip'])),
  licence: TEXT,
  note: optional(TEXT),
});

/** A source as its file describes it. */
export type Source = Of<typeof ENTRY> & { readonly name: string };

const entryFaults = faultsOf(ENTRY);

/** One file to get: that of a source, or of one of its states. */
export interface Wanted {
  readonly source: Source;
  /** "sst-rates/MN"; the source's name alone where it has one file. */
  readonly key: string;
  /** Two letters, "" for the nation. */
  readonly state: string;
  /** Where to look for the file, with the state filled in. */
  readonly find: {
    readonly url?: string;
    readonly links?: string;
    readonly link?: string;
    readonly below?: string;
    readonly begun?: boolean;
    readonly name?: string;
  } | null;
}

/** Names of the readers in all sections of a recipe. */
function readerNames(): readonly string[] {
  return [
    ...READERS.lists.keys(),
    ...READERS.points.keys(),
    ...READERS.ranges.keys(),
    ...READERS.sst.keys(),
    'boundaries',
    'zips',
  ];
}

/** Whether a text is an http or https address. */
export function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** Faults that the shape does not find. */
function furtherFaults(entry: Of<typeof ENTRY>): string[] {
  const { find, withheld, pages, page, reader, unread, seen, states } = entry;
  const faults: string[] = [];
  const found = find ?? null;
  const ways = [found, withheld ?? null, pages ?? null].filter((way) => way !== null);
  if (ways.length !== 1) faults.push('say one of find, withheld and pages');
  for (const { url, says } of pages ?? []) {
    if (!isWebAddress(url)) faults.push('pages: addresses must be of http or https');
    faults.push(
      ...says.filter((text) => !isExpression(text)).map((text) => `pages: no expression: ${text}`),
    );
  }
  if (found !== null) {
    const { url = null, links = null, link = null, below = null } = found;
    const whole =
      url !== null
        ? links === null && link === null && below === null
        : links !== null && link !== null;
    if (!whole) faults.push('find: say url, or links and link');
    if (link !== null && !isExpression(link)) faults.push('find.link: no expression');
    for (const address of [url, links]) {
      if (address !== null && !isWebAddress(address)) {
        faults.push('find: addresses must be of http or https');
      }
    }
  }
  if (seen != null && !/^20\d\d-(?:0[1-9]|1[0-2])$/.test(seen)) faults.push('seen: say YYYY-MM');
  if ((reader == null) === (unread == null)) faults.push('say one of reader and unread');
  if (!isWebAddress(page)) faults.push('page: must be of http or https');
  if (reader != null && !readerNames().includes(reader)) {
    faults.push(`reader: ${unknownName('reader', reader, readerNames())}`);
  }
  if (states.some((state) => !/^[A-Z]{2} \d{2}$/.test(state))) {
    faults.push('states: say each as "MN 27"');
  }
  return faults;
}

/** Reads a source from the text of its file. @throws Error naming the file and all faults in it. */
export function parseSource(name: string, text: string): Source {
  const value: unknown = JSON.parse(text);
  const faults = shapeFaults(entryFaults, value, '');
  if (faults.length === 0) faults.push(...furtherFaults(value as Of<typeof ENTRY>));
  if (faults.length > 0) {
    throw new Error(faults.map((fault) => `catalogue ${name}: ${fault}`).join('\n'));
  }
  return { ...(value as Of<typeof ENTRY>), name };
}

/** Every source of the catalogue, by name. */
export function readCatalogue(): readonly Source[] {
  const folder = join(datasetsDir(), 'catalogue');
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) =>
      parseSource(file.slice(0, -'.json'.length), readFileSync(join(folder, file), 'utf8')),
    );
}

/** The files of a source, one for each state if its addresses depend on the state. */
export function wantedOf(source: Source): readonly Wanted[] {
  const found = source.find ?? null;
  const plain = Object.entries(found ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const begun = found?.begun === true;
  const each = plain.some(([, text]) => /\{(?:state|fips)\}/.test(text));
  if (!each) {
    const find = found === null ? null : { ...Object.fromEntries(plain), begun };
    const state = source.states.length === 1 ? source.states[0]!.slice(0, 2) : '';
    return [{ source, key: source.name, state, find }];
  }
  return source.states.map((entry): Wanted => {
    const [state = '', fips = ''] = entry.split(' ');
    const fill = (text: string): string =>
      text.replaceAll('{state}', state).replaceAll('{fips}', fips);
    return {
      source,
      key: `${source.name}/${state}`,
      state,
      find: { ...Object.fromEntries(plain.map(([name, text]) => [name, fill(text)])), begun },
    };
  });
}
