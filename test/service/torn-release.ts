/** What tears a release, and servers on one that is torn. */
import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { chmodSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import type { App } from '../../src/app.js';
import { createLog } from '../../src/log.js';
import { ask } from '../support/http-client.js';
import { MAIN } from '../support/program.js';
import { startApp } from '../support/own-app.js';

export const KEY = 'a-key-of-the-torn-test';
export const LOOKUP = '/request/v60?postalcode=91010';

/** Runs a server that is to end by itself. */
export function served(varDir: string): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [MAIN], {
    env: { ...process.env, SITUS_VAR: varDir, PORT: '0' },
    encoding: 'utf8',
    timeout: 120_000,
  });
}

export function flip(file: string, at: number): void {
  chmodSync(file, 0o644);
  const bytes = readFileSync(file);
  bytes[at] = bytes[at]! ^ 4;
  writeFileSync(file, bytes);
}

export function cut(file: string): void {
  chmodSync(file, 0o644);
  truncateSync(file, 8_192);
}

interface Running {
  readonly app: App;
  readonly port: number;
  readonly lines: string[];
}

export async function start(context: TestContext, varDir: string): Promise<Running> {
  const lines: string[] = [];
  const app = await startApp(
    varDir,
    { SITUS_BOOTSTRAP_KEY: KEY, SITUS_ANSWER_CACHE_MIB: '0' },
    { log: createLog('info', (line) => lines.push(line)) },
  );
  context.after(() => app.stop());
  return { app, port: await app.listen(), lines };
}

export async function health(port: number): Promise<Record<string, unknown>> {
  return JSON.parse((await ask(port, '/system/health')).body) as Record<string, unknown>;
}
