/** One upload of rows, which are made while it is sent, with a reader that pauses now and then. */
import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { setTimeout as rest } from 'node:timers/promises';
import { BENCH_KEY } from '../load/situs-server.js';
import type { RowCheck } from './row-check.js';
import { drawing, POOL_HEADER, type PoolRow } from './row-pool.js';

const ROWS_PER_PIECE = 1_000;
/** How long each side pauses. An upload that has not moved for so long counts as stopped. */
export const REST_MS = 4_000;
/** Where the reader pauses, as shares of the rows. */
const READER_RESTS = [0.1, 0.3, 0.8] as const;
/**
 * Where the reader pauses until the upload stops too, though less long than a server would wait.
 */
const READER_STOP = 0.45;
const STOP_PATIENCE_MS = 45_000;
const STEP_MS = 50;
/** Where the reader is slow, and how long it then waits after each piece. */
const SLOW_FROM = 0.6;
const SLOW_TO = 0.62;
const SLOW_MS = 5;
/** Where the writer pauses. */
const WRITER_RESTS = [0.2, 0.7] as const;

interface UploadAsk {
  readonly port: number;
  readonly pool: readonly PoolRow[];
  readonly rows: number;
  readonly seed: number;
  readonly restMs: number;
  readonly check: RowCheck;
  /** Called when half of the rows were read. */
  readonly half: () => void;
}

export class RowUpload {
  sent = 0;
  /** The most rows that were sent and not read yet. */
  ahead = 0;
  rests = 0;
  /** Whether the server stopped the upload while the reader paused. */
  stopped = false;
  readonly wrong: string[] = [];
  readonly #ask: UploadAsk;
  #moved = 0;
  #written = false;

  constructor(ask: UploadAsk) {
    this.#ask = ask;
  }

  /** Sends and reads everything, and returns the id of the stream. */
  async run(): Promise<string> {
    const sent = request({
      port: this.#ask.port,
      host: '127.0.0.1',
      method: 'POST',
      path: '/bulk/lookup',
      agent: false,
      headers: { 'X-API-KEY': BENCH_KEY, 'Content-Type': 'text/csv' },
    });
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
    const failed = new Promise<never>((_, reject) => sent.on('error', reject));
    const written = this.#write(sent);
    // An error there ends the answer too, which is awaited below.
    written.catch(() => undefined);
    const [response] = await Promise.race([answered, failed]);
    if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}`);
    await Promise.race([this.#read(response), failed]);
    if (!response.complete) this.wrong.push('the answer was cut');
    if (!this.#written) {
      this.wrong.push(`the answer ended when ${this.sent} rows were sent`);
      sent.destroy();
    }
    return String(response.headers['x-situs-job']);
  }

  async #write(sent: ClientRequest): Promise<void> {
    const { pool, rows, seed, restMs } = this.#ask;
    const draw = drawing(pool, seed);
    const rests = WRITER_RESTS.map((share) => Math.floor(share * rows));
    const parts: Buffer[] = [Buffer.from(POOL_HEADER)];
    const lineEnd = Buffer.from('\n');
    while (this.sent < rows) {
      const until = Math.min(rows, this.sent + ROWS_PER_PIECE);
      for (let id = this.sent; id < until; id += 1) {
        parts.push(Buffer.from(`${id},`, 'latin1'), pool[draw()]!.body, lineEnd);
      }
      this.sent = until;
      this.#moved = performance.now();
      const piece = Buffer.concat(parts.splice(0));
      if (!sent.write(piece)) await once(sent, 'drain');
      if (rests[0] !== undefined && this.sent >= rests[0]) {
        rests.shift();
        this.rests += 1;
        await rest(restMs);
      }
    }
    this.#written = true;
    sent.end();
  }

  async #read(response: IncomingMessage): Promise<void> {
    const { check, rows, restMs, half } = this.#ask;
    const rests = READER_RESTS.map((share) => Math.floor(share * rows));
    let halved = false;
    let stop: number | null = Math.floor(READER_STOP * rows);
    const [slowFrom, slowTo] = [SLOW_FROM * rows, SLOW_TO * rows];
    // While this loop waits, the stream is not read further.
    for await (const piece of response as AsyncIterable<Buffer>) {
      check.push(piece);
      if (!halved && check.rows * 2 >= rows) {
        halved = true;
        half();
      }
      this.ahead = Math.max(this.ahead, this.sent - check.rows);
      if (rests[0] !== undefined && check.rows >= rests[0]) {
        rests.shift();
        this.rests += 1;
        await rest(restMs);
      } else if (stop !== null && check.rows >= stop) {
        stop = null;
        await this.#untilStopped();
      } else if (check.rows >= slowFrom && check.rows < slowTo) await rest(SLOW_MS);
    }
  }

  /** Reads nothing until the upload has not moved for a while. */
  async #untilStopped(): Promise<void> {
    const from = performance.now();
    this.rests += 1;
    while (!this.#written && performance.now() - from < STOP_PATIENCE_MS) {
      await rest(STEP_MS);
      this.ahead = Math.max(this.ahead, this.sent - this.#ask.check.rows);
      if (performance.now() - Math.max(this.#moved, from) < this.#ask.restMs) continue;
      this.stopped = true;
      return;
    }
    if (!this.#written) this.wrong.push('the upload of a reader that rests was never stopped');
  }
}
