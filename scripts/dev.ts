/** npm run dev: compiles changed files, and restarts the server after each success. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { bundleWorkers } from './bundled.js';
import { COMPILED, removeStale } from './compiled.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COMPILER = join(ROOT, 'node_modules', '.bin', 'tsc');
/** What the compiler prints when there are no errors. */
const SOUND = /Found 0 errors/;

/** The server of the last successful build; only one runs at a time. */
class DevServer {
  #child: ChildProcess | null = null;
  #last: Promise<void> = Promise.resolve();

  /** Ends the running server after its requests, and starts another. */
  restart(): void {
    this.#last = this.#last
      .then(() => this.stop())
      .then(() => {
        this.#child = spawn(
          process.execPath,
          ['--enable-source-maps', join(ROOT, COMPILED, 'src', 'main.js')],
          { cwd: ROOT, stdio: 'inherit' },
        );
      });
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}

const server = new DevServer();
const compiler = spawn(COMPILER, ['-p', ROOT, '--watch', '--preserveWatchOutput'], {
  cwd: ROOT,
  stdio: ['ignore', 'pipe', 'inherit'],
});

createInterface({ input: compiler.stdout }).on('line', (line) => {
  if (line !== '') process.stderr.write(`${line}\n`);
  if (!SOUND.test(line)) return;
  removeStale(ROOT);
  bundleWorkers(ROOT);
  server.restart();
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    compiler.kill('SIGTERM');
    void server.stop().then(() => process.exit(0));
  });
}
