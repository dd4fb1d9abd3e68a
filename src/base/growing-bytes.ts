/** Bytes that come in pieces, held behind one another. */

/** Nothing yet. */
export const NO_BYTES: Buffer = Buffer.alloc(0);

/**
 * Bytes with a piece behind them. Room is left for further ones, so that a long record in small
 * pieces is not copied with each of them. `held` is empty or came from here: what lies behind it in
 * its memory is nobody's. New memory has `factor` times what is needed then.
 */
export function grown(held: Buffer, piece: Uint8Array, factor = 2): Buffer {
  const { length, buffer, byteOffset } = held;
  const needed = length + piece.length;
  if (length > 0 && byteOffset + needed <= buffer.byteLength) {
    new Uint8Array(buffer).set(piece, byteOffset + length);
    return Buffer.from(buffer, byteOffset, needed);
  }
  const room = Buffer.allocUnsafeSlow(length === 0 ? needed : Math.ceil(factor * needed));
  room.set(held);
  room.set(piece, length);
  return room.subarray(0, needed);
}
