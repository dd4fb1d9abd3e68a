/**
 * Uploads a file and reads the answer, several times: `node upload-client.js PORT PATH FILE TYPE
 * NICE TIMES` prints a line with the milliseconds of each.
 */
import { createReadStream } from 'node:fs';
import { Agent, request } from 'node:http';
import { setPriority } from 'node:os';
import { performance } from 'node:perf_hooks';
import { BENCH_KEY } from './situs-server.js';

const PIECE_BYTES = 262_144;
const AGENT = new Agent({ keepAlive: true });

const [, , port = '', path = '', file = '', type = '', nice = '0', times = '1'] = process.argv;

/** Milliseconds from the first byte sent until the last one received. */
function post(): Promise<number> {
  const from = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        port: Number(port),
        host: '127.0.0.1',
        method: 'POST',
        path,
        agent: AGENT,
        headers: { 'X-API-KEY': BENCH_KEY, 'Content-Type': type },
      },
      (response) => {
        if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
        response.on('data', () => undefined);
        response.on('end', () => resolve(performance.now() - from));
      },
    );
    sent.on('error', reject);
    createReadStream(file, { highWaterMark: PIECE_BYTES }).pipe(sent);
  });
}

setPriority(Number(nice));
for (let done = 0; done < Number(times); done += 1) process.stdout.write(`${await post()}\n`);
AGENT.destroy();
