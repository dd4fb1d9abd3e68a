/**
 * Imported before a test file (node --import): every store that it or a process of its opens is in
 * PostgreSQL, in a schema of the run in the place of the folder.
 */
import { resolve } from 'node:path';
import { Store } from '../../src/store/store.js';
import { schemaOf, schemaUrl } from './postgres.js';

const prefix = process.env['SITUS_TEST_SCHEMAS'];
if (prefix === undefined) throw new Error('SITUS_TEST_SCHEMAS says how the schemas are named');

const open = Store.open.bind(Store);
Store.open = (varDir, options = {}): Promise<Store> =>
  open(varDir, {
    ...options,
    url: options.url ?? schemaUrl(schemaOf(prefix, varDir)),
  });

// Commands read it there.
const { SITUS_VAR } = process.env;
if (SITUS_VAR !== undefined) {
  process.env['SITUS_STORE'] = schemaUrl(schemaOf(prefix, resolve(SITUS_VAR)));
}
