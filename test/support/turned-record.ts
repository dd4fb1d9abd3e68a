/** Turning a bit of a record in the file of a store. */
import assert from 'node:assert/strict';
import { open } from 'lmdb';
import { storeDir } from '../../src/store/store.js';

/** Turns a bit of the record under a key; the store must not be open. */
export async function turnAt(varDir: string, key: readonly string[]): Promise<void> {
  const root = open<Buffer, string[]>({ path: storeDir(varDir), encoding: 'binary' });
  const bytes = Buffer.from(root.get([...key]) ?? assert.fail(String(key)));
  bytes[bytes.length - 1]! ^= 1;
  await root.put([...key], bytes);
  await root.close();
}
