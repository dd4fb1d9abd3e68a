/** Reads every record of a store that no process uses, as the program reads them. */
import { parseKeyRecord, parseUsageRecord } from '../../src/store/format.js';
import { parseCredentials, parseMerchant, parseOwner } from '../../src/store/merchant-format.js';
import { parseNexus } from '../../src/store/nexus.js';
import { Store } from '../../src/store/store.js';

const READERS: Readonly<Record<string, (record: unknown) => unknown>> = {
  key: parseKeyRecord,
  usage: parseUsageRecord,
  merchant: parseMerchant,
  credentials: parseCredentials,
  connection: parseOwner,
  nexus: parseNexus,
};

const BATCH = 500;

/** The faults of the records in one sentence each, and the ids of all keys. */
export async function checkStore(
  varDir: string,
): Promise<{ readonly wrong: readonly string[]; readonly keys: ReadonlySet<string> }> {
  const store = await Store.open(varDir);
  const wrong: string[] = [];
  const keys = new Set<string>();
  try {
    let after: readonly string[] | null = null;
    for (;;) {
      const batch: ReturnType<Store['scan']> = store.scan(after, BATCH);
      for (const { key, record } of batch) {
        const [kind = '', , merchant] = key;
        try {
          READERS[kind]?.(record);
          if (kind === 'key') keys.add(key[1] ?? '');
          if (kind === 'credentials' || kind === 'nexus') {
            const owner = store.get(['merchant', key[1] ?? '', merchant ?? '']);
            if (owner === undefined) wrong.push(`${key.join('/')} belongs to no merchant`);
          }
        } catch (error) {
          wrong.push(`${key.join('/')}: ${String(error)}`);
        }
      }
      after = batch.at(-1)?.key ?? null;
      if (after === null) return { wrong, keys };
    }
  } finally {
    await store.close();
  }
}
