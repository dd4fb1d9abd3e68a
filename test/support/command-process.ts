/**
 * Command lines that come one by one, with what tests do between them, in one process: a start for
 * each takes most of its time. It is a process apart, so that commands start others as a user's do
 * and these write where it writes. For commands that read no standard input and end by themselves.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { CLI } from './built-dataset.js';
import type { Ran } from './run-command.js';

/** A command line and what its environment has beside that of the process. */
interface Command {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The process starts with the first command; ask one after the other, and end it with the tests. */
export class CommandProcess {
  readonly #dir = mkdtempSync(join(tmpdir(), 'situs-commands-'));
  readonly #files = [join(this.#dir, 'out'), join(this.#dir, 'err')] as const;
  #child: ChildProcess | null = null;

  /** Runs `situs WORDS` with what the environment has beside this process's own. */
  async run(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
    this.#child ??= this.#start();
    const command: Command = { words, env };
    const ended = new AbortController();
    const answered = once(this.#child, 'message', { signal: ended.signal });
    this.#child.once('exit', () =>
      ended.abort(`the process of commands ended in ${words.join(' ')}`),
    );
    this.#child.send(command);
    const [code] = (await answered) as [number];
    const [out = '', err = ''] = this.#files.map((file) => {
      const text = readFileSync(file, 'utf8');
      truncateSync(file);
      return text;
    });
    this.#child.removeAllListeners('exit');
    return { code, out, err };
  }

  /** Runs command lines one after the other, each with the same environment. */
  async runAll(
    lines: readonly (readonly string[])[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<readonly Ran[]> {
    const all: Ran[] = [];
    for (const words of lines) all.push(await this.run(words, env));
    return all;
  }

  #start(): ChildProcess {
    // Appended to, also by processes that a command starts, so that what was read can be cut off.
    const [out, err] = this.#files.map((file) => openSync(file, 'a')) as [number, number];
    try {
      return fork(fileURLToPath(import.meta.url), { stdio: ['ignore', out, err, 'ipc'] });
    } finally {
      closeSync(out);
      closeSync(err);
    }
  }

  async end(): Promise<void> {
    if (this.#child !== null && this.#child.exitCode === null) {
      const exited = once(this.#child, 'exit');
      this.#child.disconnect();
      await exited;
    }
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

/** The store of a folder, in a run of tests whose stores are all in PostgreSQL (on-postgres.ts). */
async function storeOf(varDir: string | undefined): Promise<Readonly<Record<string, string>>> {
  const prefix = process.env['SITUS_TEST_SCHEMAS'];
  if (prefix === undefined || varDir === undefined) return {};
  const { schemaOf, schemaUrl } = await import('./postgres.js');
  return { SITUS_STORE: schemaUrl(schemaOf(prefix, resolve(varDir))) };
}

/** Runs the commands that the other process asks for, each with an environment of its own. */
async function serve(): Promise<void> {
  const { runCommand } = await import('../../src/cli/program.js');
  const { tellFailure } = await import('../../src/cli/command-line.js');
  const plain = { ...process.env };
  // Each listens for signals as if it were alone.
  process.setMaxListeners(0);
  process.on('message', async ({ words, env }: Command) => {
    const store = await storeOf(env['SITUS_VAR']);
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, plain, env, store);
    // By these a command starts itself again.
    process.argv.splice(1, Infinity, CLI, ...words);
    process.send!(await runCommand(words).catch(tellFailure));
  });
}

// Not waited for: of files that are loaded together, the tests of all that import a module which waits
// would be those of the first one.
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) void serve();
