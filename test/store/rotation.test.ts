/** Changing the key-encryption key: beside a running server, and killed half-way. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { KekFile, kekOf } from '../../src/store/kek-file.js';
import { rewrapAll, rotateKek, sealedCounts } from '../../src/store/rotation.js';
import { Store } from '../../src/store/store.js';
import { openVault, parseSealed, type SealPlace, type Vault } from '../../src/store/vault.js';
import { CLI, LATER_OPTIMIZED } from '../support/built-dataset.js';
import { CommandProcess } from '../support/command-process.js';
import { eventually } from '../support/http-eventually.js';
import { newVarDir } from '../support/http-var-dir.js';
import { fileConfig } from '../support/kek-dir.js';
import { newMerchantDir, removeDirs, startMerchants } from '../support/merchant-service.js';
import { killedAfter } from '../support/run-command.js';
import { turnAt } from '../support/filled-store.js';

const run = promisify(execFile);
const SILENT = (): void => undefined;
const ACTOR = { kind: 'cli', uid: 7, user: 'someone' } as const;

function place(merchant: number): SealPlace {
  return { account: 'a', merchant: String(merchant), field: 'apiKey' };
}

async function sealMany(store: Store, vault: Vault, count: number): Promise<void> {
  await store.write((transaction) => {
    for (let index = 0; index < count; index += 1) {
      // Secrets below lists and objects are found too.
      const sealed = vault.seal(`secret ${index}`, place(index));
      transaction.put(['thing', String(index)], { v: 1, list: [{ sealed }], index });
    }
  });
}

/** Opens every secret, by several vaults in turns. */
function assertAll(store: Store, count: number, ...vaults: readonly Vault[]): void {
  const records = store.list(['thing']) as readonly {
    index: number;
    list: [{ sealed: unknown }];
  }[];
  assert.equal(records.length, count);
  for (const { index, list } of records) {
    const vault = vaults[index % vaults.length]!;
    assert.equal(vault.open(parseSealed(list[0].sealed), place(index)), `secret ${index}`);
  }
}

function keysIn(varDir: string): readonly string[] {
  const file = JSON.parse(readFileSync(join(varDir, 'kek'), 'utf8')) as { keys: { id: string }[] };
  return file.keys.map(({ id }) => id);
}

async function rotate(varDir: string): Promise<void> {
  await run(process.execPath, [...LATER_OPTIMIZED, CLI, 'secrets', 'rotate'], {
    env: { ...process.env, SITUS_VAR: varDir },
  });
}

const commands = new CommandProcess();
after(() => commands.end());

/**
 * The same in a process that does so again and again. It ends sooner than a process of its own does, so
 * what it wrote may not be seen at once by a store that was open before.
 */
async function rotateSoon(
  varDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { code, out, err } = await commands.run(['secrets', 'rotate'], {
    ...env,
    SITUS_VAR: varDir,
  });
  if (code !== 0) throw Object.assign(new Error(err), { code });
  return err + out;
}

/** A store that was open before sees that one key wraps so many, and no other any. */
async function seesWrapped(store: Store, kek: string | undefined, count: number): Promise<void> {
  await eventually(async () => {
    store.refresh();
    return String([...(await sealedCounts(store))]) === String([[kek, count]]);
  });
}

test('a rotation wraps everything anew and drops the old key', async (context) => {
  const varDir = newVarDir(context);
  const store = await Store.open(varDir);
  context.after(() => store.close());
  const vault = await openVault(fileConfig(varDir), store);
  await sealMany(store, vault, 250);
  const before = keysIn(varDir);
  const index = vault.index('c', 'a');
  const steps: number[] = [];
  const file = KekFile.open(join(varDir, 'kek'), null);
  const { current, dropped, rewrapped } = await rotateKek(store, file, new Date(0), ACTOR, {
    report: ({ done }) => steps.push(done),
    begun: SILENT,
  });
  assert.deepEqual(dropped, before);
  assert.equal(rewrapped, 251);
  assert.deepEqual(
    steps,
    [...steps].sort((one, other) => one - other),
  );
  assert.ok(steps.length > 1);
  assert.deepEqual(keysIn(varDir), [current]);
  assert.deepEqual([...(await sealedCounts(store))], [[current, 251]]);
  // The vault that was open follows, and so does one opened now.
  assert.equal(vault.seal('x', place(0)).kek, current);
  const again = await openVault(fileConfig(varDir), store);
  assertAll(store, 250, again, vault);
  assert.equal(again.index('c', 'a'), index);
});

