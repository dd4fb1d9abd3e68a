/** `situs stream` while its broker goes away and comes back. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { buildRecipe } from '../support/built-dataset.js';
import { eventually } from '../support/http-eventually.js';
import { ownBroker } from '../support/nats-broker.js';
import { publish, sentRow, seqOf, startStream, stored } from '../support/nats-stream.js';

const SUBJECTS = { from: 'orders.carts', to: 'orders.taxed', failed: 'orders.refused' };

test('a broker that was away finds every cart answered once', async (context) => {
  const own = await ownBroker(context);
  if (own === null) return;
  const built = buildRecipe('fixture');
  context.after(() => built.remove());
  const broker = own.start();
  const [connection, manager] = await own.connected();
  const running = startStream(context, {
    ...SUBJECTS,
    nats: `nats://127.0.0.1:${own.port}`,
    varDir: built.varDir,
    more: ['--create'],
  });
  await eventually(() => /dataset/.test(running.err()) || running.child.exitCode !== null);
  const rows = Array.from({ length: 3_000 }, (_, index) => sentRow(index));
  await publish(connection, () => SUBJECTS.from, rows);
  const count = async (): Promise<number> =>
    (await manager.streams.info('orders_taxed')).state.messages;
  await eventually(async () => (await count()) > 200);
  broker.kill('SIGTERM');
  await once(broker, 'exit');
  await eventually(() => /NATS is away; waiting for it/.test(running.err()));
  own.start();
  await eventually(() => /NATS is back/.test(running.err()));
  await eventually(async () => (await count().catch(() => 0)) >= rows.length);
  assert.equal(await running.end('SIGTERM'), 0, running.err());
  const found = (await stored(manager, 'orders_taxed')).map(seqOf).sort((one, two) => one - two);
  assert.deepEqual(
    found,
    rows.map((_, index) => index + 1),
  );
});

test('a broker that takes the password no more ends it, and nothing is lost', async (context) => {
  const own = await ownBroker(context);
  if (own === null) return;
  const built = buildRecipe('fixture');
  context.after(() => built.remove());
  const broker = own.start(['--user', 'situs', '--pass', 'one']);
  await own.connected({ user: 'situs', pass: 'one' });
  const running = startStream(context, {
    ...SUBJECTS,
    nats: `nats://situs:one@127.0.0.1:${own.port}`,
    varDir: built.varDir,
    more: ['--create'],
  });
  await eventually(() => /dataset/.test(running.err()) || running.child.exitCode !== null);
  broker.kill('SIGTERM');
  await once(broker, 'exit');
  own.start(['--user', 'situs', '--pass', 'another']);
  assert.equal(await running.end(), 1);
  assert.match(
    running.err(),
    /NATS is away; waiting for it.*situs: NATS takes this client no more/s,
  );
});
