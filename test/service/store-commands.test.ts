/** Commands beside a store in PostgreSQL. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { situs } from '../support/built-dataset.js';
import { newVarDir } from '../support/http-var-dir.js';
import { newSchema } from '../support/postgres.js';

/** What a command that fails says. */
function refusal(run: () => string): string {
  try {
    run();
  } catch (error) {
    return String((error as { stderr?: Buffer }).stderr ?? error);
  }
  return assert.fail('the command was done');
}

test('tables are made once, keys are of all machines, and a copy leads out', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const [one, other, out] = [newVarDir(context), newVarDir(context), newVarDir(context)];
  const on = { SITUS_STORE: schema.url };
  assert.match(situs(one, ['store', 'migrate'], on), /tables of version 1 now, of 0 before/);
  assert.match(situs(one, ['store', 'migrate'], on), /tables of version 1 already/);
  situs(one, ['key', 'create', '--plan', 'pro', '--account', 'somebody'], on);
  assert.match(situs(other, ['key', 'list'], on), /somebody/);
  assert.match(situs(one, ['store', 'copy', schema.url, out]), /records, read again and the same/);
  assert.match(situs(out, ['key', 'list']), /somebody/);
  assert.match(refusal(() => situs(one, ['store', 'copy', out, schema.url])), /holds records/);
  assert.match(refusal(() => situs(one, ['store', 'backup', `${one}/b`], on)), /pg_dump/);
  assert.match(refusal(() => situs(one, ['store', 'migrate'])), /SITUS_STORE names no database/);
  const secret = refusal(() => situs(one, ['key', 'list'], {
    SITUS_STORE: 'postgres://situs:tell-nobody@127.0.0.1:1/test',
  }));
  assert.match(secret, /127\.0\.0\.1:1/);
  assert.ok(!secret.includes('tell-nobody'));
});
