/** A store of some records, and the command that works on it from outside. */
import type { TestContext } from 'node:test';
import { Store } from '../../src/store/store.js';
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
