/** Signatures of releases, and servers and commands that ask for one. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { activateRelease, releasesDir } from '../../src/dataset/release.js';
import { readSigningKey, SIGNATURE_FILE } from '../../src/dataset/signature.js';
import { createLog } from '../../src/log.js';
import { writeRelease } from '../../src/ingest/release-writer.js';
import { CommandProcess } from '../support/command-process.js';
import { ask } from '../support/http-client.js';
import { eventually } from '../support/http-eventually.js';
import { tinyContent } from '../support/tiny-release.js';
import { startApp } from '../support/own-app.js';

const commands = new CommandProcess();

/** Runs `situs ARGS` over a folder of variables; what it refuses is thrown. */
async function situs(
  dir: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { code, out, err } = await commands.run(args, { SITUS_VAR: dir, ...env });
  if (code !== 0) throw new Error(err);
  return out;
}

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
  const newKey = async (file: string): Promise<string> =>
    (await situs(varDir, ['dataset', 'sign', '--new-key', file])).trim();
  ours = await newKey(keyFile());
  theirs = await newKey(join(varDir, 'other.pem'));
});

after(async () => {
  await commands.end();
  rmSync(varDir, { recursive: true, force: true });
});

function fileOf(name: string): string {
  return join(releasesDir(varDir), name, SIGNATURE_FILE);
}

async function signed(name: string, key = keyFile()): Promise<void> {
  assert.match(await situs(varDir, ['dataset', 'sign', name, '--key', key]), /signed by/);
}

function activated(name: string, required: string): Promise<string> {
  return situs(varDir, ['dataset', 'activate', name], { SITUS_REQUIRE_SIGNATURE: required });
}

test('a key is made for its owner alone, and replaces none', async () => {
  assert.equal(statSync(keyFile()).mode & 0o777, 0o600);
  assert.match(ours, /^[A-Za-z0-9+/]{43}=$/);
  await assert.rejects(situs(varDir, ['dataset', 'sign', '--new-key', keyFile()]), /EEXIST/);
});

test('what is not signed, or by others, or is other bytes, is not activated', async () => {
  const [name, other] = names;
  await assert.rejects(activated(name, ours), /it is not signed/);
  await signed(name, join(varDir, 'other.pem'));
  await assert.rejects(activated(name, ours), /signed with other keys/);
  assert.equal(await activated(name, `${ours},${theirs}`), `${name}\n`, 'one of them');
  await signed(name);
  assert.equal(await activated(name, ours), `${name}\n`, 'both have signed it');
  copyFileSync(fileOf(name), fileOf(other));
  await assert.rejects(activated(other, ours), /its signature is that of other bytes/);
  writeFileSync(fileOf(other), '{}');
  await assert.rejects(activated(other, ours), /it is not signed/);
  rmSync(fileOf(other));
  assert.equal(await situs(varDir, ['dataset', 'activate', other]), `${other}\n`, 'not asked for');
  await assert.rejects(
    situs(varDir, ['dataset', 'rollback', '--require-signature', ours]),
    /unknown option/,
  );
  await assert.rejects(
    situs(varDir, ['dataset', 'activate', other, '--require-signature', ours]),
    /it is not signed/,
  );
});

test('keys of openssl serve as well, those of another kind are refused by name', async () => {
  const pem = join(varDir, 'public.pem');
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(pem, publicKey.export({ type: 'spki', format: 'pem' }));
  await assert.rejects(activated(names[0], pem), /public\.pem holds a key of rsa/);
  await assert.rejects(activated(names[0], 'nosuch'), /SITUS_REQUIRE_SIGNATURE: nosuch holds no/);
  await signed(names[0]);
  try {
    execFileSync('openssl', ['pkey', '-in', keyFile(), '-pubout', '-out', pem]);
  } catch {
    return;
  }
  assert.equal(await activated(names[0], pem), `${names[0]}\n`);
});

test('a file that holds no private key is told why, without words of the library', () => {
  const file = join(varDir, 'locked.pem');
  const told = (): string => {
    try {
      readSigningKey(file);
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };
  const { privateKey } = generateKeyPairSync('ed25519');
  const locked = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' } as const;
  writeFileSync(file, privateKey.export(locked));
  assert.match(told(), /locked\.pem holds no private key: it is encrypted with a password/);
  writeFileSync(file, 'root:x:0:0\n');
  assert.match(told(), /locked\.pem holds no private key: its text is no PEM of one$/);
});

test('a bundle adds its signature and takes none away', async () => {
  const to = mkdtempSync(join(varDir, 'to-'));
  const [name] = names;
  const pack = async (file: string, key: string): Promise<string> => {
    rmSync(fileOf(name), { force: true });
    await signed(name, key);
    return (await situs(varDir, ['dataset', 'pack', name, join(to, file)])).trim();
  };
  const bundles = [await pack('theirs', join(varDir, 'other.pem')), await pack('ours', keyFile())];
  for (const bundle of bundles) await situs(to, ['dataset', 'unpack', bundle]);
  for (const required of [theirs, ours]) {
    assert.equal(
      await situs(to, ['dataset', 'activate', name, '--require-signature', required]),
      `${name}\n`,
    );
  }
});

test('a build that is to be activated is refused before it begins, or signed', async () => {
  const build = ['dataset', 'build', '--recipe', 'fixture', '--quiet', '--activate'];
  const required = { SITUS_REQUIRE_SIGNATURE: ours };
  await assert.rejects(situs(varDir, build, required), /--sign has to name/);
  await assert.rejects(
    situs(varDir, [...build, '--sign', join(varDir, 'other.pem')], required),
    /--sign has to name/,
  );
  const name = (await situs(varDir, [...build, '--sign', keyFile()], required)).trim();
  assert.match(readFileSync(fileOf(name), 'utf8'), /"signature"/);
  assert.equal(await activated(name, ours), `${name}\n`);
});

async function serving(
  context: TestContext,
  required: string,
  lines: string[],
): Promise<() => Promise<string>> {
  const app = await startApp(
    varDir,
    { SITUS_REQUIRE_SIGNATURE: required },
    { log: createLog('error', (line) => lines.push(line)) },
  );
  context.after(() => app.stop());
  const port = await app.listen();
  return async () => (await ask(port, '/system/health')).body;
}

test('a server keeps the release it has when one that is not signed is activated', async (context) => {
  const [name, other] = names;
  await signed(name);
  activateRelease(varDir, name);
  const lines: string[] = [];
  const health = await serving(context, ours, lines);
  assert.match(await health(), new RegExp(`"dataset":"${name}"`));
  rmSync(fileOf(other), { force: true });
  activateRelease(varDir, other);
  await eventually(async () => (await health()).includes(`"refused":{"dataset":"${other}"`));
  assert.match(lines.join(''), /it is not signed/);
  assert.match(await health(), new RegExp(`"dataset":"${name}"`));
  await signed(other);
  activateRelease(varDir, name);
  await eventually(async () => !(await health()).includes('"refused"'));
  activateRelease(varDir, other);
  await eventually(async () => (await health()).includes(`"dataset":"${other}"`));
});

test('a copy that was kept without asking is not opened where a signature is asked for', async () => {
  const [, other] = names;
  rmSync(fileOf(other), { force: true });
  activateRelease(varDir, other);
  const app = await startApp(varDir, {}, { log: createLog('error', () => undefined) });
  await app.stop();
  await assert.rejects(
    startApp(
      varDir,
      { SITUS_REQUIRE_SIGNATURE: ours },
      { log: createLog('error', () => undefined) },
    ),
    /it is not signed/,
  );
});
