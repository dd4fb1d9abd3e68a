/** Signatures of releases, and servers and commands that ask for one. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import {
  copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { App } from '../../src/app.js';
import { loadConfig } from '../../src/config.js';
import { activateRelease, releasesDir } from '../../src/dataset/release.js';
import { SIGNATURE_FILE } from '../../src/dataset/signature.js';
import { createLog } from '../../src/log.js';
import { writeRelease } from '../../src/ingest/release-writer.js';
import { situs } from '../support/built-dataset.js';
import { ask } from '../support/http-client.js';
import { eventually } from '../support/http-eventually.js';
import { tinyContent } from '../support/tiny-release.js';

let varDir: string;
let names: readonly [string, string];
/** Public keys: ours and another's. */
let ours: string;
let theirs: string;
const keyFile = (): string => join(varDir, 'key.pem');

before(async () => {
  varDir = mkdtempSync(join(tmpdir(), 'situs-signed-'));
  names = [
    await writeRelease(varDir, tinyContent(50), () => undefined),
    await writeRelease(varDir, tinyContent(60), () => undefined),
  ];
  ours = situs(varDir, ['dataset', 'sign', '--new-key', keyFile()]).trim();
  theirs = situs(varDir, ['dataset', 'sign', '--new-key', join(varDir, 'other.pem')]).trim();
});

after(() => rmSync(varDir, { recursive: true, force: true }));

function fileOf(name: string): string {
  return join(releasesDir(varDir), name, SIGNATURE_FILE);
}

function signed(name: string, key = keyFile()): void {
  assert.match(situs(varDir, ['dataset', 'sign', name, '--key', key]), /signed by/);
}

function activated(name: string, required: string): string {
  return situs(varDir, ['dataset', 'activate', name], { SITUS_REQUIRE_SIGNATURE: required });
}

test('a key is made for its owner alone, and replaces none', () => {
  assert.equal(statSync(keyFile()).mode & 0o777, 0o600);
  assert.match(ours, /^[A-Za-z0-9+/]{43}=$/);
  assert.throws(() => situs(varDir, ['dataset', 'sign', '--new-key', keyFile()]), /EEXIST/);
});

test('what is not signed, or by others, or is other bytes, is not activated', () => {
  const [name, other] = names;
  assert.throws(() => activated(name, ours), /it is not signed/);
  signed(name, join(varDir, 'other.pem'));
  assert.throws(() => activated(name, ours), /signed with other keys/);
  assert.equal(activated(name, `${ours},${theirs}`), `${name}\n`, 'one of them');
  signed(name);
  assert.equal(activated(name, ours), `${name}\n`, 'both have signed it');
  copyFileSync(fileOf(name), fileOf(other));
  assert.throws(() => activated(other, ours), /its signature is that of other bytes/);
  writeFileSync(fileOf(other), '{}');
  assert.throws(() => activated(other, ours), /it is not signed/);
  rmSync(fileOf(other));
  assert.equal(situs(varDir, ['dataset', 'activate', other]), `${other}\n`, 'not asked for');
  assert.throws(() =>
    situs(varDir, ['dataset', 'rollback', '--require-signature', ours]), /unknown option/);
  assert.throws(() => situs(varDir, ['dataset', 'activate', other, '--require-signature', ours]),
    /it is not signed/);
});

test('keys of openssl serve as well, those of another kind are refused by name', () => {
  const pem = join(varDir, 'public.pem');
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(pem, publicKey.export({ type: 'spki', format: 'pem' }));
  assert.throws(() => activated(names[0], pem), /public\.pem holds a key of rsa/);
  assert.throws(() => activated(names[0], 'nosuch'), /SITUS_REQUIRE_SIGNATURE: nosuch holds no/);
  signed(names[0]);
  try {
    execFileSync('openssl', ['pkey', '-in', keyFile(), '-pubout', '-out', pem]);
  } catch {
    return;
  }
  assert.equal(activated(names[0], pem), `${names[0]}\n`);
});

test('a bundle adds its signature and takes none away', () => {
  const to = mkdtempSync(join(varDir, 'to-'));
  const [name] = names;
  const pack = (file: string, key: string): string => {
    rmSync(fileOf(name), { force: true });
    signed(name, key);
    return situs(varDir, ['dataset', 'pack', name, join(to, file)]).trim();
  };
  const bundles = [pack('theirs', join(varDir, 'other.pem')), pack('ours', keyFile())];
  for (const bundle of bundles) situs(to, ['dataset', 'unpack', bundle]);
  for (const required of [theirs, ours]) {
    assert.equal(situs(to, ['dataset', 'activate', name, '--require-signature', required]),
      `${name}\n`);
  }
});

test('a build that is to be activated is refused before it begins, or signed', () => {
  const build = ['dataset', 'build', '--recipe', 'fixture', '--quiet', '--activate'];
  const required = { SITUS_REQUIRE_SIGNATURE: ours };
  assert.throws(() => situs(varDir, build, required), /--sign has to name/);
  assert.throws(() =>
    situs(varDir, [...build, '--sign', join(varDir, 'other.pem')], required), /--sign has to name/);
  const name = situs(varDir, [...build, '--sign', keyFile()], required).trim();
  assert.match(readFileSync(fileOf(name), 'utf8'), /"signature"/);
  assert.equal(activated(name, ours), `${name}\n`);
});

async function serving(
  context: TestContext, required: string, lines: string[],
): Promise<() => Promise<string>> {
  const app = await App.start({
    config: loadConfig({
      HOST: '127.0.0.1', PORT: '0', SITUS_VAR: varDir, SITUS_REQUIRE_SIGNATURE: required,
      SITUS_WORKERS: '1', SITUS_BULK_WORKERS: '1',
    }),
    log: createLog('error', (line) => lines.push(line)),
  });
  context.after(() => app.stop());
  const port = await app.listen();
  return async () => (await ask(port, '/system/health')).body;
}

test('a server keeps the release it has when one that is not signed is activated', async (context) => {
  const [name, other] = names;
  signed(name);
  activateRelease(varDir, name);
  const lines: string[] = [];
  const health = await serving(context, ours, lines);
  assert.match(await health(), new RegExp(`"dataset":"${name}"`));
  rmSync(fileOf(other), { force: true });
  activateRelease(varDir, other);
  await eventually(async () => (await health()).includes(`"refused":{"dataset":"${other}"`));
  assert.match(lines.join(''), /it is not signed/);
  assert.match(await health(), new RegExp(`"dataset":"${name}"`));
  signed(other);
  activateRelease(varDir, name);
  await eventually(async () => !(await health()).includes('"refused"'));
  activateRelease(varDir, other);
  await eventually(async () => (await health()).includes(`"dataset":"${other}"`));
});

test('a copy that was kept without asking is not opened where a signature is asked for', async () => {
  const [, other] = names;
  rmSync(fileOf(other), { force: true });
  activateRelease(varDir, other);
  const app = await App.start({
    config: loadConfig({ HOST: '127.0.0.1', PORT: '0', SITUS_VAR: varDir, SITUS_WORKERS: '1' }),
    log: createLog('error', () => undefined),
  });
  await app.stop();
  await assert.rejects(App.start({
    config: loadConfig({
      HOST: '127.0.0.1', PORT: '0', SITUS_VAR: varDir, SITUS_REQUIRE_SIGNATURE: ours,
      SITUS_WORKERS: '1', SITUS_BULK_WORKERS: '1',
    }),
    log: createLog('error', () => undefined),
  }), /it is not signed/);
});
