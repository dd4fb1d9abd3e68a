/**
 * Works around the native server's timer of idle connections. That cuts uploads slower than 16
 * KiB/s after ten seconds, and also connections that are read on before their answer
 * (`Exchange.watch`), however long the answer takes. Resuming a connection restarts its timer.
 */
import { Chain, type Link } from '../base/chain.js';
import type { RawResponse } from './transport.js';

/**
 * Less than the ten seconds, even if the four seconds are subtracted in whose steps the server
 * counts.
 */
export const NUDGE_MS = 4_000;

/** A request whose connection is to stay open; `raw` is null once the response may not be used. */
interface KeptOpen {
  readonly raw: RawResponse | null;
}

/** One timer serves all, since most requests are answered before it fires. */
const open = new Chain<KeptOpen>();
let nudge: NodeJS.Timeout | null = null;

function nudgeAll(): void {
  for (let link = open.first; link !== null; link = link.behind) {
    const { raw } = link.item;
    raw?.pause();
    raw?.resume();
  }
  if (open.first !== null || nudge === null) return;
  clearInterval(nudge);
  nudge = null;
}

/** Keeps a connection that is read on from being cut as idle, until the link is removed. */
export function keepOpen(request: KeptOpen): Link<KeptOpen> {
  nudge ??= setInterval(nudgeAll, NUDGE_MS).unref();
  return open.add(request);
}
