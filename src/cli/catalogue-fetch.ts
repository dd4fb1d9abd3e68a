/**
 * `situs dataset fetch` for sources of the catalogue: gets the newest file of each, if it is new.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileSha256 } from '../dataset/stamp.js';
import { createProgress } from '../ingest/progress.js';
import {
  readCatalogue,
  type Source,
  type Wanted,
  wantedOf,
} from '../ingest/publisher/catalogue.js';
import {
  type FetchRecord,
  filesThere,
  holdFolder,
  readRecords,
  writeRecords,
} from '../ingest/publisher/fetched-folder.js';
import { checkPages, getNewest, type GetOptions, type Got } from '../ingest/publisher/get.js';
import { openOrigin } from '../ingest/publisher/origin.js';
import { print, untilInterrupted, UsageError } from './command-line.js';

const KIND_WIDTH = 9;

/** Which sources to get, and where their files go. */
interface CatalogueAsked {
  readonly to: string;
  readonly sources: readonly string[];
  /** States, two letters each. */
  readonly states: readonly string[];
  readonly all: boolean;
  readonly again: boolean;
  readonly quiet: boolean;
  /** Address or folder of a mirror; null to ask the publishers themselves. */
  readonly mirror: string | null;
}

/** The files to get. @throws UsageError for an unknown source or state. */
export function askedFor({
  sources,
  states,
  all,
}: Pick<CatalogueAsked, 'sources' | 'states' | 'all'>): readonly Wanted[] {
  const catalogue = readCatalogue();
  const wanted = catalogue.flatMap(wantedOf);
  for (const name of sources) {
    if (wanted.some(({ source, key }) => source.name === name || key === name)) continue;
    throw new UsageError(`the catalogue has no source "${name}"; see: situs dataset sources`);
  }
  const codes = states.map((state) => state.toUpperCase());
  const has = ({ states: own }: Source, state: string): boolean =>
    own.some((entry) => entry.startsWith(state));
  for (const state of codes) {
    if (catalogue.some((source) => has(source, state))) continue;
    throw new UsageError(`the catalogue has no source of "${state}"; see: situs dataset sources`);
  }
  return wanted.filter(
    ({ source, key, state }) =>
      (all || sources.length === 0 || sources.includes(source.name) || sources.includes(key)) &&
      (codes.length === 0 || codes.includes(state)),
  );
}

function line(kind: string, text: string): void {
  print(`${kind.padEnd(KIND_WIDTH)} ${text}`);
}

function tell({ kind, record, name }: Got): void {
  if (kind === 'renamed') line('same', `${record.path} (the publisher calls it ${name} now)`);
  else line(kind, record.path);
}

/** The newest file that somebody has put into the folder of a source; null where there is none. */
function putThere(folder: string): string | null {
  if (!existsSync(folder)) return null;
  const files = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !/^\.|\.part/.test(entry.name))
    .map(({ name }) => ({ name, time: statSync(join(folder, name)).mtimeMs }));
  return files.sort((one, other) => other.time - one.time)[0]?.name ?? null;
}

/**
 * The record of a file that no program can get; where it is missing, that is reported and the
 * record is null.
 */
function byHand({ source }: Wanted, known: FetchRecord | null, to: string): FetchRecord | null {
  const folder = join(to, source.name);
  const name = putThere(folder);
  if (name === null) {
    line(
      'by hand',
      `${source.name}: ${source.withheld} Visit ${source.page} and put it into ` + folder,
    );
    return null;
  }
  line('held', source.name);
  const path = join(source.name, source.together === true ? `*${extname(name)}` : name);
  const files = filesThere(to, path);
  const sums = files.map((file) => fileSha256(join(to, file)));
  const sha256 =
    sums.length === 1
      ? sums[0]!
      : createHash('sha256')
          .update(JSON.stringify([files, sums]))
          .digest('hex');
  if (known !== null && known.path === path && known.sha256 === sha256) return known;
  const bytes = files.reduce((sum, file) => sum + statSync(join(to, file)).size, 0);
  const day = statSync(join(folder, name)).mtime.toISOString().slice(0, 10);
  return {
    path,
    url: new URL(encodeURIComponent(name), source.page).href,
    bytes,
    sha256,
    etag: '',
    lastModified: '',
    fetchedOn: day,
    checkedOn: day,
  };
}

