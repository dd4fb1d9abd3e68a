/** A whole service as one of the nodes that share windows, and what it tells of them. */
import type { TestContext } from 'node:test';
import type { App } from '../../src/app.js';
import type { Environment } from '../../src/config.js';
import type { Limits } from '../../src/limit/open-rates.js';
import { createLog } from '../../src/log.js';
import { startEcho } from '../support/echo-service.js';
import { ask } from '../support/http-client.js';

const KEY = 'bootstrap-key-of-the-test';
export const HEADER = { 'X-API-KEY': KEY };

export const LOOKUP = '/request/v60?echo';

export interface Node {
  readonly app: App;
  readonly port: number;
  readonly lines: string[];
}

export async function startNode(
  context: TestContext,
  environment: Environment,
  limits?: Limits,
): Promise<Node> {
  const lines: string[] = [];
  const { app, port } = await startEcho(
    context,
    {
      SITUS_BOOTSTRAP_KEY: KEY,
      SITUS_WORKERS: '1',
      SITUS_BULK_WORKERS: '1',
      SITUS_METRICS: '127.0.0.1:0',
      ...environment,
    },
    {
      log: createLog('info', (line) => lines.push(line)),
      ...(limits === undefined ? {} : { limits }),
    },
  );
  return { app, port, lines };
}

export async function remaining(
  port: number,
  path = LOOKUP,
  headers: Readonly<Record<string, string>> = HEADER,
): Promise<number> {
  return Number((await ask(port, path, headers)).headers.get('x-ratelimit-remaining'));
}

export async function health(port: number): Promise<unknown> {
  return (JSON.parse((await ask(port, '/system/health')).body) as { limits?: string }).limits;
}

export async function metric(node: Node, name: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${node.app.metricsPort}/metrics`);
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(await answer.text())?.[1]);
}
