/**
 * Runs at the end of an installation in a checkout, and removes files that this machine never
 * reads.
 */
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { thisMachine, unread } from './slim.js';

for (const path of unread(fileURLToPath(new URL('../..', import.meta.url)), thisMachine())) {
  rmSync(path);
}
