/** `situs doctor` with real faults. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { open } from 'lmdb';
import { App } from '../../src/app.js';
import { CHECKS } from '../../src/cli/doctor-checks.js';
import { loadConfig } from '../../src/config.js';
import { currentRelease, releasesDir } from '../../src/dataset/release.js';
import { SILENT } from '../../src/log.js';
import { KekFile, newKek, type KeptKek } from '../../src/store/kek-file.js';
import { setEndpoint } from '../../src/store/endpoint.js';
import { addEvent, addInvitation } from '../../src/store/outbox.js';
import { storeDir } from '../../src/store/store.js';
import { openVault } from '../../src/store/vault.js';
import { buildRecipe, CLI, type Built } from '../support/built-dataset.js';
import { eventually } from '../support/http-eventually.js';
import { startRedis } from '../support/redis-server.js';
import { startSimulator } from '../support/simulated-provider.js';
import { fileConfig } from '../support/kek-dir.js';
import { assertFinds, doctor, withStore } from './diagnosis.js';

let built: Built;

before(() => {
  built = buildRecipe('fixture');
});

after(() => built.remove());

/** A folder with the dataset; `copied` where the test is to damage it. */
function folder(context: TestContext, copied = false): string {
  const varDir = mkdtempSync(join(tmpdir(), 'situs-doctor-'));
  context.after(() => rmSync(varDir, { recursive: true, force: true }));
  const datasets = join(built.varDir, 'datasets');
  if (copied) cpSync(datasets, join(varDir, 'datasets'), { recursive: true });
  else symlinkSync(datasets, join(varDir, 'datasets'));
  return varDir;
}

test('folders that are not there are told', async (context) => {
  await assertFinds(
    join(folder(context), 'a', 'b'),
    /^note folder .* does not exist yet and will be made$/,
    1,
  );
  await assertFinds(
    folder(context),
    /^warning folder SITUS_BULK_DIR names \/nowhere\/files, which does not exist$/,
    0,
    { SITUS_BULK_DIR: '/nowhere/files' },
  );
});

test('a new folder with a dataset has nothing wrong, and looking leaves nothing in it', async (context) => {
  const varDir = folder(context);
  const { code, lines } = await doctor(varDir);
  assert.equal(code, 0, lines.join('\n'));
  for (const { name } of CHECKS) {
    assert.ok(
      lines.some((line) => line.split(' ')[1] === name),
      `no finding of ${name}`,
    );
  }
  assert.ok(lines.some((line) => /^ok dataset .* active and sound/.test(line)));
  assert.ok(lines.some((line) => /^note store there is no store/.test(line)));
  assert.deepEqual(readdirSync(varDir), ['datasets']);
});

test('a folder in use is sound', async (context) => {
  const varDir = folder(context);
  await withStore(varDir, (store) => openVault(fileConfig(varDir), store));
  await assertFinds(varDir, /^ok secrets the key file \S+ opens 1 sealed secrets$/, 0, {}, doctor);
  await assertFinds(varDir, /^ok store the store in \S+ opens/, 0);
});

test('bad settings are named', async (context) => {
  await assertFinds(folder(context), /^fault settings PORT must be/, 1, { PORT: 'x' });
  await assertFinds(folder(context), /^fault events SITUS_WEBHOOK_URL/, 1, {
    SITUS_WEBHOOK_URL: 'https://hooks.example/x',
  });
  await assertFinds(folder(context), /^fault mail SITUS_SMTP_URL/, 1, { SITUS_SMTP_URL: 'x' });
});

test('a misspelt setting is named with the one that was meant', async (context) => {
  await assertFinds(
    folder(context),
    /^fault settings SITUS_BULKDIR is no setting; did you mean SITUS_BULK_DIR\?$/,
    1,
    { SITUS_BULKDIR: '/srv' },
  );
  const { lines } = await doctor(folder(context), { SITUS_BULKDIR: '/srv' });
  assert.ok(!lines.some((line) => line.startsWith('ok settings')), 'no setting is called fine');
  // It keeps nothing else from being looked at.
  await assertFinds(folder(context), /^ok dataset .* active and sound/, 1, {
    SITUS_BULKDIR: '/srv',
  });
});

test('a server on the store is asked whether it is ready, in the words of its answer', async (context) => {
  const varDir = folder(context);
  await assertFinds(varDir, /^note service no server runs on this store$/, 0);
  const app = await App.start({
    config: loadConfig({ PORT: '0', SITUS_VAR: varDir, SITUS_WORKERS: '1' }),
    log: SILENT,
  });
  context.after(() => app.stop());
  const PORT = String(await app.listen());
  const url = `http://127.0.0.1:${PORT}`;
  await eventually(async () => (await fetch(`${url}/system/ready`)).status === 200);
  const ready = new RegExp(`^ok service process ${process.pid}, on ${url}, is ready$`);
  await assertFinds(varDir, ready, 0, { PORT }, doctor);
  await assertFinds(
    varDir,
    /^fault service .* does not answer \(.*\); .* another HOST or PORT/,
    1,
    { PORT: '1' },
    doctor,
  );
  await assertFinds(
    varDir,
    /^note service process \d+ serves this store, on a port PORT/,
    0,
    { PORT: '0' },
    doctor,
  );
});

test('a required provider that cannot be reached is a fault', async (context) => {
  const simulator = await startSimulator(context);
  const env = {
    SITUS_PROVIDER_URL: simulator.url,
    SITUS_ALLOW_PRIVATE_NETWORK: '1',
    SITUS_PROVIDER_REQUIRED: '1',
  };
  await assertFinds(folder(context), /^ok provider .* and can be reached$/, 0, env);
  await simulator.close();
  const unreached = /^fault provider .* cannot be reached \(.*REQUIRED\)$/;
  await assertFinds(folder(context), unreached, 1, env);
  await assertFinds(folder(context), /^fault provider SITUS_PROVIDER_REQUIRED needs/, 1, {
    SITUS_PROVIDER_REQUIRED: '1',
  });
});

