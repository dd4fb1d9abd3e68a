/** node store-writer.js VARDIR PREFIX: writes from 16 clients and says what is stored. */
import { Store } from '../../src/store/store.js';

const [, , varDir = '', prefix = ''] = process.argv;
const store = await Store.open(varDir);
let count = 0;

async function client(): Promise<void> {
  for (;;) {
    const id = `${prefix}-${(count += 1)}`;
    await store.write((transaction) => transaction.put(['thing', id], { v: 1, id }));
    process.stdout.write(`${id}\n`);
  }
}

await Promise.all(Array.from({ length: 16 }, client));
