/** Uploads a file and reads the answer: `node bulk-client.js PORT FILE TYPE` prints milliseconds. */
import { createReadStream } from 'node:fs';
import { request } from 'node:http';
import { performance } from 'node:perf_hooks';
import { BENCH_KEY } from './situs-server.js';

const PIECE_BYTES = 262_144;

const [, , port = '', file = '', type = ''] = process.argv;
const from = performance.now();
const sent = request({
  port: Number(port), host: '127.0.0.1', method: 'POST', path: '/bulk/lookup',
  headers: { 'X-API-KEY': BENCH_KEY, 'Content-Type': type },
}, (response) => {
  response.on('data', () => undefined);
  response.on('end', () => {
    const took = performance.now() - from;
    process.stdout.write(response.statusCode === 200 ? String(took) : `status ${response.statusCode}`);
  });
});
createReadStream(file, { highWaterMark: PIECE_BYTES }).pipe(sent);
