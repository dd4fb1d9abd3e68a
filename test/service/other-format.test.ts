/** Questions to releases that another version of Situs built: lookups, carts, `situs replay`. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { App } from '../../src/app.js';
import { createLog } from '../../src/log.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';
import { runMany } from '../support/run-command.js';
import { setFormat, writeRates, ZIP } from '../support/tiny-release.js';
import { startApp } from '../support/own-app.js';

const KEY = 'a-key-of-another-format';
const OTHERS = [
  [2, /built by an older version of Situs \(format 2\)/],
  [99, /built by a newer version of Situs \(format 99\)/],
] as const;

let built: Built;
let app: App;
let base: string;
/** Names of the releases, in the order of the formats above. */
const names: string[] = [];
const lines: string[] = [];

before(async () => {
  built = buildRecipe('fixture');
  for (const [format] of OTHERS) {
    const [name = ''] = (await writeRates(built.varDir, [format])).values();
    setFormat(built.varDir, name, format);
    names.push(name);
  }
  app = await startApp(
    built.varDir,
    { SITUS_BOOTSTRAP_KEY: KEY },
    { log: createLog('error', (line) => lines.push(line)) },
  );
  base = `http://127.0.0.1:${await app.listen()}`;
});

after(async () => {
  await app.stop();
  built.remove();
});

async function ask(
  path: string,
  body: string | null = null,
): Promise<{ readonly status: number; readonly text: string; readonly receipt: string }> {
  const response = await fetch(base + path, {
    method: body === null ? 'GET' : 'POST',
    body,
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
  });
  const { status, headers } = response;
  return { status, text: await response.text(), receipt: headers.get('x-situs-receipt') ?? '' };
}

test('they are refused as one that is not kept, with the reason', async () => {
  for (const [at, [, told]] of OTHERS.entries()) {
    const query = `postalcode=${ZIP}&dataset=${names[at]}`;
    for (const version of ['v10', 'v60']) {
      const { status, text } = await ask(`/request/${version}?${query}&receipt=true`);
      assert.equal(status, 422, text);
      assert.match(text, /"(?:code|rCode)":110/);
      if (version === 'v60') assert.match(text, told);
    }
    assert.match((await ask(`/request/v60?${query}&format=xml`)).text, told);
    const cart = await ask(`/calculate/cart?dataset=${names[at]}`, '{"items":[]}');
    assert.equal(cart.status, 422, cart.text);
    assert.match(cart.text, /"location":"query\.dataset"/);
    assert.match(cart.text, told);
  }
  assert.equal(lines.join(''), '', 'nothing that an operator must see to');
});

test('situs replay says so, and not that they are damaged', async () => {
  const { receipt } = await ask(`/request/v60?postalcode=${ZIP}&receipt=true`);
  const commands = names.map((dataset) => {
    const file = join(built.varDir, `${dataset}.json`);
    writeFileSync(file, JSON.stringify({ ...(JSON.parse(receipt) as object), dataset }));
    return ['replay', file];
  });
  for (const [at, { code, err }] of runMany(built.varDir, commands).entries()) {
    assert.equal(code, 1, err);
    assert.match(err, OTHERS[at]![1]);
    assert.doesNotMatch(err, /not sound/);
  }
});
