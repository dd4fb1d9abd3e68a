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
    PORT: '70000',
    SITUS_BOOTSTRAP_KEY: 'tooshort',
    SITUS_LOG: 'loud',
    SITUS_BOOTSTRAP_RATE: '1e3',
    SITUS_BASE_URL: 'ftp://x',
    SITUS_PRECISION_MIN: 'exact',
  };
  assert.throws(
    () => loadConfig(environment),
    (error: Error) => {
      for (const name of Object.keys(environment)) assert.ok(error.message.includes(name), name);
      return !error.message.includes('tooshort');
    },
  );
});

test('each listener needs a port for its metrics', () => {
  const metrics = { SITUS_METRICS: '127.0.0.1:65535' };
  assert.equal(loadConfig({ ...metrics, SITUS_LISTENERS: '1' }).listeners, 1);
  assert.throws(
    () => loadConfig({ ...metrics, SITUS_LISTENERS: '3' }),
    /^Error: SITUS_METRICS must leave each of SITUS_LISTENERS a port: the last would have 65537/,
  );
});

test('a name that is no setting is refused with the nearest one, and without its value', () => {
  for (const [name, meant] of [
    ['SITUS_BULKDIR', 'SITUS_BULK_DIR'],
    ['SITUS_VARS', 'SITUS_VAR'],
    ['SITUS_PORT', 'PORT'],
    ['SITUS_WEBHOOK_SECERT', 'SITUS_WEBHOOK_SECRET'],
    ['SITUS_LOGLEVEL', 'SITUS_LOG'],
    ['SITUS_LOG_LEVEL', 'SITUS_LOG'],
    ['SITUS_TLS_CERTIFICATE', 'SITUS_TLS_CERT'],
    ['SITUS_TLS_PRIVATE_KEY', 'SITUS_TLS_KEY'],
    ['SITUS_CORS', 'SITUS_CORS_ORIGINS'],
    ['SITUS_METRICS_ADDRESS', 'SITUS_METRICS'],
    ['SITUS_PORT_NUMBER', 'PORT'],
    ['SITUS_PROXY', 'SITUS_PROXIES'],
    ['SITUS_TRUSTED_PROXIES', 'SITUS_PROXIES'],
    ['SITUS_CERT', 'SITUS_TLS_CERT'],
    ['SITUS_TLS', 'SITUS_TLS_KEY'],
    ['SITUS_REDIS', 'SITUS_LIMITS'],
    ['SITUS_REQUEST_LOG_EVRY', 'SITUS_REQUEST_LOG_EVERY'],
    ['situs_log', 'SITUS_LOG'],
    ['Situs_Bulk_Dir', 'SITUS_BULK_DIR'],
  ] as const) {
    assert.throws(
      () => loadConfig({ [name]: 'hidden' }),
      (error: Error) => error.message === `${name} is no setting; did you mean ${meant}?`,
      name,
    );
  }
  for (const name of ['SITUS_COMPLETELY_DIFFERENT', 'SITUS_XYZ', 'SITUS_']) {
    assert.throws(
      () => loadConfig({ [name]: '1' }),
      (error: Error) => error.message === `${name} is no setting`,
    );
  }
});

test('what Kubernetes and Docker put beside the settings is let be', () => {
  assert.deepEqual(
    loadConfig({
      SITUS_SERVICE_HOST: '10.0.0.7',
      SITUS_SERVICE_PORT: '3000',
      SITUS_SERVICE_PORT_HTTP: '3000',
      SITUS_PORT: 'tcp://10.0.0.7:3000',
      SITUS_PORT_3000_TCP: 'tcp://10.0.0.7:3000',
      SITUS_PORT_3000_TCP_ADDR: '10.0.0.7',
      SITUS_API_SERVICE_HOST: '10.0.0.8',
      SITUSATION: 'nothing of ours',
    }),
    loadConfig({}),
  );
});

test('the base URL has no slash at its end', () => {
  assert.equal(loadConfig({}).baseUrl, 'http://127.0.0.1:3000');
  assert.equal(loadConfig({ HOST: '0.0.0.0' }).baseUrl, '');
  assert.equal(
    loadConfig({ SITUS_BASE_URL: 'https://tax.example/a//' }).baseUrl,
    'https://tax.example/a',
  );
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
