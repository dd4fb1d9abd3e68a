/** `situs` as a process that runs beside the test. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { CLI, LATER_OPTIMIZED } from './built-dataset.js';

const MANY = fileURLToPath(new URL('./many-commands.js', import.meta.url));
/** A command that waits for ever is ended, and its code is then null. */
const MS_MAX = 300_000;

/** How a command ended. */
export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs `situs ARGS` to its end, with what the environment has beside this process's own. */
export function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [CLI, ...args],
      { env: { ...process.env, ...env } },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

/**
 * An option of Node.js: the command kills itself a moment after a word was in its error output. A kill
 * from here may come behind its end where the machine has much to do.
 */
export function killedAfter(word: string): string {
  const text = `
    const { kill, pid, stderr } = process;
    const { write } = stderr;
    stderr.write = (text, ...more) => {
      if (String(text).includes(${JSON.stringify(word)})) {
        setTimeout(() => kill(pid, 'SIGKILL'), 1);
      }
      return write.call(stderr, text, ...more);
    };`;
  return `--import=data:text/javascript,${encodeURIComponent(text)}`;
}

/**
 * Runs command lines one after the other, all in one process: for those that start no process of
 * their own and read no standard input.
 */
export function runMany(varDir: string, lines: readonly (readonly string[])[]): readonly Ran[] {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...LATER_OPTIMIZED, MANY], {
    env: { ...process.env, SITUS_VAR: varDir },
    encoding: 'utf8',
    timeout: MS_MAX,
    input: JSON.stringify(lines),
  });
  assert.deepEqual([status, stderr], [0, '']);
  return JSON.parse(stdout) as readonly Ran[];
}
