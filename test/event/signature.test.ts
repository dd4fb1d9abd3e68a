/** Secrets, signatures and the envelope, against vectors made with other programs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { eventBody, eventTime } from '../../src/event/webhook.js';
import {
  hexSignature,
  KEY_BYTES_MAX,
  KEY_BYTES_MIN,
  parseSecrets,
  signatureFields,
  standardSignature,
} from '../../src/event/event-signature.js';
import { OLD_SECRET, SECRET, secretsOf } from '../support/event-outbox.js';

const RECORD = {
  type: 'merchant.credentials.set',
  createdAt: Date.UTC(2026, 2, 1, 9, 30, 0, 7),
};
const DATA = '{"merchantId":"6b3c1f5e-2a8d-4c9b-9f2e-1d7a4b6c8e10","connectionId":"conn-1"}';
const BODY =
  '{"event":"merchant.credentials.set","timestamp":"2026-03-01 09:30:00.007Z",' +
  '"data":{"merchantId":"6b3c1f5e-2a8d-4c9b-9f2e-1d7a4b6c8e10","connectionId":"conn-1"}}';

function refused(value: string): boolean {
  return parseSecrets(value).kind === 'refused';
}

function ofBytes(bytes: number): string {
  return `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`;
}

test('the envelope has a space in its time and the data as they were kept', () => {
  assert.equal(eventTime(0), '1970-01-01 00:00:00.000Z');
  assert.equal(Buffer.from(eventBody(RECORD, DATA)).toString('utf8'), BODY);
});

test('X-Signature is what openssl makes of the body and the whole secret', () => {
  // printf %s "$BODY" | openssl dgst -sha256 -hmac "$SECRET"
  const [secret] = secretsOf(SECRET);
  assert.equal(
    hexSignature(secret!, Buffer.from(BODY)),
    'd1bba7b961de2d7113d5245ca2f417b9e0b178c5183a772e33a2935ffee42190',
  );
});

test('webhook-signature is the published example of Standard Webhooks', () => {
  const [secret] = secretsOf('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
  assert.equal(
    standardSignature(secret!, {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: 1_614_265_330,
      body: Buffer.from('{"test": 2432232314}'),
    }),
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  );
});

test('two secrets sign one after the other, the old one makes X-Signature', () => {
  const [now, old] = [secretsOf(SECRET)[0]!, secretsOf(OLD_SECRET)[0]!];
  const signed = { id: 'evt_abc', timestamp: 1_700_000_000, body: Buffer.from(BODY) };
  const fields = signatureFields(secretsOf(`${SECRET},${OLD_SECRET}`), signed);
  assert.equal(
    fields['webhook-signature'],
    `${standardSignature(now, signed)} ${standardSignature(old, signed)}`,
  );
  assert.equal(fields['X-Signature'], hexSignature(old, signed.body));
  assert.equal(fields['webhook-id'], 'evt_abc');
  assert.equal(fields['webhook-timestamp'], '1700000000');
});

test('a plain secret is its own key', () => {
  const text = 'a plain secret of the shop'.replaceAll(' ', '-');
  const [secret] = secretsOf(text);
  const at = new Date(1_700_000_000_000);
  assert.equal(
    standardSignature(secret!, { id: 'evt_a', timestamp: 1_700_000_000, body: Buffer.from(BODY) }),
    new Webhook(text, { format: 'raw' }).sign('evt_a', at, BODY),
  );
});

test('secrets have 24 to 64 bytes, one or two of them', () => {
  for (const bytes of [KEY_BYTES_MIN, KEY_BYTES_MIN + 1, KEY_BYTES_MAX]) {
    assert.equal(refused(ofBytes(bytes)), false, `${bytes}`);
    assert.equal(refused('x'.repeat(bytes)), false, `${bytes}`);
  }
  for (const bytes of [KEY_BYTES_MIN - 1, KEY_BYTES_MAX + 1]) {
    assert.ok(refused(ofBytes(bytes)) && refused('x'.repeat(bytes)), `${bytes}`);
  }
  assert.equal(refused(ofBytes(25).replace(/=+$/, '')), false, 'padding may be left out');
  assert.equal(refused(`${SECRET}, ${OLD_SECRET}`), false);
  const bad = [
    '',
    ',',
    `${SECRET},`,
    `${SECRET},${SECRET},${SECRET}`,
    'whsec_',
    `${SECRET} ${OLD_SECRET}`,
    `whsec_${'!'.repeat(40)}`,
    `${SECRET.slice(0, -2)}\n`.padEnd(50, '\n'),
    'ü'.repeat(20),
  ];
  for (const value of bad) assert.ok(refused(value), JSON.stringify(value));
  const result = parseSecrets(`whsec_${'!'.repeat(40)}`);
  assert.ok(result.kind === 'refused' && !result.why.includes('!'), 'the value is not repeated');
});
