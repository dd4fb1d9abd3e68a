/** A service over a release without data, with its log of requests and its metrics. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { App } from '../../src/app.js';
import type { Environment } from '../../src/config.js';
import { type Log, SILENT } from '../../src/log.js';
import { activeVarDir, startEcho } from './echo-service.js';
import { newVarDir, releaseNumber } from './http-var-dir.js';

export const WATCHED_KEY = 'bootstrap-key-of-the-test';

interface Watched {
  readonly app: App;
  readonly base: string;
  readonly varDir: string;
  /** Stops the service and gives the lines of its log of requests. */
  lines(): Promise<readonly Record<string, unknown>[]>;
}

/** Starts it; `release` is the one that answers, null for none. */
export async function startWatched(
  context: TestContext,
  environment: Environment = {},
  log: Log = SILENT,
  release: string | null = releaseNumber(1),
): Promise<Watched> {
  const varDir = release === null ? newVarDir(context) : activeVarDir(context, release);
  const file = join(varDir, 'requests.log');
  const settings = {
    SITUS_BOOTSTRAP_KEY: WATCHED_KEY,
    SITUS_REQUEST_LOG: file,
    SITUS_METRICS: '127.0.0.1:0',
  };
  const { app, port } = await startEcho(context, { ...settings, ...environment }, { log, varDir });
  return {
    app,
    varDir,
    base: `http://127.0.0.1:${port}`,
    lines: () => app.stop().then(() => parsedLines(file)),
  };
}

/** The lines of a log of requests. */
export function parsedLines(file: string): readonly Record<string, unknown>[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** What it tells Prometheus. */
export async function metricsOf({ app }: Watched): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${app.metricsPort}/metrics`);
  assert.equal(response.status, 200);
  return response.text();
}
