/**
 * Run after every build: what was compiled from files that are gone must not be run or packed, and
 * what a thread loads at its start is made one file.
 */
import { fileURLToPath } from 'node:url';
import { bundleWorkers } from './bundled.js';
import { removeStale } from './compiled.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

for (const path of removeStale(ROOT)) {
  process.stdout.write(`removed ${path}, whose source is gone\n`);
}
if (!bundleWorkers(ROOT))
  process.stderr.write('esbuild is not installed: workers start more slowly\n');