test('no dataset, a torn one and a stale one are told apart', async (context) => {
  const none = folder(context);
  rmSync(join(none, 'datasets'));
  await assertFinds(none, /^fault dataset no dataset is active/, 1);
  const torn = folder(context, true);
  const dir = join(releasesDir(torn), currentRelease(torn)!);
  const largest = readdirSync(dir)
    .map((name) => join(dir, name))
    .filter((path) => path.endsWith('.mdb'))
    .sort((one, other) => statSync(other).size - statSync(one).size)[0]!;
  chmodSync(largest, 0o644);
  truncateSync(largest, statSync(largest).size - 4_096);
  await assertFinds(torn, /^fault dataset .* is not sound/, 1);
});

test('a key file that others read, a lost one and an unfinished rotation', async (context) => {
  const varDir = folder(context);
  await withStore(varDir, (store) => openVault(fileConfig(varDir), store));
  const path = join(varDir, 'kek');
  chmodSync(path, 0o644);
  await assertFinds(varDir, /^fault secrets .*mode 0644.*chmod 600/, 1);
  chmodSync(path, 0o600);
  const file = KekFile.open(path, null);
  const [first] = file.all();
  const keys: [KeptKek, ...KeptKek[]] = [newKek('2026-01-01T00:00:00.000Z'), first!];
  file.replace(keys);
  await assertFinds(varDir, /^warning secrets .*unfinished/, 0);
  rmSync(path);
  await assertFinds(varDir, /^fault secrets .*key/, 1);
  assert.ok(!existsSync(path), 'a lost key file was made anew by looking');
});

test('a store of another format and one that is no store', async (context) => {
  const varDir = folder(context);
  await withStore(varDir, async () => undefined);
  const root = open({ path: storeDir(varDir), encoding: 'msgpack' });
  await root.put(['meta', 'format'], 99);
  await root.close();
  await assertFinds(varDir, /^fault store .*format 99/, 1);
  const other = folder(context);
  mkdirSync(storeDir(other));
  writeFileSync(join(storeDir(other), 'data.mdb'), 'no store at all');
  const { lines } = await doctor(other);
  assert.match(lines.join('\n'), /^fault store /m);
  assert.doesNotMatch(lines.join('\n'), /there is no store|opens 0 |no server runs/);
});

test('mails that wait without a mail server, and events, are counted', async (context) => {
  const varDir = folder(context);
  await withStore(varDir, (store) => setEndpoint(store, 'https://hooks.example/x'));
  await withStore(varDir, async (store) => {
    const vault = await openVault(fileConfig(varDir), store);
    await store.write((transaction) => {
      const merchant = { account: 'a', merchantId: 'm', now: 1 };
      addInvitation(transaction, { ...merchant, merchantName: 'M', email: 'm@shop.example' });
      addEvent(transaction, vault, {
        account: 'a',
        type: 'merchant.credentials.set',
        data: {},
        now: 1,
      });
    });
  });
  await assertFinds(varDir, /^warning mail 1 mails wait: no mail server is set/, 0);
  await assertFinds(varDir, /^note events 1 events wait/, 0);
});

test('a folder that cannot be written', async (context) => {
  const varDir = folder(context);
  writeFileSync(join(varDir, 'file'), '');
  await assertFinds(join(varDir, 'file'), /^fault folder /, 1);
});

test('the server does not start without the key of its secrets and names it', async (context) => {
  const varDir = folder(context);
  await withStore(varDir, (store) => openVault(fileConfig(varDir), store));
  const path = join(varDir, 'kek');
  const start = (): Promise<{ code: number; err: string }> =>
    new Promise((resolve) => {
      execFile(
        process.execPath,
        [CLI, 'serve'],
        { env: { ...process.env, SITUS_VAR: varDir, PORT: '0', SITUS_LOG: 'error' } },
        (error, _, err) => {
          resolve({ code: Number(error?.code ?? 0), err });
        },
      );
    });
  chmodSync(path, 0o640);
  assert.deepEqual(await start(), {
    code: 1,
    err:
      `situs: the key file ${path} has mode 0640: others than its owner may use it; ` +
      `run: chmod 600 ${path}\n`,
  });
  rmSync(path);
  const { code, err } = await start();
  assert.equal(code, 1);
  assert.match(
    err,
    /sealed with the key-encryption key [0-9a-f]{16}, which is not in .* put the key/,
  );
  assert.deepEqual(readdirSync(varDir).sort(), ['datasets', 'store']);
});

test('windows of all nodes are asked for, and a server that is away is worth a look', async (context) => {
  await assertFinds(folder(context), /^note limits rates hold on this node alone/, 0);
  await assertFinds(folder(context), /^fault limits SITUS_LIMITS must be like/, 1, {
    SITUS_LIMITS: 'nowhere',
  });
  const away = { SITUS_LIMITS: 'redis://:hidden@127.0.0.1:1', SITUS_LIMITS_SHARE: '30' };
  await assertFinds(
    folder(context),
    /^warning limits redis:\/\/127\.0\.0\.1:1 does not keep .*ECONNREFUSED.* 30 % /,
    0,
    away,
  );
  const redis = await startRedis(context);
  if (redis === null) return;
  await assertFinds(
    folder(context),
    /^(?:ok|warning) limits (?:Redis|Valkey) \d.* keeps the rate/,
    0,
    { SITUS_LIMITS: redis.url },
  );
});
