/** As a process: disables a key of a store that a server has open. */
import { disableKey } from '../../src/store/keys.js';
import { Store } from '../../src/store/store.js';

const [varDir = '', key = ''] = process.argv.slice(2);
const store = await Store.open(varDir);
await disableKey(store, key);
await store.close();
