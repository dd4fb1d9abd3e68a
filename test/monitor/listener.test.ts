/** The listener of metrics where its address cannot be had. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { createLog } from '../../src/log.js';
import { MetricsListener } from '../../src/monitor/listener.js';
import { eventually } from '../support/http-eventually.js';

const TEXT = { contentType: 'text/plain', metrics: () => Promise.resolve('told') };
const PATIENT_MS = 1;

function listener(context: TestContext): {
  readonly own: MetricsListener;
  readonly told: string[];
} {
  const told: string[] = [];
  const own = new MetricsListener(
    TEXT,
    createLog('warn', (line) => told.push(line)),
  );
  context.after(() => own.close());
  return { own, told };
}

test('it waits for a server that has its port, tells once that this takes long, and takes its place', async (context) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  context.after(() => other.close());
  const { port } = other.address() as AddressInfo;
  const address = { host: '127.0.0.1', port };
  const { own, told } = listener(context);
  assert.equal(await own.listen(address, PATIENT_MS), null);
  await eventually(() => told.length > 0);
  assert.match(told[0] ?? '', /"metrics not listened for".*EADDRINUSE/);
  other.close();
  const ask = (): Promise<string> =>
    fetch(`http://127.0.0.1:${port}/metrics`).then((answer) => answer.text(), String);
  await eventually(async () => (await ask()) === 'told');
  assert.equal(told.length, 1);
  await assert.rejects(listener(context).own.listen(address), /SITUS_METRICS: cannot listen on/);
});

test('it does not wait for an address that this machine has not', async (context) => {
  const { own } = listener(context);
  await assert.rejects(
    own.listen({ host: '192.0.2.1', port: 9464 }, PATIENT_MS),
    /SITUS_METRICS: cannot listen on 192\.0\.2\.1:9464 \(.*EADDRNOTAVAIL/,
  );
});
