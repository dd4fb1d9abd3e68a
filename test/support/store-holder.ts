/** A process that has a store open until it is killed: store-holder VARDIR open|claim. */
import { claimServer } from '../../src/store/server-claim.js';
import { Store } from '../../src/store/store.js';

const [varDir = '', how = ''] = process.argv.slice(2);
const store = await Store.open(varDir);
if (how === 'claim') await claimServer(store);
process.stdout.write('ready\n');
setInterval(() => store.get(['meta', 'version']), 100);
