/**
 * A worker for chunks of bulk files. It gives the same answers, at a lower priority than single
 * lookups.
 */
import { setPriority } from 'node:os';
import { serve } from './engine.js';

/**
 * A nice value of up to 19; this one lets a lookup run at once, and costs nothing where the
 * processor is idle.
 */
const NICE = 10;

// On other systems it would change the priority of the whole process.
if (process.platform === 'linux') {
  try {
    setPriority(NICE);
  } catch {
    // Not permitted here: lookups are then slower while bulk files are processed.
  }
}

export { serve };
