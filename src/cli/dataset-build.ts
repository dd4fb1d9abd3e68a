/** `situs dataset build`: makes a release. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { loadConfig } from '../config.js';
import { READER_GONE, SIGNAL_CODES } from './usage.js';

/** Set in the process that builds; the one the user started watches it. */
const BUILDER = '--in-this-process';

/**
 * Builds in a process of its own: its memory goes back, and an interrupt is heard although the
 * builder computes without a pause. Nothing of an interrupted build is left.
 */
async function superviseBuild(): Promise<number> {
  const { varDir } = loadConfig();
  const [, command = '', ...words] = process.argv;
  const child = spawn(process.execPath,
    [...process.execArgv, command, ...words.slice(0, 2), BUILDER, ...words.slice(2)],
    { stdio: ['ignore', 'inherit', 'inherit'] });
  let interrupted = 0;
  for (const [signal, code] of Object.entries(SIGNAL_CODES)) {
    process.once(signal, () => {
      interrupted = code;
      child.kill('SIGKILL');
    });
  }
  const [code, signal] = await once(child, 'exit') as [number | null, NodeJS.Signals | null];
  if (child.pid !== undefined && code !== 0) {
    const { temporaryDir } = await import('../ingest/writer.js');
    const temporary = temporaryDir(varDir, child.pid);
    // Removing what lies below a file would be a fault of its own.
    if (existsSync(temporary)) rmSync(temporary, { recursive: true, force: true });
  }
  if (interrupted > 0) process.stderr.write('\nbuild interrupted, nothing was left behind\n');
  if (interrupted > 0) return interrupted;
  return signal === 'SIGPIPE' ? READER_GONE : code ?? 1;
}

/** The words of the command. */
export interface BuildAsked {
  readonly recipe: string;
  readonly sources?: string;
  readonly with?: readonly string[];
  readonly layer?: readonly string[];
  readonly workers?: number;
  readonly activate?: boolean;
  /** File of the private key that signs the release. */
  readonly sign?: string;
  readonly requireSignature?: readonly string[];
  readonly quiet?: boolean;
  readonly inThisProcess?: boolean;
}

/** Runs `situs dataset build`. */
export async function buildCommand(asked: BuildAsked): Promise<number> {
  if (!asked.inThisProcess) return superviseBuild();
  const { buildHere } = await import('./dataset-builder.js');
  await buildHere(asked);
  return 0;
}
