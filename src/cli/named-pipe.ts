/**
 * Named pipes that commands read and write without a blocking system call: one that waits for the
 * other end could not be cancelled, and would keep the process from ending.
 */
import { constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { type Readable, Writable } from 'node:stream';
import { errorCode } from '../base/error-code.js';

/** Interval at which a pipe is tried until somebody reads it, since the system does not notify. */
const READER_LOOK_MS = 20;

/** Waits for the first writer of a pipe, then reads until all writers have closed it. */
export function readPipe(path: string): Readable {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}

/** Opens a pipe for writing; null where nobody reads it. */
function openRead(path: string): number | null {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (errorCode(error) === 'ENXIO') return null;
    throw error;
  }
}

/** Waits until somebody reads a pipe, then writes to it. */
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
