/** `situs dataset fetch`: gets publishers' files into a folder of sources. */
import { resolve } from 'node:path';
import { createProgress } from '../ingest/progress.js';
import {
  type Download,
  downloadsFile,
  fetchDownload,
  readDownloads,
} from '../ingest/publisher/fetched-folder.js';
import { openOrigin } from '../ingest/publisher/origin.js';
import { askedFor, fetchSources } from './catalogue-fetch.js';
import { print, SIGNAL_CODES, untilInterrupted, UsageError } from './command-line.js';
import { requireDownloads } from './recipe-names.js';
import { messageOf } from '../log.js';

interface Fetch {
  readonly downloads: readonly Download[];
  readonly folder: string;
  readonly again: boolean;
  readonly quiet: boolean;
}

function chosen(downloads: readonly Download[], only: readonly string[]): readonly Download[] {
  if (only.length === 0) return downloads;
  for (const text of only) {
    if (!downloads.some(({ path }) => path.includes(text))) {
      throw new Error(`no download matches "${text}"; see: situs dataset fetch --list`);
    }
  }
  return downloads.filter(({ path }) => only.some((text) => path.includes(text)));
}

async function fetchAll({ downloads, folder, again, quiet }: Fetch): Promise<number> {
  const { signal, end } = untilInterrupted();
  const origin = openOrigin(null);
  let failures = 0;
  for (const download of downloads) {
    if (signal.aborted) break;
    const progress = quiet ? () => undefined : createProgress(process.stderr);
    try {
      const fetched = await fetchDownload(download, {
        folder,
        again,
        origin,
        signal,
        triesMax: 1,
        progress: (done, total) => progress(download.path, done, Math.max(done, total)),
      });
      print(`${fetched.padEnd(7)}  ${download.path}`);
    } catch (error) {
      failures += 1;
      process.stderr.write(`situs: ${messageOf(error)}\n`);
    }
  }
  end();
  await origin.close();
  if (signal.aborted) return SIGNAL_CODES.SIGINT;
  return failures === 0 ? 0 : 1;
}

interface FetchAsked {
  readonly recipe: string;
  readonly downloads?: string;
  readonly to?: string;
  readonly only?: readonly string[];
  readonly again?: boolean;
  readonly list?: boolean;
  readonly quiet?: boolean;
  readonly source?: readonly string[];
  readonly state?: readonly string[];
  readonly all?: boolean;
  readonly mirror?: string;
}

/** Lists or gets the sources of the catalogue that are asked for. */
async function fromCatalogue(asked: FetchAsked): Promise<number> {
  const { source: sources = [], state: states = [], all = false, again = false } = asked;
  const { quiet = false, mirror = null, to } = asked;
  if (asked.list) {
    for (const { key, source, find } of askedFor({ sources, states, all })) {
      print(`${key}  ${find?.url ?? find?.links ?? source.page}`);
    }
    return 0;
  }
  if (to === undefined) throw new UsageError('fetch into which folder? --to DIR');
  const { failed, interrupted } = await fetchSources({
    to: resolve(to),
    sources,
    states,
    all,
    again,
    quiet,
    mirror,
  });
  if (interrupted) return SIGNAL_CODES.SIGINT;
  return failed.length === 0 ? 0 : 1;
}

/** Runs `situs dataset fetch`: 0 when every file is there, 1 when one failed. */
export async function fetchCommand(asked: FetchAsked): Promise<number> {
  if (asked.source || asked.state || asked.all) return fromCatalogue(asked);
  if (asked.mirror !== undefined) {
    throw new UsageError('--mirror goes with --source, --state or --all');
  }
  const { recipe, to, only = [], again = false, list = false, quiet = false } = asked;
  if (asked.downloads === undefined) requireDownloads(recipe);
  const file = asked.downloads === undefined ? downloadsFile(recipe) : resolve(asked.downloads);
  const downloads = chosen(readDownloads(file), only);
  if (list) {
    for (const { path, url } of downloads) print(`${path}  ${url}`);
    return 0;
  }
  if (to === undefined) throw new UsageError('fetch into which folder? --to DIR');
  return fetchAll({ downloads, folder: resolve(to), again, quiet });
}
