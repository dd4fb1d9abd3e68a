import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { loadConfig, SETTINGS } from '../../src/config.js';
import { createLog } from '../../src/log.js';

test('an empty environment gives the defaults of the table', () => {
  const config = loadConfig({});
  assert.equal(config.port, 3000);
  assert.equal(config.varDir, resolve('./var'));
  assert.equal(config.bootstrapKey, null);
  assert.equal(config.bootstrapRate, 10_000);
  assert.equal(config.logLevel, 'info');
  assert.ok(Object.isFrozen(config));
  assert.deepEqual(loadConfig({ PORT: '', SITUS_LOG: '' }), config, 'empty is unset');
});

test('every bad value is named at once, and no key is repeated', () => {
  const environment = {
    PORT: '70000', SITUS_BOOTSTRAP_KEY: 'tooshort', SITUS_LOG: 'loud',
    SITUS_BOOTSTRAP_RATE: '1e3', SITUS_BASE_URL: 'ftp://x', SITUS_PRECISION_MIN: 'exact',
  };
  assert.throws(() => loadConfig(environment), (error: Error) => {
    for (const name of Object.keys(environment)) assert.ok(error.message.includes(name), name);
    return !error.message.includes('tooshort');
  });
});

test('the base URL has no slash at its end', () => {
  assert.equal(loadConfig({}).baseUrl, 'http://127.0.0.1:3000');
  assert.equal(loadConfig({ HOST: '0.0.0.0' }).baseUrl, '');
  assert.equal(loadConfig({ SITUS_BASE_URL: 'https://tax.example/a//' }).baseUrl,
    'https://tax.example/a');
});

test('every setting has a name of its own and a sentence', () => {
  assert.equal(new Set(SETTINGS.map(({ name }) => name)).size, SETTINGS.length);
  for (const { meaning } of SETTINGS) assert.match(meaning, /^[A-Z].*\.$/);
});

test('log lines are JSON, from the least level upwards', () => {
  const lines: string[] = [];
  const log = createLog('warn', (line) => lines.push(line));
  log.debug('a');
  log.info('b');
  log.warn('c', { port: 1 });
  log.error('d');
  const entries = lines.map((line): unknown => JSON.parse(line));
  assert.equal(entries.length, 2);
  assert.match(lines[0]!, /"level":"warn","event":"c","port":1}\n$/);
});
