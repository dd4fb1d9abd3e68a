/** When the service says that requests should be sent to it, and why not. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Readiness, type ReadyServices } from '../../src/api/system/health.js';
import { createLog } from '../../src/log.js';
import type { Environment } from '../../src/config.js';
import { ServiceClock } from '../../src/store/service-clock.js';
import { Store } from '../../src/store/store.js';
import { type EchoService, startEcho } from '../support/echo-service.js';
import { ask, RawClient } from '../support/http-client.js';
import { eventually } from '../support/http-eventually.js';
import { activate, newVarDir, releaseNumber, writeRelease } from '../support/http-var-dir.js';
import { startSimulator } from '../support/simulated-provider.js';
import { fill, release, smallDisk } from '../support/small-disk.js';

function start(
  context: TestContext,
  environment: Environment = {},
  varDir = newVarDir(context),
): Promise<EchoService> {
  return startEcho(context, environment, { varDir });
}

interface Ready {
  readonly status: number;
  readonly reasons: readonly string[];
}

async function ready(port: number): Promise<Ready> {
  const { status, body } = await ask(port, '/system/ready');
  const { reasons, ...rest } = JSON.parse(body) as { reasons: string[]; status: string };
  assert.deepEqual(rest, { status: status === 200 ? 'ready' : 'unready' });
  assert.equal(status === 200, reasons.length === 0, body);
  return { status, reasons };
}

async function reasonsBecome(port: number, wanted: readonly string[]): Promise<void> {
  await eventually(async () => (await ready(port)).reasons.join() === wanted.join());
}

async function health(port: number): Promise<Record<string, unknown>> {
  const { status, body } = await ask(port, '/system/health');
  assert.equal(status, 200);
  return JSON.parse(body) as Record<string, unknown>;
}

test('without a dataset nothing should be sent here; once there is one it should', async (context) => {
  const { port, varDir } = await start(context);
  await reasonsBecome(port, ['dataset']);
  assert.deepEqual((await health(port))['unready'], ['dataset']);
  assert.deepEqual(await ask(port, '/system/live').then(({ status, body }) => [status, body]), [
    200,
    '{"status":"live"}',
  ]);
  writeRelease(varDir, releaseNumber(1));
  activate(varDir, releaseNumber(1));
  await reasonsBecome(port, []);
  assert.ok(!('unready' in (await health(port))));
});

test('a service told to stop is unready at once and answers on for as long as is set', async (context) => {
  const varDir = newVarDir(context);
  writeRelease(varDir, releaseNumber(1));
  activate(varDir, releaseNumber(1));
  const { app, port } = await start(context, { SITUS_DRAIN_SECONDS: '1' }, varDir);
  await reasonsBecome(port, []);
  const drained = app.drain();
  assert.deepEqual((await ready(port)).reasons, ['draining']);
  assert.equal((await ask(port, '/system/live')).status, 200, 'new connections are taken');
  await drained;
  const client = await RawClient.open(port);
  client.get('/system/metadata');
  assert.equal((await client.answer())?.status, 200);
  await app.stop();
  await assert.rejects(ask(port, '/system/live'));
});

test('a store that takes no writes is told, and so is that it does again', async (context) => {
  const varDir = smallDisk(context, 3_000_000);
  if (varDir === null) return;
  writeRelease(varDir, releaseNumber(1));
  activate(varDir, releaseNumber(1));
  const { port } = await start(context, {}, varDir);
  await reasonsBecome(port, []);
  fill(varDir);
  assert.deepEqual((await ready(port)).reasons, ['store']);
  assert.equal((await ask(port, '/system/live')).status, 200);
  release(varDir);
  await reasonsBecome(port, []);
});

test('a write that the store did not take is remembered', async (context) => {
  const store = await Store.open(newVarDir(context));
  const clock = new ServiceClock(store);
  await clock.save();
  assert.ok(clock.stored);
  await store.close();
  await clock.close();
  assert.ok(!clock.stored);
});

test('a provider that is required and gone makes the service unready', async (context) => {
  const varDir = newVarDir(context);
  writeRelease(varDir, releaseNumber(1));
  activate(varDir, releaseNumber(1));
  const simulator = await startSimulator(context);
  const { port, app } = await start(
    context,
    {
      SITUS_PROVIDER_URL: simulator.url,
      SITUS_ALLOW_PRIVATE_NETWORK: '1',
      SITUS_PROVIDER_REQUIRED: '1',
    },
    varDir,
  );
  await reasonsBecome(port, []);
  await simulator.close();
  await eventually(async () => {
    await app.lookForProvider();
    return (await ready(port)).reasons.join() === 'provider';
  });
});

test('a required provider has to be configured', async (context) => {
  await assert.rejects(
    start(context, { SITUS_PROVIDER_REQUIRED: '1' }),
    /SITUS_PROVIDER_REQUIRED needs SITUS_PROVIDER_URL/,
  );
});

test('before the first worker serves it is starting, after the last one has gone it is not', () => {
  let serving = false;
  const services: ReadyServices = {
    draining: () => false,
    hasDataset: () => true,
    followsFleet: () => true,
    serving: () => serving,
    storeTakes: () => true,
    providerReached: () => true,
  };
  const told: string[] = [];
  const log = createLog('info', (line) => {
    const { level, event, reasons = '' } = JSON.parse(line) as Readonly<Record<string, string>>;
    told.push([level, event, reasons].join(' ').trim());
  });
  const readiness = new Readiness(services, log);
  assert.deepEqual(readiness.reasons, ['starting']);
  serving = true;
  assert.deepEqual(readiness.reasons, []);
  serving = false;
  assert.deepEqual(readiness.reasons, ['workers']);
  assert.deepEqual(readiness.reasons, ['workers'], 'told once');
  serving = true;
  assert.deepEqual(readiness.reasons, []);
  assert.deepEqual(told, ['info ready', 'warn not ready workers', 'info ready']);
});
