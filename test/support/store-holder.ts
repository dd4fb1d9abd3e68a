/** A process that has a store open until it is killed: store-holder VARDIR open|claim|claim-alone. */
import { claimServer, SERVER_KEY } from '../../src/store/nodes.js';
import { Store } from '../../src/store/store.js';

const [varDir = '', how = ''] = process.argv.slice(2);
const store = await Store.open(varDir);
if (how === 'claim') await claimServer(store);
// As servers did that shared their store with no other.
if (how === 'claim-alone') {
  await store.write(({ put }) => put(SERVER_KEY, { v: 1, pid: process.pid }), { quiet: true });
}
process.stdout.write('ready\n');
setInterval(() => store.get(['meta', 'version']), 100);
