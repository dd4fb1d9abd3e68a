/**
 * Identifies the process of a server. Servers that see the same processes thereby notice at once
 * when one was killed; all others wait until its beats stop.
 */
import { readlinkSync } from 'node:fs';
import { bootId, processFacts } from '../base/process.js';

/** A process, distinguished from all others that ever have its number. */
export interface ProcessMark {
  /** The machine's start and the container in which the number is valid; empty if unknown. */
  readonly machine: string;
  readonly pid: number;
  /** When it began, by the kernel's count; empty if unknown. */
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

/** Whether a process has certainly ended; false for one that cannot be seen from here. */
export function hasEnded(mark: ProcessMark, own: ProcessMark): boolean {
  if (mark.machine === '' || mark.began === '' || mark.machine !== own.machine) return false;
  const found = processFacts(mark.pid);
  return found === null || found.began !== mark.began || found.ended;
}
