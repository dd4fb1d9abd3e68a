/** The setting SITUS_LIMITS: what it may be, and that no password of it is repeated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { readRedisAddress } from '../../src/limit/redis-address.js';
import { checkRedis } from '../../src/limit/open-rates.js';
import { startRedis } from '../support/redis-server.js';

test('hosts, sockets, credentials, databases and prefixes are read', () => {
  const plain = {
    host: 'cache.internal',
    port: 6379,
    socket: '',
    username: '',
    password: '',
    database: 0,
    tls: false,
    prefix: 'situs',
    shown: 'redis://cache.internal:6379',
  };
  const unix = { ...plain, host: '', socket: '/run/r.sock', shown: 'unix:///run/r.sock' };
  const cases = [
    ['redis://cache.internal', plain],
    ['redis://cache.internal:6379/', plain],
    [
      'rediss://u:p%40ss@cache.internal:7000/2?prefix=blue',
      {
        ...plain,
        port: 7_000,
        username: 'u',
        password: 'p@ss',
        database: 2,
        tls: true,
        prefix: 'blue',
        shown: 'rediss://cache.internal:7000',
      },
    ],
    [
      'redis://:p:w@[::1]:1',
      {
        ...plain,
        host: '::1',
        port: 1,
        password: 'p:w',
        shown: 'redis://::1:1',
      },
    ],
    ['unix:///run/r.sock', unix],
    ['unix://:pw@/run/r.sock?db=3', { ...unix, password: 'pw', database: 3 }],
  ] as const;
  for (const [text, address] of cases) {
    const { shown, ...rest } = readRedisAddress(text);
    const { shown: wanted, ...parts } = address;
    assert.deepEqual(rest, parts, text);
    assert.equal(shown.replaceAll(/[[\]]/g, ''), wanted, text);
  }
});

test('anything else is refused by the name of the setting alone', () => {
  for (const text of [
    'redis://',
    'http://secret@host',
    'redis://:secret@host:0',
    'redis://:secret@host:70000',
    'redis://:secret@host/one',
    'redis://:secret@ho st',
    'unix://host/secret',
    'unix://secret',
    'redis://:secret%zz@host',
    'redis://:secret@host?prefix={secret}',
    'redis://host?tls=secret',
    'secret',
  ]) {
    assert.throws(
      () => readRedisAddress(text),
      (error: Error) =>
        error.message.startsWith('SITUS_LIMITS ') && !error.message.includes('secret'),
      text,
    );
  }
});

test('a server is asked once, as `situs doctor` does', async (context) => {
  const redis = await startRedis(context, ['--requirepass', 'a-secret-word']);
  if (redis === null) return;
  const asked = redis.url.replace('//', '//:a-secret-word@');
  const good = await checkRedis(asked);
  assert.equal(good.fault, null);
  assert.equal(good.warning, null);
  assert.match(good.version, /^(?:Redis|Valkey) \d+\./);
  assert.equal(good.server, redis.url);
  const own = new Redis(asked);
  await own.config('SET', 'maxmemory', '100mb', 'maxmemory-policy', 'allkeys-lru');
  own.disconnect();
  assert.match((await checkRedis(asked)).warning ?? '', /maxmemory-policy allkeys-lru/);
  const wrong = await checkRedis(redis.url.replace('//', '//:another-word@'));
  assert.match(wrong.fault ?? '', /WRONGPASS/);
  await redis.kill();
  const gone = await checkRedis(asked);
  assert.match(gone.fault ?? '', /ECONNREFUSED/);
  assert.ok(!JSON.stringify([good, wrong, gone]).includes('-word'));
});
