/** Requests as handlers see them: a body is there until the handler has returned. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Exchange } from '../../src/http/exchange.js';
import { BodyRequest } from '../../src/http/native-request.js';
import { FakeResponse } from '../support/http-fake-response.js';

test('nobody who asks late takes a body that was let go of for an empty one', () => {
  const raw = {
    getHeader: () => '',
    getQuery: () => '',
    getUrl: () => '/',
    getCaseSensitiveMethod: () => 'POST',
    getMethod: () => 'post',
    getParameter: () => '',
    forEach: () => undefined,
    setYield: () => undefined,
  };
  const exchange = new Exchange(new FakeResponse(), { open: 0, closing: false });
  const request = new BodyRequest(raw, exchange, 'POST', '/');
  assert.equal(request.body.length, 0, 'before it is there');
  request.took(Buffer.from('abc'));
  assert.equal(Buffer.from(request.body).toString(), 'abc');
  request.release();
  assert.throws(() => request.body, /taken before the handler returns/);
});
