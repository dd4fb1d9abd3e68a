/** Counts and times of requests in plain numbers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Front } from '../../src/http/front.js';
import { bucketOf, LATENCY_BOUNDS, RequestMeter } from '../../src/http/request-meter.js';

test('a time is in the first bucket whose bound it does not pass', () => {
  const slow = (microseconds: number): number => {
    const at = LATENCY_BOUNDS.findIndex((bound) => microseconds <= Math.round(bound * 1_000_000));
    return at < 0 ? LATENCY_BOUNDS.length : at;
  };
  for (let power = 0; power < 31; power += 1) {
    for (const off of [-1, 0, 1]) {
      const time = 2 ** power + off;
      assert.equal(bucketOf(time), slow(time), String(time));
    }
  }
  for (const time of [2 ** 31 - 1, 2 ** 31, 2 ** 32 + 50, 2 ** 40]) {
    assert.equal(bucketOf(time), LATENCY_BOUNDS.length, String(time));
  }
});

test('an answer that was open for hours has taken hours', () => {
  const meter = new RequestMeter(['none', 'POST /stream'], 1);
  new Front({ meter }).ended({ operation: 1, note: null }, { status: 200 }, 3 * 3_600_000);
  const [latency] = meter.latencies();
  assert.equal(latency?.seconds, 3 * 3_600);
  assert.equal(latency.buckets.at(-1), 1);
});

test('requests, refusals and times are told as they were counted', () => {
  const meter = new RequestMeter(['none', 'GET /a', 'POST /b'], 3);
  meter.count(1, 200, 100, 2, 50);
  meter.count(1, 200, 100, 2, 100);
  meter.count(1, 401, 101, 0, 10);
  meter.count(2, 404, 0, 0, 1_000_000);
  meter.count(0, 499, 0, 0, 2 ** 30);
  const requests: unknown[] = [];
  meter.requests((...each) => requests.push(each));
  assert.deepEqual(requests, [
    ['none', 499, 1],
    ['GET /a', 200, 2],
    ['GET /a', 401, 1],
    ['POST /b', 404, 1],
  ]);
  const refusals: unknown[] = [];
  meter.refusals((...each) => refusals.push(each));
  assert.deepEqual(refusals, [
    [101, 1],
    [404, 1],
    [499, 1],
  ]);
  const lookups = meter.latencies().find(({ precision }) => precision === 2);
  assert.equal(lookups?.operation, 'GET /a');
  assert.equal(lookups.seconds, 0.00015);
  assert.deepEqual(lookups.buckets.slice(0, 3), [1, 1, 0]);
  assert.equal(
    meter
      .latencies()
      .find(({ operation }) => operation === 'none')
      ?.buckets.at(-1),
    1,
  );
});
