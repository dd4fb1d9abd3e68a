/**
 * What the store records of the endpoint for events: that there is one, whether it is still the
 * same, and whether it said that it is gone. Its URL may contain a secret and is not stored.
 */
import { createHash } from 'node:crypto';
import { ENDPOINT_KEY } from './format.js';
import { number, orNull, recordReader, text } from './record-reader.js';
import type { Store, StoreTransaction } from './store.js';

const readEndpoint = recordReader('endpoint', 1, {
  /** SHA-256 of the URL in hex. */
  id: text,
  /** When it answered that it is gone, in milliseconds since 1970; null while it is in use. */
  disabledAt: orNull(number),
});

type EndpointRecord = ReturnType<typeof readEndpoint>;

/** Reads the endpoint's record; null where no endpoint is configured. */
export function endpointOf(reader: Pick<StoreTransaction, 'get'>): EndpointRecord | null {
  const value = reader.get(ENDPOINT_KEY);
  return value === undefined ? null : readEndpoint(value);
}

/** The id of an endpoint, made of its URL. */
export function endpointId(url: string): string {
  return createHash('sha256').update(url, 'utf8').digest('hex');
}

/**
 * Records which endpoint is configured, null for none. A different URL is enabled; the same one
 * stays disabled if it was.
 */
export async function setEndpoint(store: Store, url: string | null): Promise<void> {
  const id = url === null ? null : endpointId(url);
  if ((endpointOf(store)?.id ?? null) === id) return;
  await store.write(({ put, remove }) => {
    if (id === null) remove(ENDPOINT_KEY);
    else put(ENDPOINT_KEY, { v: 1, id, disabledAt: null } satisfies EndpointRecord);
  });
}

/**
 * Disables the endpoint that said it is gone, until it is enabled or another URL is set. Does
 * nothing where another URL was set meanwhile.
 */
export function disableEndpoint(transaction: StoreTransaction, id: string, now: number): void {
  const record = endpointOf(transaction);
  if (record === null || record.id !== id || record.disabledAt !== null) return;
  transaction.put(ENDPOINT_KEY, { ...record, disabledAt: now });
}

/** Enables the endpoint again; returns whether it was disabled. */
export async function enableEndpoint(store: Store): Promise<boolean> {
  return store.write((transaction) => {
    const record = endpointOf(transaction);
    if (record === null || record.disabledAt === null) return false;
    transaction.put(ENDPOINT_KEY, { ...record, disabledAt: null });
    return true;
  });
}
