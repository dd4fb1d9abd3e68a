/**
 * Imported before a test file (node --import): every store that it or a process of its opens is in
 * PostgreSQL, in a schema of the run in the place of the folder. Its threads open none, and neither
 * do threads and processes of workers, which are spared the modules of the store.
 */
import { resolve, sep } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { schemaOf, schemaUrl } from './postgres-schema.js';
import { CLI, MAIN } from './program.js';

const prefix = process.env['SITUS_TEST_SCHEMAS'];
if (prefix === undefined) throw new Error('SITUS_TEST_SCHEMAS says how the schemas are named');
const [, program = ''] = process.argv;

// The service and commands read it there.
const { SITUS_VAR } = process.env;
if (SITUS_VAR !== undefined) {
  process.env['SITUS_STORE'] = schemaUrl(schemaOf(prefix, resolve(SITUS_VAR)));
}

const isOfTests = program !== CLI && program !== MAIN && !program.includes(`${sep}workers${sep}`);
if (isMainThread && isOfTests) {
  const { Store } = await import('../../src/store/store.js');
  const open = Store.open.bind(Store);
  Store.open = (varDir, options = {}): ReturnType<typeof open> =>
    open(varDir, {
      ...options,
      url: options.url ?? schemaUrl(schemaOf(prefix, varDir)),
    });
}
