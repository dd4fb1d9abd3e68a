/** `situs dataset build`: makes a release. */
import { existsSync, rmSync } from 'node:fs';
import { loadConfig } from '../config.js';
import { hasRoom } from '../store/folder.js';
import { READER_GONE, watched } from './command-line.js';
import type { BuildAsked } from './dataset-builder.js';

/**
 * Room for what lives briefly, which most of a build's values do: with sixteen times Node's own the
 * collector moves less, a sixteenth of the build's processor time. An option of the user's holds.
 */
const YOUNG = '--max-semi-space-size=64';

/** Set in the process that builds; the one the user started watches it. */
const BUILDER = '--in-this-process';

/** Why a process that said nothing is no more, as far as its end tells. */
function endOf(signal: NodeJS.Signals, full: boolean): string {
  if (full) return `${signal}, the disk is full`;
  return signal === 'SIGKILL' ? `${signal}, as systems do where memory runs out` : signal;
}

/** How a build ended. */
interface Supervised {
  readonly code: number;
  /** Name of the release; "" where it went to standard output. */
  readonly name: string;
}

/**
 * Builds in a process of its own: its memory goes back, and an interrupt is heard although the
 * builder computes without a pause. Nothing of an interrupted build is left. `words` are those
 * behind `dataset build`; what it prints is given back where it is `heard`.
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
      // Removing what lies below a file would be a fault of its own.
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
