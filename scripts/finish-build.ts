/**
 * Runs after every build: removes compiled files whose sources no longer exist, so that they are
 * neither run nor packed, and bundles what a thread loads at its start into one file.
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
