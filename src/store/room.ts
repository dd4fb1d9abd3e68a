/** Whether the disk of the store has room for anything. */
import { statfsSync } from 'node:fs';

/**
 * Below this, writes that need new pages fail. Those that find freed ones in the file still
 * succeed, so that a write that did tells nothing of the next.
 */
const ROOM_BYTES_MIN = 1_048_576;

/** True where it cannot be told. */
export function hasRoom(dir: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize >= ROOM_BYTES_MIN;
  } catch {
    return true;
  }
}
