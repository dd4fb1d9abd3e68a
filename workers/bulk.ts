/** Worker of bulk chunks: the same answers, with the processor left to single lookups first. */
import { setPriority } from 'node:os';
import { serve } from './engine.js';

/** Of 19; enough to let a lookup run at once, and no hindrance where the processor is idle. */
const NICE = 10;

// Elsewhere the priority is that of the whole process.
if (process.platform === 'linux') {
  try {
    setPriority(NICE);
  } catch {
    // Not permitted here: lookups are slower beside bulk files, and nothing else.
  }
}

export { serve };
