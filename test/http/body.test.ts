import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DRAIN_BYTES_MAX, NUDGE_MS, readBody } from '../../src/http/body.js';
import { Exchange } from '../../src/http/exchange.js';
import { FakeResponse } from '../support/http-fake-response.js';

function collect(bytesMax: number): { raw: FakeResponse; results: (string | null)[] } {
  const raw = new FakeResponse();
  const results: (string | null)[] = [];
  const exchange = new Exchange(raw, { open: 0, closing: false });
  readBody(exchange, bytesMax, (body) => {
    results.push(body === null ? null : Buffer.from(body).toString());
  });
  return { raw, results };
}

// First: one timer serves all bodies, and it is to be the clock's here.
test('a slow upload is kept alive until it is complete or aborted', (context) => {
  context.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const { raw, results } = collect(10);
  context.mock.timers.tick(NUDGE_MS * 2);
  assert.equal(raw.calls.filter((call) => call === 'resume').length, 2);
  raw.receive('a', true);
  context.mock.timers.tick(NUDGE_MS * 2);
  assert.equal(raw.calls.filter((call) => call === 'resume').length, 2);
  assert.deepEqual(results, ['a']);
  const aborted = collect(10);
  aborted.raw.abort();
  context.mock.timers.tick(NUDGE_MS);
  assert.ok(!aborted.raw.calls.includes('pause'));
});

test('a body in parts arrives whole', () => {
  const { raw, results } = collect(10);
  raw.receive('abc');
  raw.receive('');
  raw.receive('def', true);
  assert.deepEqual(results, ['abcdef']);
});

test('a body of exactly the limit is taken, one byte more is refused at its end', () => {
  const exact = collect(4);
  exact.raw.receive('abcd', true);
  assert.deepEqual(exact.results, ['abcd']);
  const over = collect(4);
  over.raw.receive('abcde');
  assert.deepEqual(over.results, [], 'refused only when the client has sent everything');
  over.raw.receive('f', true);
  assert.deepEqual(over.results, [null]);
});

test('a body without end is cut', () => {
  const { raw, results } = collect(4);
  const part = 'x'.repeat(1_048_576);
  for (let sent = 0; sent <= DRAIN_BYTES_MAX; sent += part.length) raw.receive(part);
  assert.equal(raw.calls.at(-1), 'close');
  assert.deepEqual(results, []);
});
