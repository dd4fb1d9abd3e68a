/** The whole service, in this process, with a worker and a dataset that hold nothing. */
import type { TestContext } from 'node:test';
import { App } from '../../src/app.js';
import { loadConfig, type Environment } from '../../src/config.js';
import type { Limits } from '../../src/limit/open-rates.js';
import { SILENT, type Log } from '../../src/log.js';
import { ECHO_WORKER, stubFailure } from './http-stub-server.js';
import { activate, emptyDataset, newVarDir, releaseNumber, writeRelease } from './http-var-dir.js';

export interface EchoService {
  readonly app: App;
  readonly port: number;
  readonly varDir: string;
}

interface EchoOptions {
  readonly log?: Log;
  readonly limits?: Limits;
  /** A new folder with an active release unless told. */
  readonly varDir?: string;
}

/** A new folder with a release of a number, the first unless told, which is active. */
export function activeVarDir(context: TestContext, release = releaseNumber(1)): string {
  const varDir = newVarDir(context);
  writeRelease(varDir, release);
  activate(varDir, release);
  return varDir;
}

/** Starts it on a free port; it stops with the test. */
export async function startEcho(
  context: TestContext,
  environment: Environment = {},
  { log = SILENT, limits, varDir = activeVarDir(context) }: EchoOptions = {},
): Promise<EchoService> {
  const app = await App.start({
    config: loadConfig({ HOST: '127.0.0.1', PORT: '0', SITUS_VAR: varDir, ...environment }),
    log,
    worker: ECHO_WORKER,
    open: emptyDataset,
    renderFailure: stubFailure,
    ...(limits === undefined ? {} : { openedLimits: limits }),
  });
  context.after(() => app.stop());
  return { app, port: await app.listen(), varDir };
}
