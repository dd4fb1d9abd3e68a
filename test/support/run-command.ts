/** `situs` as a process that runs beside the test. */
import { execFile } from 'node:child_process';
import { CLI } from './built-dataset.js';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `situs ARGS` to its end, with what the environment has beside this process's own. */
export function runCommand(
  args: readonly string[], env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, ...args], { env: { ...process.env, ...env } },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }));
  });
}
