/** Uploads by a client in a process of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What is sent where. */
interface Upload {
  readonly port: number;
  readonly path: string;
  readonly file: string;
  readonly type: string;
}

/**
 * Priority, of 19, of a client whose load others are measured beside: it is on another machine in
 * earnest, and gives way here.
 */
const CLIENT_NICE = 15;

interface Client {
  readonly process: ChildProcess;
  /** Milliseconds of each upload so far. */
  took(): readonly number[];
}

function start({ port, path, file, type }: Upload, nice: number, times: number): Client {
  const client = spawn(
    process.execPath,
    [
      fileURLToPath(new URL('./upload-client.js', import.meta.url)),
      String(port),
      path,
      file,
      type,
      String(nice),
      String(times),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let text = '';
  client.stdout.on('data', (part: Buffer) => {
    text += part.toString();
  });
  return {
    process: client,
    took: () => text.split('\n').slice(0, -1).map(Number),
  };
}

/** Sends a file, takes the answer and returns the milliseconds of both. */
export async function upload(asked: Upload): Promise<number> {
  const client = start(asked, 0, 1);
  await once(client.process, 'close');
  const [took] = client.took();
  if (took === undefined) throw new Error('the upload failed');
  return took;
}

/** Sends a file without a pause while `measure` runs; gives the milliseconds of each upload too. */
export async function beside<T>(
  asked: Upload,
  measure: () => Promise<T>,
): Promise<{ readonly measured: T; readonly took: readonly number[] }> {
  const client = start(asked, CLIENT_NICE, Number.MAX_SAFE_INTEGER);
  try {
    const measured = await measure();
    if (client.process.exitCode !== null) throw new Error('an upload failed');
    return { measured, took: client.took() };
  } finally {
    client.process.kill('SIGKILL');
  }
}
