/** What a process loads before it does anything: each library costs every start its time. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../src/ingest/source-files.js';
import { importsOf } from '../support/http-source-rules.js';

/** Gone after compilation. */
const TYPES_ONLY = /^(?:import|export) type\b[^;]*;/gm;
/** Loaded when it is come to. */
const LATER = /\bimport\(/g;

/** The packages that a file and all that it imports need at once. */
function packagesOf(start: string): readonly string[] {
  const packages = new Set<string>();
  const files = new Set([join(packageRoot(), start)]);
  for (const file of files) {
    const text = readFileSync(file, 'utf8').replaceAll(TYPES_ONLY, '').replaceAll(LATER, 'later(');
    for (const name of importsOf(text)) {
      if (name.startsWith('.')) files.add(join(dirname(file), name.replace(/\.js$/, '.ts')));
      else if (!name.startsWith('node:')) packages.add(name);
    }
  }
  return [...packages].sort();
}

test('the command loads what reads its words, and the rest when it is asked for', () => {
  assert.deepEqual(packagesOf('src/cli.ts'), ['@commander-js/extra-typings', 'commander']);
});

test('a command on datasets loads what answers from one, and what judges one, where it is asked to', () => {
  const loaded = packagesOf('src/cli/dataset-local.ts');
  assert.ok(loaded.includes('lmdb'), 'the imports were followed');
  for (const name of ['papaparse', 'sax', 'yauzl']) assert.ok(!loaded.includes(name), name);
});

test('a server loads what calls others, or measures, where it is set to', () => {
  const loaded = packagesOf('src/serve.ts');
  assert.ok(loaded.includes('lmdb') && loaded.includes('piscina'), 'the imports were followed');
  for (const name of ['fastest-validator', 'nodemailer', 'pino', 'prom-client', 'undici']) {
    assert.ok(!loaded.includes(name), name);
  }
});

test('a thread that answers loads no store, no server and no client', () => {
  assert.deepEqual(packagesOf('workers/engine.ts'), ['leven', 'lmdb', 'msgpackr', 'papaparse']);
});
