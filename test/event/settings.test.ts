/** What the settings of events and mails may be, and what is said of those that are not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig, type Environment } from '../../src/config.js';
import { readDeliverySettings, URL_CHARS_MAX } from '../../src/event/delivery.js';
import { SECRET } from '../support/event-outbox.js';

const HOOK = 'https://shop.example/hooks';
const SMTP = 'smtp://mail.shop.example';
const FROM = 'tax@shop.example';

function read(environment: Environment) {
  return readDeliverySettings(loadConfig(environment));
}

test('nothing set is no events and no mails', () => {
  assert.deepEqual(read({}), { webhook: null, mail: null });
  assert.deepEqual(read({ SITUS_WEBHOOK_SECRET: SECRET, SITUS_MAIL_FROM: FROM }), {
    webhook: null,
    mail: null,
  });
});

test('settings that go together', () => {
  const { webhook, mail } = read({
    SITUS_WEBHOOK_URL: `${HOOK}?token=a`,
    SITUS_WEBHOOK_SECRET: SECRET,
    SITUS_SMTP_URL: SMTP,
    SITUS_MAIL_FROM: `Shop <${FROM}>`,
    SITUS_INVITE_URL: 'https://provider.example/?from=shop',
  });
  assert.equal(webhook?.url, `${HOOK}?token=a`);
  assert.equal(webhook?.secrets.length, 1);
  assert.equal(webhook?.guard.allowPrivate, false);
  assert.deepEqual(mail?.from, { name: 'Shop', address: FROM });
  assert.equal(mail?.link, 'https://provider.example/?from=shop');
});

test('each bad value is named and not repeated', () => {
  const url = (value: string): Environment => ({
    SITUS_WEBHOOK_URL: value,
    SITUS_WEBHOOK_SECRET: SECRET,
  });
  const cases: readonly (readonly [Environment, RegExp])[] = [
    [{ SITUS_WEBHOOK_URL: HOOK }, /^SITUS_WEBHOOK_URL needs SITUS_WEBHOOK_SECRET$/],
    [{ SITUS_WEBHOOK_SECRET: 'hidden' }, /^SITUS_WEBHOOK_SECRET must be whsec_/],
    [{ SITUS_WEBHOOK_SECRET: `${SECRET},${SECRET},${SECRET}` }, /more than 2 secrets$/],
    [url('http://hidden.example/'), /^SITUS_WEBHOOK_URL must begin with https:\/\/$/],
    [url('https://user:hidden@shop.example/'), /^SITUS_WEBHOOK_URL may not hold a user name/],
    [url('https://127.0.0.1/hidden'), /^SITUS_WEBHOOK_URL names an address that is not public/],
    [url('https://10.1.2.3?hidden'), /^SITUS_WEBHOOK_URL names an address that is not public/],
    [url('https://shop.example:25/hidden'), /^SITUS_WEBHOOK_URL must use port/],
    [url(`${HOOK}#hidden`), /^SITUS_WEBHOOK_URL is not a URL$/],
    [url(`${HOOK}?a b`), /^SITUS_WEBHOOK_URL is not a URL$/],
    [url('hidden'), /^SITUS_WEBHOOK_URL is not a URL$/],
    [url(`${HOOK}?${'x'.repeat(URL_CHARS_MAX)}`), /^SITUS_WEBHOOK_URL is too long$/],
    [{ SITUS_SMTP_URL: SMTP }, /^SITUS_SMTP_URL needs SITUS_MAIL_FROM$/],
    [{ SITUS_SMTP_URL: 'ftp://hidden', SITUS_MAIL_FROM: FROM }, /^SITUS_SMTP_URL must be smtp:/],
    [{ SITUS_MAIL_FROM: 'hidden' }, /^SITUS_MAIL_FROM must be an address/],
    [{ SITUS_INVITE_URL: 'ftp://hidden' }, /^SITUS_INVITE_URL must be an http or https URL$/],
    [{ SITUS_INVITE_URL: 'https://a b' }, /^SITUS_INVITE_URL/],
  ];
  for (const [environment, message] of cases) {
    assert.throws(
      () => read(environment),
      (error: Error) => {
        assert.match(error.message, message);
        return !error.message.includes('hidden');
      },
    );
  }
});

test('a private network is allowed by its setting alone', () => {
  const environment = {
    SITUS_WEBHOOK_URL: 'http://127.0.0.1:9/hooks',
    SITUS_WEBHOOK_SECRET: SECRET,
  };
  assert.throws(() => read(environment));
  assert.equal(
    read({ ...environment, SITUS_ALLOW_PRIVATE_NETWORK: '1' }).webhook?.guard.allowPrivate,
    true,
  );
  assert.throws(() => loadConfig({ SITUS_ALLOW_PRIVATE_NETWORK: 'yes' }));
});