test('a key that still wraps something is not dropped', async (context) => {
  const varDir = newVarDir(context);
  const store = await Store.open(varDir);
  context.after(() => store.close());
  const vault = await openVault(fileConfig(varDir), store);
  await sealMany(store, vault, 3);
  const [old] = keysIn(varDir);
  const late = vault.seal('late', place(9));
  const file = KekFile.open(join(varDir, 'kek'), null);
  // Sealed before and stored after everything was wrapped: against the rule, and yet not lost.
  await rotateKek(store, file, new Date(0), ACTOR, {
    begun: SILENT,
    report: ({ done, total }) => {
      if (done < total) return;
      void store.write((transaction) => transaction.put(['a'], { v: 1, sealed: late }));
    },
  });
  assert.ok(keysIn(varDir).includes(old!));
  await rotateKek(store, file, new Date(0), ACTOR, {
    report: SILENT,
    begun: (resumed) => assert.equal(resumed, true),
  });
  assert.equal(keysIn(varDir).length, 1);
  const record = store.get(['a']) as { sealed: unknown };
  const again = await openVault(fileConfig(varDir), store);
  assert.equal(again.open(parseSealed(record.sealed), place(9)), 'late');
});

test('a rotation killed half-way loses nothing and is finished by the next', async (context) => {
  const varDir = newVarDir(context);
  const store = await Store.open(varDir);
  context.after(() => store.close());
  const vault = await openVault(fileConfig(varDir), store);
  const count = 1_000;
  await sealMany(store, vault, count);
  const child = spawn(
    process.execPath,
    [...LATER_OPTIMIZED, killedAfter('wrapped'), CLI, 'secrets', 'rotate'],
    { env: { ...process.env, SITUS_VAR: varDir }, stdio: 'ignore' },
  );
  assert.deepEqual(await once(child, 'exit'), [null, 'SIGKILL']);
  assert.equal(keysIn(varDir).length, 2, 'killed before its end');
  await eventually(async () => {
    store.refresh();
    return (await sealedCounts(store)).size === 2;
  });
  assertAll(store, count, vault, await openVault(fileConfig(varDir), store));
  // What a kill between writing and renaming leaves.
  writeFileSync(join(varDir, '.kek.1.new'), 'half a fi');
  assert.match(await rotateSoon(varDir), /was under way/);
  assert.equal(keysIn(varDir).length, 1);
  await seesWrapped(store, keysIn(varDir)[0], count + 1);
  assertAll(store, count, await openVault(fileConfig(varDir), store));
});

test('rotations beside a server that writes keep every credential readable', async () => {
  const varDir = await newMerchantDir(null);
  const service = await startMerchants(varDir);
  const kept = new Map<string, string>();
  try {
    let writing = true;
    const writer = async (number: number): Promise<void> => {
      const made = await service.post('/merchant/create', { merchantName: `m ${number}` });
      const merchantId = String(made.body['merchantId']);
      for (let turn = 0; writing; turn += 1) {
        const apiKey = `key-${number}-${turn}`;
        const body = { merchantId, apiKey, connectionId: merchantId };
        const { status, text } = await service.post('/merchant/credentials/set', body);
        assert.equal(status, 200, text);
        kept.set(merchantId, apiKey);
        const read = await service.post('/merchant/credentials/get', { merchantId });
        assert.equal(read.body['apiKey'], apiKey, read.text);
        // So that rotations come to their end beside it: without a pause it takes all of a processor.
        await delay(5);
      }
    };
    const writers = Array.from({ length: 4 }, (_, number) => writer(number));
    const failed = Promise.all(writers);
    const ids = new Set(keysIn(varDir));
    for (let time = 0; time < 3; time += 1) {
      await Promise.race([rotateSoon(varDir), failed]);
      keysIn(varDir).forEach((id) => ids.add(id));
    }
    assert.equal(ids.size, 4);
    writing = false;
    await failed;
    assert.equal(kept.size, 4);
  } finally {
    await service.stop();
  }
  const store = await Store.open(varDir);
  assert.deepEqual([...(await sealedCounts(store)).keys()], keysIn(varDir));
  await store.close();
  const again = await startMerchants(varDir);
  for (const [merchantId, apiKey] of kept) {
    const { body } = await again.post('/merchant/credentials/get', { merchantId });
    assert.equal(body['apiKey'], apiKey);
  }
  await again.stop();
  removeDirs(varDir);
});

