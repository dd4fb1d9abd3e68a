/** The merchant that a body of carts names. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { merchantIdOf } from '../../src/api/merchant/cart-owner.js';

const ONE = '3f0e1c52-0000-4000-8000-1234567890ab';
const OTHER = '3f0e1c52-0000-4000-8000-1234567890ac';

function idOf(text: string): string | null {
  return merchantIdOf(Buffer.from(text));
}

test('each body has the id that it names, whatever the body before it named', () => {
  for (let turn = 0; turn < 3; turn += 1) {
    assert.equal(idOf(`{"merchantId":"${ONE}","items":[]}`), ONE);
    assert.equal(idOf(`{"items":[],"merchantId":"${ONE}"}`), ONE);
    assert.equal(idOf(`{"merchantId":"${OTHER}"}`), OTHER);
    assert.equal(idOf(`{"merchantId":"${OTHER}","merchantId":"${ONE}"}`), ONE, 'the last one');
    assert.equal(idOf(`{"merchantId":"${OTHER}","merchant\\u0049d":"${ONE}"}`), ONE, 'escaped');
    assert.equal(idOf(`{"merchantId":"${ONE.toUpperCase()}"}`), ONE, 'ids are told in lower case');
    assert.equal(idOf(`{"merchantId":"${ONE.slice(1)}"}`), null);
    assert.equal(idOf(`{"items":[{"merchantId":"${ONE}"}]}`), null, 'of no item');
    assert.equal(idOf('{"merchantId":null}'), null);
    assert.equal(idOf(''), null);
  }
});

test('what is remembered of a body does not change with its memory', () => {
  const body = Buffer.from(`{"merchantId":"${ONE}"}`);
  assert.equal(merchantIdOf(body), ONE);
  body.write(OTHER, body.indexOf(ONE));
  assert.equal(merchantIdOf(body), OTHER);
  assert.equal(idOf(`{"merchantId":"${ONE}"}`), ONE);
});
