/**
 * The native server's timer of idle connections, which cuts those of uploads slower than 16 KiB/s
 * after ten seconds, and any that is read on before its answer (`Exchange.watch`), however long
 * that takes. Reading on sets it anew.
 */
import { Chain, type Link } from '../base/chain.js';
import type { RawResponse } from './transport.js';

/** Less than those ten seconds and the four that they are counted by. */
export const NUDGE_MS = 4_000;

/** A request whose connection is to stay open; null once its response may not be touched. */
interface KeptOpen {
  readonly raw: RawResponse | null;
}

/** One timer for all: most are answered before it comes. */
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
