/** `situs dataset build`: makes a release. */
import { existsSync, rmSync } from 'node:fs';
import { loadConfig } from '../config.js';
import { hasRoom } from '../store/folder.js';
import { READER_GONE, watched } from './command-line.js';
import type { BuildAsked } from './dataset-builder.js';

/**
 * Size for a build's short-lived values, which most are. With sixteen times Node's default,
 * collecting garbage moves fewer of them, which saves a sixteenth of the build's processor time. An
 * option that the user gives for this is kept.
 */
const YOUNG = '--max-semi-space-size=64';

/** Marks the process that builds; the one that the user started waits for it. */
const BUILDER = '--in-this-process';

/** Why a process ended without a message, as far as that can be told. */
function endOf(signal: NodeJS.Signals, full: boolean): string {
  if (full) return `${signal}, the disk is full`;
  return signal === 'SIGKILL' ? `${signal}, as systems do where memory runs out` : signal;
}

/** The outcome of a build. */
interface Supervised {
  readonly code: number;
  /** Name of the release; "" where it was printed to standard output. */
  readonly name: string;
}

/**
 * Builds in a process of its own. Its memory is freed at the end, and an interrupt takes effect
 * although the build computes without a pause; nothing of an interrupted build is left. `words`
 * follow `dataset build` on the command line; what the process prints is returned where `heard` is
 * set.
 */
export async function superviseBuild(words: readonly string[], heard = false): Promise<Supervised> {
  const { varDir } = loadConfig();
  let full = false;
  const { code, signal, interrupted, printed } = await watched(
    [YOUNG, ...process.execArgv, process.argv[1] ?? '', 'dataset', 'build', BUILDER, ...words],
    async (pid, ended) => {
      if (ended === 0) return;
      const { temporaryDir } = await import('../ingest/release-writer.js');
      const temporary = temporaryDir(varDir, pid);
      // Where a file lies in place of the folder, removing what would be below it fails.
      if (!existsSync(temporary)) return;
      full = !hasRoom(temporary);
      rmSync(temporary, { recursive: true, force: true });
    },
    heard,
  );
  if (interrupted > 0) {
    process.stderr.write('\nbuild interrupted, nothing was left behind\n');
  } else if (signal !== null && signal !== 'SIGPIPE') {
    process.stderr.write(`situs: the build was ended by ${endOf(signal, full)}\n`);
  }
  const ended = interrupted || (signal === 'SIGPIPE' ? READER_GONE : (code ?? 1));
  return { code: ended, name: printed.trim() };
}

/** Runs `situs dataset build`. */
export async function buildCommand(asked: BuildAsked): Promise<number> {
  if (!asked.inThisProcess) return (await superviseBuild(process.argv.slice(4))).code;
  const { buildHere } = await import('./dataset-builder.js');
  await buildHere(asked);
  return 0;
}
