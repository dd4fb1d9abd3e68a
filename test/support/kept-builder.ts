/** A process that asks for a kept build: DIR INPUT LOG. Each build adds a line to LOG. */
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keptBuild } from './kept-datasets.js';

const BUILD_MS = 300;
const [dir = '', input = '', log = ''] = process.argv.slice(2);

const { output } = keptBuild(dir, { args: ['kept'], content: [input], listed: [] }, (varDir) => {
  appendFileSync(log, 'built\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUILD_MS);
  writeFileSync(join(varDir, 'data'), 'whole');
  return 'told';
});
process.stdout.write(output);
