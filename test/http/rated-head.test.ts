/** The head of JSON answers to keys, which is made from the one before. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stubKey } from '../support/http-stub-server.js';
import { rateFields } from '../../src/http/rate-limit.js';
import { Caller, type GateKey } from '../../src/http/gate.js';
import { headOf, JSON_TYPE } from '../../src/http/reply.js';

test('a JSON answer tells the rate of its own key, whosever was answered before', () => {
  for (const [rate, remaining] of [
    [10, 9],
    [10, 0],
    [1_000_000, 999_999],
    [10, 8],
  ] as const) {
    const caller = new Caller<GateKey>(stubKey('a', rate), remaining, '/x', '', '');
    const { head } = caller.json(200, {});
    assert.equal(head, headOf(JSON_TYPE, rateFields(rate, remaining)));
    const more = caller.json(200, {}, { Location: '/y' });
    assert.equal(more.head, headOf(JSON_TYPE, { ...rateFields(rate, remaining), Location: '/y' }));
  }
});
