/** `situs dataset fetch`: publishers' files into a folder of sources. */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fetchDownload } from '../ingest/download.js';
import { downloadsFile, readDownloads, type Download } from '../ingest/download-list.js';
import { createProgress } from '../ingest/progress.js';
import { requireDownloads } from './recipe-names.js';
import { UsageError } from './usage.js';

const INTERRUPTED = 130;

interface Asked {
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

async function fetchAll({ downloads, folder, again, quiet }: Asked): Promise<number> {
  const stop = new AbortController();
  const interrupt = (): void => stop.abort(new Error('interrupted'));
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  let failures = 0;
  for (const download of downloads) {
    if (stop.signal.aborted) break;
    const progress = quiet ? () => undefined : createProgress(process.stderr);
    try {
      const fetched = await fetchDownload(download, {
        folder, again, signal: stop.signal,
        progress: (done, total) => progress(download.path, done, Math.max(done, total)),
      });
      process.stdout.write(`${fetched.padEnd(7)}  ${download.path}\n`);
    } catch (error) {
      failures += 1;
      process.stderr.write(`situs: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
  process.off('SIGINT', interrupt);
  process.off('SIGTERM', interrupt);
  if (stop.signal.aborted) return INTERRUPTED;
  return failures === 0 ? 0 : 1;
}

/** Runs `situs dataset fetch ARGS`: 0 when every file is there, 1 when one failed. */
export async function fetchCommand(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      recipe: { type: 'string', default: 'reference' },
      downloads: { type: 'string' },
      to: { type: 'string' },
      only: { type: 'string', multiple: true, default: [] },
      again: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      quiet: { type: 'boolean', default: false },
    },
  });
  if (values.downloads === undefined) requireDownloads(values.recipe);
  const file = values.downloads === undefined
    ? downloadsFile(values.recipe) : resolve(values.downloads);
  const downloads = chosen(readDownloads(file), values.only);
  if (values.list) {
    for (const { path, url } of downloads) process.stdout.write(`${path}  ${url}\n`);
    return 0;
  }
  if (values.to === undefined) throw new UsageError('fetch into which folder? --to DIR');
  return fetchAll({
    downloads, folder: resolve(values.to), again: values.again, quiet: values.quiet,
  });
}
