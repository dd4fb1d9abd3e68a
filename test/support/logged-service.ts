/** A service in this process whose requests are logged and counted. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { eventually } from './http-eventually.js';
import {
  inventedCountry,
  type MerchantService,
  newMerchantDir,
  removeDirs,
  startMerchants,
} from './merchant-service.js';
import { parsedLines } from './watched-service.js';

interface LoggedService {
  readonly service: MerchantService;
  /** Stops the service; the lines of requests that were sent with an id, by their ids. */
  lines(): Promise<ReadonlyMap<string, Record<string, unknown>>>;
}

/** Starts it with a log of requests and metrics, and further settings. */
export async function startLogged(
  context: TestContext,
  more: Readonly<Record<string, string>> = {},
): Promise<LoggedService> {
  const varDir = await newMerchantDir(inventedCountry());
  const file = join(varDir, 'requests.log');
  const service = await startMerchants(
    varDir,
    {},
    { SITUS_REQUEST_LOG: file, SITUS_METRICS: '127.0.0.1:0', ...more },
  );
  context.after(async () => {
    await service.stop();
    removeDirs(varDir);
  });
  const ready = `${service.base}/system/ready`;
  await eventually(async () => (await fetch(ready)).status === 200);
  return {
    service,
    lines: async () => {
      await service.stop();
      return new Map(parsedLines(file).map((line) => [String(line['id']), line]));
    },
  };
}

/** Its metrics as they are scraped. */
export async function metricsOf({ app }: MerchantService): Promise<string> {
  return (await fetch(`http://127.0.0.1:${app.metricsPort}/metrics`)).text();
}

/** Options of a request with an id. */
export const named = (id: string) => ({ headers: { 'X-Request-Id': id } });
