/** Two servers on one PostgreSQL, one after the other killed under writes with an Idempotency-Key. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { copyStore } from '../../src/store/copy.js';
import { SECRET } from '../support/event-outbox.js';
import { startReceiver } from '../support/event-receivers.js';
import { eventually } from '../support/http-eventually.js';
import { newVarDir } from '../support/http-var-dir.js';
import {
  ask,
  inventedCountry,
  newMerchantDir,
  removeDirs,
  type Answered,
} from '../support/merchant-service.js';
import { newSchema } from '../support/postgres.js';
import { startServer, type ServerProcess } from '../support/server-process.js';

const MERCHANTS = 20;
const CLIENTS = 4;
const KILLS = 2;
const PAUSE_MS = 50;

/** Servers by their place; one that was killed is started anew in its place. */
async function startTwo(
  context: TestContext,
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly servers: ServerProcess[]; readonly again: (at: number) => Promise<void> }> {
  const datasets = inventedCountry();
  const filled = await newMerchantDir(datasets);
  context.after(() => removeDirs(filled));
  await copyStore(filled, environment['SITUS_STORE']!);
  const dirs = [0, 1].map(() => {
    const varDir = join(newVarDir(context), 'node');
    mkdirSync(varDir);
    symlinkSync(join(datasets, 'datasets'), join(varDir, 'datasets'));
    return varDir;
  });
  const servers: ServerProcess[] = [];
  const again = async (at: number): Promise<void> => {
    servers[at] = await startServer(context, dirs[at]!, environment);
  };
  for (const at of dirs.keys()) await again(at);
  return { servers, again };
}

/** Asks one server or the other until one of them answers what it is; 503 says that nobody knows. */
async function until(
  servers: readonly ServerProcess[],
  path: string,
  body: unknown,
  idempotencyKey: string,
): Promise<Answered> {
  for (let turn = Number.parseInt(idempotencyKey, 16); ; turn += 1) {
    const { base } = servers[turn % servers.length]!;
    const answered = await ask(base, 'POST', path, body, { idempotencyKey }).catch(() => null);
    // 409: the one that was killed had begun it, or has it still.
    if (answered !== null && answered.status !== 503 && answered.status !== 409) return answered;
    await delay(PAUSE_MS);
  }
}

/** A server lists these merchants, each once, as soon as it has heard of them. */
async function assertListed(base: string, made: readonly string[]): Promise<void> {
  await eventually(async () => {
    const { text } = await ask(base, 'GET', '/merchant/list?limit=1000', null);
    return made.every((id) => text.includes(id));
  });
  const { text } = await ask(base, 'GET', '/merchant/list?limit=1000', null);
  assert.equal(text.split('"merchantId"').length - 1, made.length, 'each once');
}

test('what is sent again after a kill is done once, and told of once', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const receiver = await startReceiver(context);
  const { servers, again } = await startTwo(context, {
    SITUS_STORE: schema.url,
    SITUS_KEK: Buffer.alloc(32, 7).toString('base64'),
    SITUS_WEBHOOK_URL: receiver.url,
    SITUS_WEBHOOK_SECRET: SECRET,
    SITUS_ALLOW_PRIVATE_NETWORK: '1',
  });
  let [next, killed] = [0, 0];
  const made: string[] = [];
  const client = async (): Promise<void> => {
    while (next < MERCHANTS || killed < KILLS) {
      const number = (next += 1).toString(16).padStart(4, '0');
      const created = await until(servers, '/merchant/create', { merchantName: number }, number);
      assert.equal(created.status, 201, created.text);
      const merchantId = String(created.body['merchantId']);
      made.push(merchantId);
      const set = await until(
        servers,
        '/merchant/credentials/set',
        {
          merchantId,
          apiKey: 'a-key',
          connectionId: randomUUID(),
        },
        `${number}c`,
      );
      assert.equal(set.status, 200, set.text);
    }
  };
  const killing = (async () => {
    for (; killed < KILLS; killed += 1) {
      const before = made.length;
      await eventually(() => made.length > before + 4);
      await servers[killed % 2]!.kill();
      await again(killed % 2);
    }
  })();
  await Promise.all([killing, ...Array.from({ length: CLIENTS }, client)]);
  assert.equal(new Set(made).size, made.length);
  for (const { base } of servers) await assertListed(base, made);
  // An event may be sent twice, under one id; there is one of each merchant.
  const told = (): readonly string[] => [
    ...new Set(
      receiver.got.map(
        ({ headers, body }) =>
          `${String(headers['webhook-id'])} ${made.find((id) => body.includes(id)) ?? 'nobody'}`,
      ),
    ),
  ];
  await eventually(() => told().length >= made.length);
  await delay(1_000);
  assert.equal(told().length, made.length);
  assert.equal(new Set(told().map((each) => each.split(' ')[1])).size, made.length);
});
