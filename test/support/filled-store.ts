/** A store of some records, and the command that works on it from outside. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { open } from 'lmdb';
import type { NexusRecord } from '../../src/store/nexus.js';
import { Store, storeDir } from '../../src/store/store.js';
import { newVarDir } from './http-var-dir.js';
import { type Ran, runCommand } from './run-command.js';

/** Runs `situs` on the store in a folder. */
export function runSitus(varDir: string, ...args: readonly string[]): Promise<Ran> {
  return runCommand(args, { SITUS_VAR: varDir });
}

/** A folder with a closed store of so many records. */
export async function filledStore(context: TestContext, count: number): Promise<string> {
  const varDir = newVarDir(context);
  const store = await Store.open(varDir);
  await store.write(({ put }) => {
    for (let index = 0; index < count; index += 1) put(['thing', String(index)], { v: 1, index });
  });
  await store.close();
  return varDir;
}

/** Turns a bit of the record under a key; the store must not be open. */
export async function turnAt(varDir: string, key: readonly string[]): Promise<void> {
  const root = open<Buffer, string[]>({ path: storeDir(varDir), encoding: 'binary' });
  const bytes = Buffer.from(root.get([...key]) ?? assert.fail(String(key)));
  bytes[bytes.length - 1]! ^= 1;
  await root.put([...key], bytes);
  await root.close();
}

/** A location of a merchant, as it is stored. */
export function locationOf(
  { account, merchantId }: Pick<NexusRecord, 'account' | 'merchantId'>,
  locationId: string,
  now: number,
): NexusRecord {
  return {
    v: 1,
    locationId,
    merchantId,
    account,
    line1: '1 Main St',
    city: 'X',
    state: 'CA',
    zip: '90001',
    normalizedAddress: '1 Main St, X',
    lat: 0,
    lng: 0,
    position: 0,
    createdAt: now,
    updatedAt: now,
  };
}

/** A store in a folder of its own; both go with the test. */
export async function newStore(context: TestContext): Promise<Store> {
  const store = await Store.open(newVarDir(context));
  context.after(() => store.close());
  return store;
}
