/** Commands beside a store in PostgreSQL, and one that cannot be looked at. */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { CommandProcess } from '../support/command-process.js';
import { newVarDir } from '../support/http-var-dir.js';
import { newSchema } from '../support/postgres.js';

const commands = new CommandProcess();
after(() => commands.end());

/** What a command prints that succeeds. */
async function situs(
  varDir: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { code, out, err } = await commands.run(words, { SITUS_VAR: varDir, ...env });
  assert.equal(code, 0, err);
  return out;
}

/** What a command that fails says. */
async function refusal(...[varDir, words, env = {}]: Parameters<typeof situs>): Promise<string> {
  const { code, err } = await commands.run(words, { SITUS_VAR: varDir, ...env });
  assert.notEqual(code, 0, 'the command was done');
  return err;
}

test('tables are made once, keys are of all machines, and a copy leads out', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const [one, other, out] = [newVarDir(context), newVarDir(context), newVarDir(context)];
  const on = { SITUS_STORE: schema.url };
  assert.match(await situs(one, ['store', 'migrate'], on), /tables of version 1 now, of 0 before/);
  assert.match(await situs(one, ['store', 'migrate'], on), /tables of version 1 already/);
  await situs(one, ['key', 'create', '--plan', 'pro', '--account', 'somebody'], on);
  assert.match(await situs(other, ['key', 'list'], on), /somebody/);
  assert.match(
    await situs(one, ['store', 'copy', schema.url, out]),
    /records, read again and the same/,
  );
  assert.match(await situs(out, ['key', 'list']), /somebody/);
  assert.match(await refusal(one, ['store', 'copy', out, schema.url]), /holds records/);
  assert.match(await refusal(one, ['store', 'backup', `${one}/b`], on), /pg_dump/);
  assert.match(await refusal(one, ['store', 'migrate']), /SITUS_STORE names no database/);
  const secret = await refusal(one, ['key', 'list'], {
    SITUS_STORE: 'postgres://situs:tell-nobody@127.0.0.1:1/test',
  });
  assert.match(secret, /127\.0\.0\.1:1/);
  assert.ok(!secret.includes('tell-nobody'));
});

test('a store that cannot be looked at is not called missing', async (context) => {
  const varDir = newVarDir(context);
  mkdirSync(varDir, { recursive: true });
  // A link to itself is for every user what a folder is that only others may enter.
  symlinkSync('store', join(varDir, 'store'));
  assert.match(await refusal(varDir, ['key', 'list']), /^situs: [^\n]*ELOOP[^\n]*store[^\n]*\n$/);
  assert.match((await commands.run(['doctor'], { SITUS_VAR: varDir })).out, /ELOOP/);
});
