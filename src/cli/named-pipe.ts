/**
 * Named pipes that commands read and write. The event loop waits for the other end: a call of the
 * system that stands still in one cannot be ended, and keeps the process from ending.
 */
import { constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { type Readable, Writable } from 'node:stream';
import { errorCode } from '../base/error-code.js';

/** How often is looked whether somebody reads: nothing tells of it. */
const READER_LOOK_MS = 20;

/** Reads a pipe until all who write to it have closed it; the first of them is waited for. */
export function readPipe(path: string): Readable {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}

/** Opens a pipe that somebody reads; null where nobody does. */
function openRead(path: string): number | null {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (errorCode(error) === 'ENXIO') return null;
    throw error;
  }
}

/** Writes to a pipe; whoever reads it is waited for. */
export class PipeWriter extends Writable {
  readonly #path: string;
  #socket: Socket | null = null;
  #looking: NodeJS.Timeout | undefined;

  constructor(path: string) {
    super();
    this.#path = path;
  }

  override _construct(opened: (error?: Error) => void): void {
    try {
      const fd = openRead(this.#path);
      if (fd === null) {
        this.#looking = setTimeout(() => this._construct(opened), READER_LOOK_MS);
        return;
      }
      this.#socket = new Socket({ fd, readable: false, writable: true });
      this.#socket.on('error', (error) => this.destroy(error));
      opened();
    } catch (error) {
      opened(error as Error);
    }
  }

  override _write(piece: Buffer, _encoding: string, written: (error?: Error | null) => void): void {
    this.#socket?.write(piece, written);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#looking);
    this.#socket?.destroy();
    done(error);
  }
}
