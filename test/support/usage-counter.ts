/**
 * A process that counts lookups of one key in a store until it is killed, and says on standard
 * output how far it is: usage-counter VARDIR KEY-ID.
 */
import { Store } from '../../src/store/store.js';
import { UsageBook } from '../../src/store/usage.js';
import type { Metered } from '../../src/store/usage-meter.js';

const [varDir = '', id = ''] = process.argv.slice(2);
const key: Metered = {
  id,
  account: 'counted',
  grants: 0,
  coreLimit: 0,
  geoLimit: 0,
  merchantLimit: 0,
};

const usage = new UsageBook(await Store.open(varDir));
let counted = 0;

setInterval(() => {
  for (let turn = 0; turn < 10; turn += 1) {
    const admission = usage.admit(key, false);
    if (admission === null) throw new Error('an unmetered key was refused');
    usage.settle(admission, true, turn % 2 === 0);
    counted += 1;
  }
  process.stdout.write(`${counted}\n`);
}, 5);
