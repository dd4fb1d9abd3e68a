/**
 * The rate of each client address on the public catalogue: 100 requests in a rolling minute.
 * An address takes about 1 KiB and 10,000 are remembered, so all of it stays below 16 MiB. When
 * more come, the one that asked longest ago is forgotten: the gate guards against haste, not
 * against a crowd.
 */
import { performance } from 'node:perf_hooks';
import { ExactWindow } from '../rate-window.js';

export const CATALOGUE_RATE = 100;

export const CLIENTS_MAX = 10_000;

/** Groups of an IPv6 address that name a network: whoever has one has all addresses in it. */
const NETWORK_GROUPS = 4;
const MAPPED = /^(?:0{1,4}:){5}ffff:|^::ffff:/i;

/** Whom an address counts for. The native server writes IPv6 in full. */
export function clientOf(address: string): string {
  if (!address.includes(':') || MAPPED.test(address)) return address;
  return address.split(':').slice(0, NETWORK_GROUPS).join(':');
}

export class ClientGate {
  /** Those that asked last are at the end. */
  readonly #windows = new Map<string, ExactWindow>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Addresses remembered. */
  get size(): number {
    return this.#windows.size;
  }

  /** Admits one request of an address: how many remain, or REFUSED. */
  take(address: string): number {
    const client = clientOf(address);
    const known = this.#windows.get(client);
    const window = known ?? new ExactWindow();
    if (known !== undefined) this.#windows.delete(client);
    else if (this.#windows.size >= CLIENTS_MAX) {
      const [oldest] = this.#windows.keys();
      if (oldest !== undefined) this.#windows.delete(oldest);
    }
    this.#windows.set(client, window);
    return window.take(this.#now(), CATALOGUE_RATE);
  }
}