/**
 * Asks the pages of a source whether they still say what is held; reports differences.
 * @returns whether they agree.
 */
async function pagesAgree({ source, key }: Wanted, options: GetOptions): Promise<boolean> {
  const unsaid = await checkPages(source, options);
  if (unsaid.length === 0) line('as held', key);
  for (const { url, expected } of unsaid) {
    process.stderr.write(
      `situs: ${key}: the page does not say "${expected}" any more, so the ` +
        `figures held may be old; visit ${url}\n`,
    );
  }
  return unsaid.length === 0;
}

/** The outcome of getting sources. */
interface FetchOutcome {
  /** Keys of the sources that could not be got. */
  readonly failed: readonly string[];
  readonly interrupted: boolean;
}

/** Gets one source, or asks its pages, and reports the outcome; false where the pages disagree. */
async function fetchOne(
  one: Wanted,
  records: Map<string, FetchRecord>,
  options: GetOptions,
): Promise<boolean> {
  const known = records.get(one.key) ?? null;
  if (one.find === null && one.source.pages != null) return pagesAgree(one, options);
  const got = one.find === null ? null : await getNewest(one, known, options);
  const record = got === null ? byHand(one, known, options.folder) : got.record;
  if (record !== null) records.set(one.key, record);
  writeRecords(options.folder, records);
  if (got !== null) tell(got);
  return true;
}

/**
 * Gets the files asked for, and reports the outcome for each.
 * @throws Error where another command gets files into the same folder.
 */
export async function fetchSources(
  asked: CatalogueAsked,
  wanted: readonly Wanted[] = askedFor(asked),
): Promise<FetchOutcome> {
  mkdirSync(asked.to, { recursive: true });
  const release = holdFolder(asked.to);
  try {
    return await fetchHeld(asked, wanted);
  } finally {
    release();
  }
}

async function fetchHeld(asked: CatalogueAsked, wanted: readonly Wanted[]): Promise<FetchOutcome> {
  const { to: folder, again, quiet } = asked;
  const origin = openOrigin(asked.mirror);
  const { signal, end } = untilInterrupted();
  const records = readRecords(folder);
  const pages = new Map<string, string>();
  const failed: string[] = [];
  for (const one of wanted) {
    if (signal.aborted) break;
    const progress = quiet ? () => undefined : createProgress(process.stderr);
    try {
      const right = await fetchOne(one, records, {
        folder,
        again,
        origin,
        pages,
        signal,
        today: new Date().toISOString().slice(0, 10),
        progress: (done, total) => progress(one.key, done, Math.max(done, total)),
      });
      if (!right) failed.push(one.key);
    } catch (error) {
      if (signal.aborted) break;
      failed.push(one.key);
      process.stderr.write(
        `situs: ${one.key}: ${(error as Error).message}; visit ` + `${one.source.page}\n`,
      );
    }
  }
  end();
  await origin.close();
  return { failed, interrupted: signal.aborted };
}

/** The catalogue as a table in Markdown, so that the documentation can carry it. */
export function sourcesTable(catalogue: readonly Source[]): string {
  const rows = catalogue.map((source) => {
    const states = source.states.map((entry) => entry.slice(0, 2)).join(' ') || 'all';
    return `| ${[
      `\`${source.name}\``,
      source.title,
      states,
      source.levels.join(', '),
      source.rhythm,
      source.reader == null ? `none: ${source.unread}` : `\`${source.reader}\``,
      source.seen ?? '',
      source.pages != null ? 'page asked' : source.find == null ? 'by hand' : 'fetched',
    ].join(' | ')} |`;
  });
  return [
    '| Source | What | States | Completes | Changes | Reader | Layout seen | Got |',
    '|---|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

/** Runs `situs dataset sources`. */
export function sourcesCommand({ json = false }: { readonly json?: boolean }): void {
  const catalogue = readCatalogue();
  print(json ? JSON.stringify(catalogue, null, 2) : sourcesTable(catalogue));
}
