/** The store of SITUS_VAR, open as long as a command uses it. */
import { loadConfig } from '../config.js';
import { Store } from '../store/store.js';

export async function withStore<T>(use: (store: Store) => T | Promise<T>): Promise<T> {
  const store = await Store.open(loadConfig().varDir);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
