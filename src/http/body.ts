/** Collects a request body with a limit. */
import type { Exchange } from './exchange.js';

/** Bodies of every family that does not say otherwise. */
export const BODY_BYTES_MAX = 1_048_576;

/** A refused body is read to its end up to here, so that the client reads the answer. */
export const DRAIN_BYTES_MAX = 67_108_864;

/** The native server cuts uploads slower than 16 KiB/s after ten seconds unless nudged before. */
export const NUDGE_MS = 4_000;

/** Receives the whole body, or null when it was longer than allowed. */
export type BodyDone = (body: Uint8Array | null) => void;

/** Whose bodies are under way. One timer for all: most bodies are there with their heads. */
const uploads = new Set<Exchange>();
let nudge: NodeJS.Timeout | null = null;

function nudgeAll(): void {
  for (const { raw } of uploads) {
    raw?.pause();
    raw?.resume();
  }
  if (uploads.size > 0 || nudge === null) return;
  clearInterval(nudge);
  nudge = null;
}

/** Reads the body of an exchange; must be called while its handler runs. */
export function readBody(exchange: Exchange, bytesMax: number, done: BodyDone): void {
  const { raw } = exchange;
  if (raw === null) return;
  const chunks: Uint8Array[] = [];
  let received = 0;
  uploads.add(exchange);
  nudge ??= setInterval(nudgeAll, NUDGE_MS).unref();
  exchange.onClosed(() => uploads.delete(exchange));
  raw.onData((chunk, isLast) => {
    if (exchange.raw === null) return;
    received += chunk.byteLength;
    if (received > DRAIN_BYTES_MAX) {
      exchange.abandon();
      return;
    }
    // The chunk is emptied when this returns, hence the copy.
    if (received <= bytesMax) chunks.push(Buffer.from(new Uint8Array(chunk)));
    else chunks.length = 0;
    if (!isLast) return;
    uploads.delete(exchange);
    const [only] = chunks;
    const whole = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
    done(received <= bytesMax ? whole : null);
  });
}
