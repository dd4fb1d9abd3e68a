/** The provider of a configuration. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { App } from '../../src/app.js';
import { loadConfig } from '../../src/config.js';
import { SILENT } from '../../src/log.js';
import { openProvider } from '../../src/provider/open-provider.js';
import { newVarDir } from '../support/http-var-dir.js';

const CASES: readonly (readonly [url: string, allow: string, refused: RegExp | null])[] = [
  ['https://provider.example/v3', '', null],
  ['https://provider.example:8443', '0', null],
  ['http://provider.example', '', /SITUS_PROVIDER_URL must begin with https/],
  ['https://127.0.0.1', '', /SITUS_PROVIDER_URL names an address .*loopback/],
  ['https://169.254.169.254', '', /link-local/],
  ['https://2130706433', '1', /plain address/],
  ['https://user:secret@provider.example', '1', /user name/],
  ['https://provider.example:25', '', /port/],
  ['http://127.0.0.1:8790', '1', null],
  ['https://10.1.2.3:9443', '1', null],
];

test('an address that may not be used is refused at the start, by its setting', async () => {
  for (const [SITUS_PROVIDER_URL, SITUS_ALLOW_PRIVATE_NETWORK, refused] of CASES) {
    const config = loadConfig({ SITUS_PROVIDER_URL, SITUS_ALLOW_PRIVATE_NETWORK });
    if (refused === null) {
      const provider = await openProvider(config);
      assert.ok(provider !== null, SITUS_PROVIDER_URL);
      await provider.close();
    } else {
      await assert.rejects(
        openProvider(config),
        (error: Error) => {
          assert.match(error.message, refused);
          return !error.message.includes('secret');
        },
        SITUS_PROVIDER_URL,
      );
    }
  }
  assert.equal(await openProvider(loadConfig({})), null);
});

test('settings of the provider', () => {
  const { providerUrl, providerTimeoutMs, allowPrivateNetwork } = loadConfig({});
  assert.deepEqual([providerUrl, providerTimeoutMs, allowPrivateNetwork], [null, 20_000, false]);
  for (const [name, value] of [
    ['SITUS_PROVIDER_TIMEOUT_MS', '99'],
    ['SITUS_PROVIDER_TIMEOUT_MS', '120001'],
    ['SITUS_PROVIDER_TIMEOUT_MS', '1s'],
    ['SITUS_ALLOW_PRIVATE_NETWORK', 'yes'],
    ['SITUS_PROVIDER_URL', 'provider.example'],
    ['SITUS_PROVIDER_URL', 'https://x.example/?a'],
  ] as const) {
    assert.throws(() => loadConfig({ [name]: value }), new RegExp(name));
  }
});

test('the service does not start with a refused address', async (t) => {
  const config = loadConfig({
    SITUS_VAR: newVarDir(t),
    SITUS_PROVIDER_URL: 'https://169.254.169.254',
    PORT: '0',
  });
  await assert.rejects(App.start({ config, log: SILENT }), /SITUS_PROVIDER_URL/);
});
