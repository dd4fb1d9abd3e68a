/**
 * Bytes that arrive in pieces: one buffer that grows by them, or pieces that are joined over
 * several turns of the event loop.
 */
import { isUtf8 } from 'node:buffer';

/** Bytes before any have arrived. */
export const NO_BYTES: Buffer = Buffer.alloc(0);

/** The same bytes as a Buffer: the object itself where it is one, otherwise a view. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Room kept before bytes whose memory may be moved to a worker, for the head that is written there.
 */
export const HEAD_ROOM_BYTES = 8;

/** How much memory is allocated beyond what is needed. */
export interface Growth {
  /** How many times the needed size is allocated, from the second piece on; 2 unless given. */
  readonly factor?: number;
  /** Bytes of room before the first byte. */
  readonly before?: number;
  /** The least size that is allocated. */
  readonly least?: number;
  /** Whether the memory before the bytes is free too, so that the bytes may be moved there. */
  readonly again?: boolean;
}

/**
 * Appends a piece to bytes. Room is left for further pieces, so that a long record in small pieces
 * is not copied with each of them. `held` must be empty or a result of this function, because the
 * memory behind it is overwritten.
 */
export function grown(
  held: Buffer,
  piece: Uint8Array,
  { factor = 2, before = 0, least = 0, again = false }: Growth = {},
): Buffer {
  const { length, buffer, byteOffset } = held;
  const needed = length + piece.length;
  if (length > 0 && byteOffset + needed <= buffer.byteLength) {
    new Uint8Array(buffer).set(piece, byteOffset + length);
    return Buffer.from(buffer, byteOffset, needed);
  }
  // At most half of the memory is moved, so that each byte is moved seldom.
  if (again && needed <= buffer.byteLength && (length === 0 || 2 * needed <= buffer.byteLength)) {
    const all = new Uint8Array(buffer);
    all.copyWithin(0, byteOffset, byteOffset + length);
    all.set(piece, length);
    return Buffer.from(buffer, 0, needed);
  }
  const size = Math.max(least, length === 0 ? needed : Math.ceil(factor * needed));
  const room = Buffer.allocUnsafeSlow(before + size);
  room.set(held, before);
  room.set(piece, before + length);
  return room.subarray(before, before + needed);
}

/**
 * Copies the first `used` bytes into a buffer of twice the size, or of `needed` bytes if that is
 * more.
 */
export function doubled(buffer: Buffer, used: number, needed: number): Buffer {
  const next = Buffer.allocUnsafeSlow(Math.max(needed, buffer.length * 2));
  buffer.copy(next, 0, 0, used);
  return next;
}

/**
 * Bytes that stay as they are: a copy where they lie in memory shared with a worker, which the next
 * task overwrites.
 */
export function kept(bytes: Uint8Array): Uint8Array {
  return bytes.buffer instanceof SharedArrayBuffer ? Buffer.from(bytes) : bytes;
}

/**
 * How many bytes are joined in one turn of the event loop, so that megabytes hold up no other
 * request.
 */
export const JOINED_BYTES_MAX = 65_536;

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

const LEAD_BITS = 0xc0;
/** A character has at most this many bytes after its first one. */
const TRAILING_MAX = 3;

/** The end of the last whole character of bytes that are UTF-8. */
function characterEnd(bytes: Uint8Array, end: number): number {
  for (let back = 1; back <= TRAILING_MAX && back <= end; back += 1) {
    const byte = bytes[end - back]!;
    if (byte >= LEAD_BITS) return end - back;
    if (byte < 0x80) return end;
  }
  return end;
}

interface Joined {
  /** They begin HEAD_ROOM_BYTES into memory of their own. */
  readonly bytes: Buffer;
  readonly isUtf8: boolean;
}

/**
 * Joins pieces over as many turns as that takes. `turn` waits for the next turn, and is replaced in
 * tests.
 */
export async function joined(pieces: readonly Buffer[], turn = nextTurn): Promise<Joined> {
  const size = pieces.reduce((sum, { length }) => sum + length, HEAD_ROOM_BYTES);
  const bytes = Buffer.allocUnsafeSlow(size).subarray(HEAD_ROOM_BYTES);
  let at = 0;
  let checked = 0;
  let isText = true;
  const check = (to: number): void => {
    isText &&= isUtf8(bytes.subarray(checked, to));
    checked = to;
  };
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += JOINED_BYTES_MAX) {
      const part = piece.subarray(from, from + JOINED_BYTES_MAX);
      if (at + part.length - checked > JOINED_BYTES_MAX) {
        check(characterEnd(bytes, at));
        await turn();
      }
      bytes.set(part, at);
      at += part.length;
    }
  }
  check(at);
  return { bytes, isUtf8: isText };
}
