/** The stub server in a process of its own, for tests that could end it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

interface ChildServer {
  readonly port: number;
  readonly process: ChildProcess;
  /** Bytes of its own memory that no file stands behind. */
  ownBytes(): number;
  /** Processor time it has used so far. */
  processorMs(): number;
}

const KILOBYTE = 1_024;
const TICK_MS = 10;

/** Starts it, with at most so many file descriptors where given; it ends with the test. */
export async function startChildServer(
  context: TestContext,
  descriptors?: number,
): Promise<ChildServer> {
  const script = fileURLToPath(new URL('./http-stub-server.js', import.meta.url));
  const limit = descriptors === undefined ? '' : `ulimit -n ${descriptors};`;
  const child = spawn('sh', ['-c', `${limit} exec "$0" "$1"`, process.execPath, script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  context.after(() => child.kill('SIGKILL'));
  const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string];
  const read = (file: string): string => readFileSync(`/proc/${child.pid}/${file}`, 'latin1');
  return {
    port: Number(line),
    process: child,
    ownBytes: () => Number(/^RssAnon:\s+(\d+) kB/m.exec(read('status'))?.[1]) * KILOBYTE,
    processorMs: () => {
      const fields = read('stat').split(') ')[1]?.split(' ') ?? [];
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
    },
  };
}
