/** The text of invitations, and what may stand in their fields. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invitationText, nameLine } from '../../src/event/mail.js';
import { parseMailbox, isMailAddress } from '../../src/base/mail-address.js';
import type { MailRecord } from '../../src/store/outbox-record.js';

const RECORD: MailRecord = {
  v: 1,
  kind: 'mail',
  id: 'mail_a',
  account: 'shop',
  createdAt: 0,
  dueAt: 0,
  attempts: 0,
  status: null,
  error: null,
  merchantId: 'm-1',
  merchantName: 'Acme Outfitters',
  contactFirst: 'Jane',
  contactLast: 'Doe',
  email: 'jane@acme.example',
};

test('an invitation greets the contact and names merchant and link', () => {
  const { subject, text, html } = invitationText(RECORD, 'https://p.example/start?a=1&b=2');
  assert.equal(subject, 'Set up the tax compliance account of Acme Outfitters');
  assert.match(text, /^Hello Jane Doe,\n\nAcme Outfitters was registered/);
  assert.match(text, /\nhttps:\/\/p\.example\/start\?a=1&b=2\n/);
  assert.match(html, /<a href="https:\/\/p\.example\/start\?a=1&amp;b=2">/);
});

test('without names and link it still reads well', () => {
  const { text, html } = invitationText({ ...RECORD, contactFirst: null, contactLast: null }, null);
  assert.match(text, /^Hello,\n/);
  assert.ok(!/https?:|undefined|null/.test(text + html));
  assert.match(invitationText({ ...RECORD, contactFirst: null }, null).text, /^Hello Doe,/);
});

test('names end no line and open no tag', () => {
  const hostile = 'Acme\r\nBcc: all@shop.example\r\n\r\n<script>alert("1")</script>\u2028\u202e&\0';
  const { subject, text, html } = invitationText(
    {
      ...RECORD,
      merchantName: hostile,
      contactFirst: hostile,
      contactLast: '\r\n.\r\nQUIT',
    },
    null,
  );
  assert.ok(!/[\r\n\0\u2028\u202e]/.test(subject), JSON.stringify(subject));
  assert.ok(text.split('\n').every((line) => !/^(?:Bcc|\.|QUIT)/.test(line)));
  assert.ok(!html.includes('<script') && html.includes('&lt;script&gt;'));
  assert.equal(nameLine(' \t\r\n '), '');
  assert.equal([...nameLine('😀'.repeat(300))].length, 255);
});

test('an address is one plain address', () => {
  for (const address of ['jane@acme.example', 'j.d+x@a-b.example', 'jörg@bücher.example', 'a@b']) {
    assert.ok(isMailAddress(address), address);
  }
  for (const address of [
    '',
    'jane',
    '@acme.example',
    'jane@',
    'jane@acme..example',
    'jane@.example',
    'a b@acme.example',
    'jane@acme.example\r\nBcc: all@shop.example',
    'jane@acme.example,all@shop.example',
    'jane@acme.example;',
    'Jane <jane@acme.example>',
    '<jane@acme.example>',
    '"a b"@acme.example',
    'jane@acme.example\0',
    'jane\ud800@acme.example',
    'jane@acme.example\u202e',
    'jane@[127.0.0.1]',
    'a:b@acme.example',
    `${'x'.repeat(65)}@acme.example`,
    `jane@${'x'.repeat(256)}`,
    'jane(x)@acme.example',
  ])
    assert.ok(!isMailAddress(address), JSON.stringify(address));
});

test('a sender is an address, or a name and an address', () => {
  assert.deepEqual(parseMailbox('tax@shop.example'), { name: '', address: 'tax@shop.example' });
  assert.deepEqual(parseMailbox("Jane's Shop <tax@shop.example>"), {
    name: "Jane's Shop",
    address: 'tax@shop.example',
  });
  for (const text of [
    '',
    'Shop',
    'Shop <>',
    'Shop <tax@shop.example',
    'Shop <a@b.example> <c@d.example>',
    'Sh\r\nop <tax@shop.example>',
    `${'x'.repeat(101)} <tax@shop.example>`,
  ])
    assert.equal(parseMailbox(text), null, JSON.stringify(text));
});
