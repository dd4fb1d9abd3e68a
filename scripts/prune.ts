/** Run after every build: what was compiled from files that are gone must not be run or packed. */
import { fileURLToPath } from 'node:url';
import { removeStale } from './compiled.js';

for (const path of removeStale(fileURLToPath(new URL('../..', import.meta.url)))) {
  process.stdout.write(`removed ${path}, whose source is gone\n`);
}
