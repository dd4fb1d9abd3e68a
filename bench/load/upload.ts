/** Uploads files with a client in a process of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A file and where to send it. */
interface Upload {
  readonly port: number;
  readonly path: string;
  readonly file: string;
  readonly type: string;
}

/**
 * The nice value, up to 19, of a client that only makes load for other measurements: in practice it
 * runs on another machine, so it must take no processor time from them here.
 */
const CLIENT_NICE = 15;

interface Client {
  readonly process: ChildProcess;
  /** How many milliseconds each upload so far has taken. */
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

/** Uploads a file, reads the answer, and returns how many milliseconds both took. */
export async function upload(asked: Upload): Promise<number> {
  const client = start(asked, 0, 1);
  await once(client.process, 'close');
  const [took] = client.took();
  if (took === undefined) throw new Error('the upload failed');
  return took;
}

/**
 * Uploads a file again and again while `measure` runs; also returns the milliseconds of each
 * upload.
 */
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
