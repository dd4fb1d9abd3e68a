/** Puts releases into a place: the bundle of each in pieces, named by their SHA-256. */
import { rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { openBundle, packRelease } from '../dataset/bundle.js';
import { signersOf } from '../dataset/signature.js';
import type { BytesRead } from '../dataset/stamp.js';
import { listText, PIECE_BYTES, type Pieces } from './pieces.js';
import { type Place, sumOf } from './fleet-place.js';
import { changeState, type FleetState, type Offer, readState, withOffer } from './state.js';

export interface Push {
  readonly place: Place;
  /** The release, which was found sound. */
  readonly dir: string;
  readonly dataset: string;
  /** A file that does not exist; it is removed. */
  readonly temporary: string;
  readonly by: string;
  /** Bytes of each piece but the last; `PIECE_BYTES` unless given. */
  readonly pieceBytes?: number;
  /** Told of bytes packed, then of bytes pushed. */
  readonly packed: BytesRead;
  readonly pushed: BytesRead;
}

/** Sends the pieces that the place does not have, and returns the list of all. */
async function pushPieces(
  { place, temporary, pushed, pieceBytes: each = PIECE_BYTES }: Push,
): Promise<Pieces> {
  const total = statSync(temporary).size;
  const sums: string[] = [];
  const file = await open(temporary, 'r');
  try {
    for (let at = 0; at < total; at += each) {
      const length = Math.min(each, total - at);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
      if (bytesRead !== length) throw new Error(`${temporary} ended before its time`);
      const sum = sumOf(buffer);
      if (!await place.has(sum)) await place.put(sum, buffer);
      sums.push(sum);
      pushed(at + length, total);
    }
  } finally {
    await file.close();
  }
  return { each, total, sums };
}

/**
 * Pushes a release and announces it. What was pushed stays when it fails, and the next push of the
 * same bytes goes on behind it. Returns the state it made.
 * @throws PlaceError where the place does not take it.
 */
export async function pushRelease(push: Push): Promise<FleetState> {
  const { place, dir, dataset, temporary, by, packed } = push;
  // Whoever cannot even be read from is told before anything is packed.
  await readState(place);
  try {
    await packRelease(dir, dataset, temporary, packed);
    const { files } = await openBundle(temporary);
    const list = Buffer.from(listText(dataset, await pushPieces(push)));
    const offer: Offer = {
      dataset, list: sumOf(list), bytes: statSync(temporary).size,
      unpacked: files.reduce((sum, { bytes }) => sum + bytes, 0), signedBy: signersOf(dir),
      at: new Date().toISOString(), by,
    };
    await place.put(offer.list, list);
    return await changeState(place, (state) => withOffer(state, offer));
  } finally {
    rmSync(temporary, { force: true });
  }
}
