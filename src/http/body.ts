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

/** Reads the body of an exchange; must be called while its handler runs. */
export function readBody(exchange: Exchange, bytesMax: number, done: BodyDone): void {
  const { raw } = exchange;
  if (raw === null) return;
  const chunks: Uint8Array[] = [];
  let received = 0;
  const nudge = setInterval(() => {
    exchange.raw?.pause();
    exchange.raw?.resume();
  }, NUDGE_MS);
  exchange.onClosed(() => clearInterval(nudge));
  raw.onData((chunk, isLast) => {
    if (exchange.raw === null) return;
    received += chunk.byteLength;
    if (received > DRAIN_BYTES_MAX) {
      exchange.abandon();
      return;
    }
    // The chunk is emptied when this returns, hence the copy.
    if (received <= bytesMax) chunks.push(new Uint8Array(chunk.slice(0)));
    else chunks.length = 0;
    if (!isLast) return;
    clearInterval(nudge);
    const [only] = chunks;
    const whole = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
    done(received <= bytesMax ? whole : null);
  });
}