test('two rotations at once do the work of one', async (context) => {
  const varDir = newVarDir(context);
  const store = await Store.open(varDir);
  context.after(() => store.close());
  const vault = await openVault(fileConfig(varDir), store);
  await sealMany(store, vault, 500);
  await Promise.all([rotate(varDir), rotate(varDir)]);
  store.refresh();
  assert.equal(keysIn(varDir).length, 1);
  assertAll(store, 500, await openVault(fileConfig(varDir), store));
});

test('a key of the environment is not rotated but explained', async (context) => {
  const varDir = newVarDir(context);
  const store = await Store.open(varDir);
  context.after(() => store.close());
  const [old, fresh] = [randomBytes(32), randomBytes(32)];
  const vault = await openVault({ ...fileConfig(varDir), kek: old }, store);
  await sealMany(store, vault, 150);
  const [SITUS_KEK, SITUS_KEK_PREVIOUS] = [fresh, old].map((key) => key.toString('base64'));
  await assert.rejects(
    rotateSoon(varDir, { SITUS_KEK: SITUS_KEK_PREVIOUS! }),
    (error: Error) =>
      error.message.includes('SITUS_KEK_PREVIOUS') && !error.message.includes(SITUS_KEK_PREVIOUS!),
  );
  const given = { SITUS_KEK: SITUS_KEK!, SITUS_KEK_PREVIOUS: SITUS_KEK_PREVIOUS! };
  assert.match(await rotateSoon(varDir, given), /151 data keys wrapped/);
  await seesWrapped(store, kekOf(fresh).id, 151);
  assertAll(store, 150, await openVault({ ...fileConfig(varDir), kek: fresh }, store));
});

test('a secret whose key is gone stops a rotation and stays as it is', async (context) => {
  const varDir = newVarDir(context);
  const store = await Store.open(varDir);
  context.after(() => store.close());
  const vault = await openVault(fileConfig(varDir), store);
  const foreign = { ...vault.seal('x', place(1)), kek: '0'.repeat(16) };
  await store.write((transaction) => transaction.put(['b'], { v: 1, foreign }));
  const file = KekFile.open(join(varDir, 'kek'), null);
  await assert.rejects(rewrapAll(store, file, SILENT), /0000000000000000, which is not in/);
  assert.deepEqual(store.get(['b']), { v: 1, foreign });
});

test('a damaged record keeps nothing else from being wrapped anew, and the old key', async (t) => {
  const varDir = newVarDir(t);
  const store = await Store.open(varDir);
  await sealMany(store, await openVault(fileConfig(varDir), store), 250);
  await store.close();
  const [old = ''] = keysIn(varDir);
  await turnAt(varDir, ['thing', '7']);
  const failed = await rotateSoon(varDir).then(
    () => null,
    (error: Error & { readonly code: number }) => error,
  );
  assert.equal(failed?.code, 3);
  assert.match(
    failed.message,
    /the record thing\/7 in the store is damaged\n1 damaged record, passed over/,
  );
  const [current = '', ...previous] = keysIn(varDir);
  assert.deepEqual(previous, [old], 'what is damaged may be sealed with it');
  const opened = await Store.open(varDir);
  t.after(() => opened.close());
  assert.deepEqual([...(await sealedCounts(opened, () => undefined))], [[current, 250]]);
  await opened.write(({ remove }) => remove(['thing', '7']));
  assert.match(await rotateSoon(varDir), /a rotation was under way; it is finished now/);
  assert.deepEqual(keysIn(varDir), [current]);
});
