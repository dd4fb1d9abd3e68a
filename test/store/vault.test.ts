import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs, {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import fastCheck from 'fast-check';
import { loadConfig } from '../../src/config.js';
import { KekFile } from '../../src/store/kek-file.js';
import { openKekSource } from '../../src/store/kek-source.js';
import { rotateKek } from '../../src/store/rotation.js';
import { lengthPrefixed, openSealed, sealText } from '../../src/store/sealed.js';
import { Store } from '../../src/store/store.js';
import { openVault, parseSealed, type SealPlace, type Vault } from '../../src/store/vault.js';
import { DISTINCTIVE, fileConfig } from '../support/kek-dir.js';
import { newVarDir } from '../support/http-var-dir.js';

const PLACE: SealPlace = { account: 'a', merchant: 'm', field: 'apiKey' };

async function opened(
  context: TestContext,
  varDir = newVarDir(context),
): Promise<{ readonly varDir: string; readonly store: Store; readonly vault: Vault }> {
  const store = await Store.open(varDir);
  context.after(() => store.close());
  return { varDir, store, vault: await openVault(fileConfig(varDir), store) };
}

test('a secret comes back from the store and nowhere else opens', async (context) => {
  const { store, vault } = await opened(context);
  await store.write((transaction) => {
    transaction.put(['secret', 'a'], { v: 1, sealed: vault.seal(DISTINCTIVE, PLACE) });
  });
  const record = store.get(['secret', 'a']);
  assert.ok(typeof record === 'object' && record !== null && 'sealed' in record);
  const sealed = parseSealed(record.sealed);
  assert.equal(vault.open(sealed, PLACE), DISTINCTIVE);
  for (const place of [
    { ...PLACE, account: 'b' },
    { ...PLACE, merchant: 'n' },
    { ...PLACE, field: 'connectionId' },
    { account: 'am', merchant: '', field: 'apiKey' },
  ]) {
    assert.throws(() => vault.open(sealed, place), /belongs to another record/);
  }
});

test('a disk that takes less of the keys than was given is given the rest', (context) => {
  const { writeSync } = fs;
  const bytesOf = (value: unknown): Buffer => Buffer.from(value as Uint8Array);
  context.mock.method(fs, 'writeSync', (file: number, bytes: unknown, from: unknown = 0) => {
    const at = Number(from);
    return writeSync(file, bytesOf(bytes).subarray(at, at + 20));
  });
  syncBuiltinESMExports();
  context.after(() => {
    context.mock.restoreAll();
    syncBuiltinESMExports();
  });
  const kek = KekFile.open(join(newVarDir(context), 'kek.json'), null);
  const [first] = kek.all();
  assert.ok(first !== undefined);
  kek.replace([first, first]);
  assert.equal(kek.all().length, 2);
});

test('places and lists of texts never have the same bytes', () => {
  fastCheck.assert(
    fastCheck.property(
      fastCheck.array(fastCheck.string()),
      fastCheck.array(fastCheck.string()),
      (one, other) => {
        const same = Buffer.compare(lengthPrefixed(...one), lengthPrefixed(...other)) === 0;
        assert.equal(same, JSON.stringify(one) === JSON.stringify(other));
      },
    ),
  );
});

test('any changed byte is found', async (context) => {
  const { vault } = await opened(context);
  const sealed = vault.seal(DISTINCTIVE, PLACE);
  for (const name of ['wrapped', 'wrapNonce', 'wrapTag', 'text', 'nonce', 'tag'] as const) {
    const bytes = Buffer.from(sealed[name]);
    for (let at = 0; at < bytes.length; at += 1) {
      bytes[at]! ^= 1;
      assert.throws(() => vault.open({ ...sealed, [name]: Buffer.from(bytes) }, PLACE));
      bytes[at]! ^= 1;
    }
  }
  assert.throws(() => vault.open({ ...sealed, kek: '0'.repeat(16) }, PLACE), /not in/);
});

test('a shortened tag is refused', async (context) => {
  const { vault } = await opened(context);
  const sealed = vault.seal(DISTINCTIVE, PLACE);
  assert.throws(() => parseSealed({ ...sealed, tag: sealed.tag.subarray(0, 4) }), /damaged/);
  assert.throws(() => vault.open({ ...sealed, tag: sealed.tag.subarray(0, 4) }, PLACE));
});

test('each sealing has a data key and nonces of its own', async (context) => {
  const { vault } = await opened(context);
  const all = Array.from({ length: 200 }, () => vault.seal(DISTINCTIVE, PLACE));
  for (const name of ['wrapped', 'wrapNonce', 'text', 'nonce'] as const) {
    assert.equal(new Set(all.map((each) => Buffer.from(each[name]).toString('hex'))).size, 200);
  }
});

test('the index is the same after a restart and differs between accounts and stores', async (context) => {
  const { varDir, store, vault } = await opened(context);
  const again = await openVault(fileConfig(varDir), store);
  assert.equal(again.index('c', 'a'), vault.index('c', 'a'));
  assert.notEqual(vault.index('c', 'b'), vault.index('c', 'a'));
  assert.notEqual(vault.index('bc', 'a'), vault.index('c', 'ab'));
  const other = await opened(context);
  assert.notEqual(other.vault.index('c', 'a'), vault.index('c', 'a'));
});

test('the first start makes a key file that its owner alone reads', async (context) => {
  const { varDir } = await opened(context);
  const path = join(varDir, 'kek');
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(
    readdirSync(varDir).filter((name) => name.includes('kek')),
    ['kek'],
  );
  const file = JSON.parse(readFileSync(path, 'utf8')) as { v: number; keys: readonly object[] };
  assert.equal(file.v, 1);
  assert.equal(file.keys.length, 1);
});

test('starts at the same time agree on one key', async (context) => {
  const varDir = newVarDir(context);
  const stores = await Promise.all([1, 2].map(() => Store.open(varDir)));
  context.after(() => Promise.all(stores.map((store) => store.close())));
  const vaults = await Promise.all(stores.map((store) => openVault(fileConfig(varDir), store)));
  const sealed = vaults[0]!.seal(DISTINCTIVE, PLACE);
  assert.equal(vaults[1]!.open(sealed, PLACE), DISTINCTIVE);
  assert.equal(vaults[0]!.index('c', 'a'), vaults[1]!.index('c', 'a'));
});

test('a key file that others may read is refused with what to do', async (context) => {
  const { varDir, store } = await opened(context);
  const path = join(varDir, 'kek');
  for (const mode of [0o640, 0o604, 0o620]) {
    chmodSync(path, mode);
    await assert.rejects(openVault(fileConfig(varDir), store), /others .* chmod 600/);
  }
  chmodSync(path, 0o400);
  await openVault(fileConfig(varDir), store);
});

test('a lost key file is an error and no new one is made', async (context) => {
  const { varDir, store } = await opened(context);
  const path = join(varDir, 'kek');
  rmSync(path);
  await assert.rejects(openVault(fileConfig(varDir), store), /does not exist; put the key back/);
  assert.equal(existsSync(path), false);
  // Nor does another key do.
  await opened(context).then((other) => renameSync(join(other.varDir, 'kek'), path));
  await assert.rejects(openVault(fileConfig(varDir), store), /put the key back/);
});

test('a key file lost while the service runs stops sealing and not opening', async (context) => {
  const { varDir, vault } = await opened(context);
  const sealed = vault.seal(DISTINCTIVE, PLACE);
  rmSync(join(varDir, 'kek'));
  assert.throws(() => vault.seal(DISTINCTIVE, PLACE), /is gone; put it back/);
  assert.equal(vault.open(sealed, PLACE), DISTINCTIVE);
});

test('a damaged key file is refused without repeating any of it', async (context) => {
  const { varDir, store } = await opened(context);
  const path = join(varDir, 'kek');
  const whole = readFileSync(path, 'utf8');
  const key = /"key": "(.{8})/.exec(whole)![1]!;
  for (const text of [
    '',
    '{',
    whole.slice(0, -20),
    '{"v":2,"keys":[]}',
    '{"v":1,"keys":[]}',
    whole.replace(key, 'AAAAAAAA'),
    `${whole}${' '.repeat(70_000)}`,
  ]) {
    writeFileSync(path, text, { mode: 0o600 });
    await assert.rejects(
      openVault(fileConfig(varDir), store),
      (error: Error) => error.message.includes(path) && !error.message.includes(key),
    );
  }
});

test('a key in the folder of the store is refused', (context) => {
  const varDir = newVarDir(context);
  for (const kekFile of [join(varDir, 'store', 'kek'), join(varDir, 'store', 'x', 'kek')]) {
    assert.throws(
      () => openKekSource({ ...fileConfig(varDir), kekFile }, null),
      /folder of the store/,
    );
  }
});

test('a key of the environment wins over the file and opens what its previous one sealed', async (context) => {
  const varDir = newVarDir(context);
  const store = await Store.open(varDir);
  context.after(() => store.close());
  const [old, fresh] = [randomBytes(32), randomBytes(32)];
  const first = await openVault({ ...fileConfig(varDir), kek: old }, store);
  const sealed = first.seal(DISTINCTIVE, PLACE);
  assert.equal(existsSync(join(varDir, 'kek')), false);
  const both = await openVault({ ...fileConfig(varDir), kek: fresh, kekPrevious: [old] }, store);
  assert.equal(both.open(sealed, PLACE), DISTINCTIVE);
  assert.notEqual(both.seal(DISTINCTIVE, PLACE).kek, sealed.kek);
  await assert.rejects(
    openVault({ ...fileConfig(varDir), kek: fresh }, store),
    /SITUS_KEK_PREVIOUS/,
  );
});

test('an empty and a long secret are sealed like any other', () => {
  const kek = { id: 'k', key: randomBytes(32) };
  for (const text of ['', 'é'.repeat(100_000)]) {
    assert.equal(openSealed(kek, sealText(kek, text, PLACE), PLACE), text);
  }
});

test('keys of the environment are 32 bytes in base64, and a bad one is not repeated', () => {
  const good = randomBytes(32).toString('base64');
  const { kek, kekPrevious } = loadConfig({
    SITUS_KEK: good,
    SITUS_KEK_PREVIOUS: `${good},${good.replace('=', '')}`,
  });
  assert.deepEqual([kek?.length, ...kekPrevious.map(({ length }) => length)], [32, 32, 32]);
  for (const bad of [good.slice(4), `${good}AAAA`, 'x'.repeat(44), `${good},`, 'p@ssword']) {
    for (const name of ['SITUS_KEK', 'SITUS_KEK_PREVIOUS']) {
      assert.throws(
        () => loadConfig({ [name]: bad }),
        (error: Error) =>
          error.message.startsWith(`${name} must be`) && !error.message.includes(bad),
      );
    }
  }
});

test('a key that a rotation drops while a vault is opened is the one that came after it', async (context) => {
  const { varDir, store, vault } = await opened(context);
  const sealed = vault.seal(DISTINCTIVE, PLACE);
  await store.write((transaction) => transaction.put(['secret', 'a'], { v: 1, sealed }));
  const before = store.get(['vault', 'index']);
  const quiet = { report: (): void => undefined, begun: (): void => undefined };
  const actor = { kind: 'cli', uid: 7, user: 'someone' } as const;
  const file = KekFile.open(join(varDir, 'kek'), null);
  const { dropped } = await rotateKek(store, file, new Date(), actor, quiet);
  assert.deepEqual(dropped, [sealed.kek]);
  let looked = 0;
  const late = new Proxy(store, {
    get: (target, name) => {
      // Local data of a shared store may be behind for as long as it takes; a transaction is not.
      if (name === 'get') {
        looked += 1;
        return () => before;
      }
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
  const opener = await openVault(fileConfig(varDir), late);
  assert.equal(looked, 1);
  const record = store.get(['secret', 'a']) as { readonly sealed: unknown };
  assert.equal(opener.open(parseSealed(record.sealed), PLACE), DISTINCTIVE);
});
