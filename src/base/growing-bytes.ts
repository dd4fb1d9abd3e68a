/** Bytes that come in pieces, held behind one another or put together some at a time. */
import { isUtf8 } from 'node:buffer';

/** Nothing yet. */
export const NO_BYTES: Buffer = Buffer.alloc(0);

/** Bytes as a Buffer: themselves where they are one, else a view of them. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Room before bytes whose memory may be moved to a worker: what is said of them goes there. */
export const HEAD_ROOM_BYTES = 8;

/** What new memory has beside what is needed then. */
export interface Growth {
  /** So many times that, from the second piece on; 2 unless given. */
  readonly factor?: number;
  /** Room before the first byte. */
  readonly before?: number;
  /** At least so much. */
  readonly least?: number;
  /** What lies before the bytes in their memory is nobody's either, and is used again. */
  readonly again?: boolean;
}

/**
 * Bytes with a piece behind them. Room is left for further ones, so that a long record in small
 * pieces is not copied with each of them. `held` is empty or came from here: what lies behind it in
 * its memory is nobody's.
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
  // What is moved is at most half of the memory, so that a byte is moved seldom.
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

/** The first `used` bytes of a memory in one of twice its size, or of `needed` bytes if more. */
export function doubled(buffer: Buffer, used: number, needed: number): Buffer {
  const next = Buffer.allocUnsafeSlow(Math.max(needed, buffer.length * 2));
  buffer.copy(next, 0, 0, used);
  return next;
}

/** Bytes that stay as they are: memory shared with a worker is written again with the next task. */
export function kept(bytes: Uint8Array): Uint8Array {
  return bytes.buffer instanceof SharedArrayBuffer ? Buffer.from(bytes) : bytes;
}

/** So much is put together in one turn of the event loop, of megabytes that nobody waits for. */
export const JOINED_BYTES_MAX = 65_536;

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

const LEAD_BITS = 0xc0;
/** Most bytes after the first one of a character. */
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
  /** In memory of their own, HEAD_ROOM_BYTES from its beginning. */
  readonly bytes: Buffer;
  /** Whether they are UTF-8. */
  readonly isUtf8: boolean;
}

/** Puts pieces together over as many turns as it takes; `turn` is replaced in tests. */
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
