/**
 * Seals the data of events in the store, because they contain connections of merchants, which are
 * secrets.
 */
import type { Sealed, SealPlace } from './sealed.js';

/** The part of the vault that is used here. */
export interface EventVault {
  seal(text: string, place: SealPlace): Sealed;
  open(sealed: Sealed, place: SealPlace): string;
}

/** The event whose data are sealed. */
interface Owner {
  readonly account: string;
  /** Id of the event. */
  readonly id: string;
}

function placeOf({ account, id }: Owner): SealPlace {
  return { account, merchant: id, field: 'event data' };
}

/** Seals the data of one event; they cannot be opened for any other. */
export function sealEventData(vault: Pick<EventVault, 'seal'>, owner: Owner, data: string): Sealed {
  return vault.seal(data, placeOf(owner));
}

/**
 * The data of an event; the same text each time.
 * @throws Error when they were altered or moved, or their key is not available.
 */
export function openEventData(
  vault: Pick<EventVault, 'open'>,
  event: Owner & { readonly data: Sealed | string },
): string {
  const { data } = event;
  return typeof data === 'string' ? data : vault.open(data, placeOf(event));
}
