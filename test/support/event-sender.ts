/**
 * A process that puts one event into the outbox, says its id, and runs until it is killed:
 * event-sender VARDIR URL commit|send. With "send" it delivers too.
 */
import { Delivery } from '../../src/event/delivery.js';
import { SILENT } from '../../src/log.js';
import { addEvent, listOutbox } from '../../src/store/outbox.js';
import { Store } from '../../src/store/store.js';
import { openVault } from '../../src/store/vault.js';
import { toEndpoint } from './event-outbox.js';
import { fileConfig } from './kek-dir.js';

const [varDir = '', url = '', mode = ''] = process.argv.slice(2);
const store = await Store.open(varDir);
const vault = await openVault(fileConfig(varDir), store);
const delivery = await Delivery.open({
  store,
  vault,
  log: SILENT,
  settings: toEndpoint(url),
});
await store.write((transaction) =>
  addEvent(transaction, vault, {
    account: 'shop',
    type: 'merchant.credentials.set',
    data: { merchantId: 'm-1' },
    now: Date.now(),
  }),
);
const [record] = listOutbox(store, 'waiting', 'event');
if (mode === 'send') delivery.start();
process.stdout.write(`${record?.id ?? ''}\n`);
setInterval(() => undefined, 1_000);
