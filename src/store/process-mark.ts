/**
 * Which process a server runs in, so that one that was killed is known at once by those that see
 * the same processes: the rest of the world waits for its beats to stay out.
 */
import { readlinkSync } from 'node:fs';
import { bootId, processFacts } from '../base/process.js';

/** A process, told apart from any other that ever has its number. */
export interface ProcessMark {
  /** Whose number it is: the machine's start and the container; empty if unknown. */
  readonly machine: string;
  readonly pid: number;
  /** When it began, in the kernel's own count; empty if unknown. */
  readonly began: string;
}

function machineOf(): string {
  const boot = bootId();
  if (boot === null) return '';
  try {
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return '';
  }
}

/** The mark of this process. */
export function ownMark(): ProcessMark {
  return { machine: machineOf(), pid: process.pid, began: processFacts('self')?.began ?? '' };
}

/** Whether a process has certainly ended; false for those that cannot be seen from here. */
export function hasEnded(mark: ProcessMark, own: ProcessMark): boolean {
  if (mark.machine === '' || mark.began === '' || mark.machine !== own.machine) return false;
  const found = processFacts(mark.pid);
  return found === null || found.began !== mark.began || found.ended;
}
