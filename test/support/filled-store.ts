/** A store of some records, and the command that works on it from outside. */
import { execFile } from 'node:child_process';
import type { TestContext } from 'node:test';
import { Store } from '../../src/store/store.js';
import { CLI } from './built-dataset.js';
import { newVarDir } from './http-var-dir.js';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `situs` on the store in a folder. */
export function runSitus(varDir: string, ...args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, ...args], { env: { ...process.env, SITUS_VAR: varDir } },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }));
  });
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
