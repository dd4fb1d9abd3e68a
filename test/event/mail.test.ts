/** Invitations over real SMTP conversations. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseMailServer } from '../../src/event/mail.js';
import { outboxCounts } from '../../src/store/outbox-count.js';
import { listOutbox } from '../../src/store/outbox.js';
import type { MailRecord } from '../../src/store/outbox-record.js';
import { openOutbox, type Outbox } from '../support/event-outbox.js';
import { smtpError, startMailServer, toMailServer } from '../support/event-receivers.js';
import { skipForWantOf } from '../support/wanting.js';

const NONE = { waiting: 0, dead: 0 };

function waiting({ store }: Outbox): readonly MailRecord[] {
  return listOutbox(store, 'waiting', 'mail');
}

function mails({ store }: Outbox): { readonly waiting: number; readonly dead: number } {
  return outboxCounts(store).mails;
}

/** The header of a mail, folded lines joined. */
function header(text: string): string {
  return text.slice(0, text.indexOf('\r\n\r\n')).replaceAll(/\r\n[ \t]+/g, ' ');
}

/** The parts of a mail with their transfer encoding taken away. */
function readable(text: string): string {
  return text
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
}

test('an invitation arrives as plain text and HTML', async (context) => {
  const server = await startMailServer(context);
  const url = `smtp://127.0.0.1:${server.port}`;
  const link = 'https://provider.example/start';
  const outbox = await openOutbox(context, toMailServer(url, { link }));
  await outbox.addInvitation();
  const [{ id }] = waiting(outbox) as readonly [MailRecord];
  await outbox.pass(0);
  const [mail] = server.got;
  assert.ok(mail && server.got.length === 1);
  assert.equal(mail.from, 'tax@shop.example');
  assert.deepEqual(mail.to, ['jane@acme.example']);
  const fields = header(mail.text);
  assert.match(fields, /^From: Situs <tax@shop\.example>$/m);
  assert.match(fields, /^To: jane@acme\.example$/m);
  assert.match(fields, /^Subject: Set up the tax compliance account of Acme Outfitters$/m);
  assert.match(fields, new RegExp(`^Message-ID: <${id}@shop\\.example>$`, 'm'));
  assert.match(fields, /^Auto-Submitted: auto-generated$/m);
  assert.match(fields, /^Content-Type: multipart\/alternative;/m);
  assert.match(mail.text, /Content-Type: text\/plain/);
  assert.match(readable(mail.text), /Hello Jane Doe,/);
  assert.match(readable(mail.text), /<a href="https:\/\/provider\.example\/start">/);
  assert.deepEqual(mails(outbox), NONE);
});

test('without a mail server mails wait, and go out when there is one', async (context) => {
  const before = await openOutbox(context, { webhook: null, mail: null });
  await before.addInvitation();
  await before.pass(3_600_000);
  before.delivery.start();
  assert.deepEqual(mails(before), { waiting: 1, dead: 0 });
  assert.match(before.lines.join(''), /mails wait for SITUS_SMTP_URL","waiting":1/);
  await before.delivery.close(0);
  const server = await startMailServer(context);
  const to = toMailServer(`smtp://127.0.0.1:${server.port}`);
  const after = await openOutbox(context, to, before.varDir);
  await after.pass(0);
  assert.equal(server.got.length, 1);
  assert.deepEqual(mails(after), NONE);
});

test('4xx is tried again at its time', async (context) => {
  const answers = [smtpError(451), smtpError(450), null];
  const server = await startMailServer(context, {
    onRcptTo: (_address, _session, done) => done(answers.shift()),
  });
  const outbox = await openOutbox(context, toMailServer(`smtp://127.0.0.1:${server.port}`));
  await outbox.addInvitation();
  await outbox.pass(0);
  assert.equal(waiting(outbox)[0]?.status, 451);
  assert.equal(waiting(outbox)[0]?.error, 'answered 451 to RCPT TO');
  await outbox.pass(4_999);
  assert.equal(waiting(outbox)[0]?.attempts, 1);
  await outbox.pass(1);
  assert.equal(waiting(outbox)[0]?.status, 450);
  await outbox.pass(300_000);
  assert.equal(server.got.length, 1);
  assert.deepEqual(mails(outbox), NONE);
});

test('5xx about the mail is final, wherever it is said', async (context) => {
  const refusal = 'jane@acme.example is not known here';
  const refuse = (_: object, __: object, done: (error: Error) => void): void =>
    done(smtpError(550, refusal));
  const cases = [
    { options: { onRcptTo: refuse }, error: 'answered 550 to RCPT TO' },
    { options: { onMailFrom: refuse }, error: 'answered 550 to MAIL FROM' },
    {
      options: {
        onData: (stream: NodeJS.ReadableStream, _: object, done: (error: Error) => void) => {
          stream.on('end', () => done(smtpError(550, refusal))).resume();
        },
      },
      error: 'answered 550 to DATA',
    },
  ];
  for (const { options, error } of cases) {
    const server = await startMailServer(context, options);
    const outbox = await openOutbox(context, toMailServer(`smtp://127.0.0.1:${server.port}`));
    await outbox.addInvitation();
    await outbox.pass(0);
    assert.deepEqual(mails(outbox), { waiting: 0, dead: 1 });
    assert.equal(listOutbox(outbox.store, 'dead', 'mail')[0]?.error, error);
    assert.ok(!outbox.lines.join('').includes('jane@'), 'the address is not logged');
    assert.ok(!JSON.stringify(listOutbox(outbox.store, 'dead', 'mail')[0]?.error).includes('jane'));
  }
});

test('a certificate that is not trusted is refused, and no mail is sent', async (context) => {
  for (const scheme of ['smtps', 'smtp']) {
    const server = await startMailServer(context, {
      disabledCommands: [],
      secure: scheme === 'smtps',
    });
    const url = `${scheme}://shop:secret-word@127.0.0.1:${server.port}`;
    const outbox = await openOutbox(context, toMailServer(url));
    await outbox.addInvitation();
    await outbox.pass(0);
    assert.equal(waiting(outbox)[0]?.status, null);
    assert.match(waiting(outbox)[0]?.error ?? '', /^(?:ESOCKET|ETLS)$/);
    assert.deepEqual([server.got.length, server.passwords.length], [0, 0]);
    assert.ok(!outbox.lines.join('').includes('secret-word'));
  }
});

test('a password is not sent where the server has no TLS', async (context) => {
  const server = await startMailServer(context, { allowInsecureAuth: true });
  const url = `smtp://shop:secret-word@127.0.0.1:${server.port}`;
  const outbox = await openOutbox(context, toMailServer(url));
  await outbox.addInvitation();
  await outbox.pass(0);
  assert.deepEqual([server.got.length, server.passwords.length], [0, 0]);
  assert.deepEqual(mails(outbox), { waiting: 1, dead: 0 });
});

/** Makes a key and a certificate for this machine in a folder; false where nothing can. */
function makesCertificate(dir: string): boolean {
  const words =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost ' +
    '-addext subjectAltName=DNS:localhost,IP:127.0.0.1';
  const files = ['-keyout', join(dir, 'key.pem'), '-out', join(dir, 'cert.pem')];
  const made = spawnSync('openssl', [...words.split(' '), ...files]);
  return made.status === 0;
}

test('with a trusted certificate mail goes over TLS, with a login', async (context) => {
  const dir = mkdtempSync(join(tmpdir(), 'situs-'));
  context.after(() => rmSync(dir, { recursive: true }));
  if (!makesCertificate(dir)) {
    skipForWantOf(context, 'openssl is not there to make a certificate');
    return;
  }
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(dir, name), 'utf8'));
  for (const scheme of ['smtp', 'smtps']) {
    let secure = false;
    const server = await startMailServer(context, {
      key: key!,
      cert: cert!,
      disabledCommands: [],
      secure: scheme === 'smtps',
      onMailFrom: (_address, session, done) => {
        ({ secure } = session);
        done();
      },
    });
    const url = `${scheme}://shop:p%40ss@127.0.0.1:${server.port}`;
    const outbox = await openOutbox(context, toMailServer(url, { ca: cert! }));
    await outbox.addInvitation();
    await outbox.pass(0);
    assert.equal(server.got.length, 1, scheme);
    assert.ok(secure, scheme);
    assert.deepEqual(server.passwords, ['p@ss']);
  }
  const strict = await startMailServer(context, {
    key: key!,
    cert: cert!,
    disabledCommands: [],
    onAuth: (_auth, _session, done) => done(smtpError(535)),
  });
  const outbox = await openOutbox(
    context,
    toMailServer(`smtp://shop:wrong@127.0.0.1:${strict.port}`, { ca: cert! }),
  );
  await outbox.addInvitation();
  await outbox.pass(0);
  assert.equal(waiting(outbox)[0]?.error, 'answered 535', "a wrong login is not the mail's fault");
});

test('names and addresses bring no field and no receiver with them', async (context) => {
  const server = await startMailServer(context);
  const outbox = await openOutbox(context, toMailServer(`smtp://127.0.0.1:${server.port}`));
  await outbox.addInvitation({
    merchantName: 'Acme\r\nBcc: all@shop.example\r\n\r\nBuy now',
    contactFirst: 'J\nX-Extra: 1',
    contactLast: '\r\n.\r\nMAIL FROM:<evil@shop.example>',
  });
  await outbox.pass(0);
  const [mail] = server.got;
  assert.ok(mail && server.got.length === 1);
  assert.deepEqual(mail.to, ['jane@acme.example']);
  assert.ok(!/^(?:Bcc|X-Extra):/im.test(mail.text), mail.text);
  assert.equal(mail.text.match(/^Subject:/gm)?.length, 1);
  for (const email of [
    'jane@acme.example\r\nBcc: all@shop.example',
    'jane@acme.example, all@shop.example',
    'jane',
    'jane@acme.example>\r\nRCPT TO:<all@shop.example',
  ]) {
    await outbox.addInvitation({ merchantId: `m-of-${email.length}`, email });
  }
  await outbox.pass(0);
  assert.equal(server.got.length, 1);
  assert.deepEqual(mails(outbox), { waiting: 0, dead: 4 });
  assert.equal(listOutbox(outbox.store, 'dead', 'mail')[0]?.error, 'the address is not one');
});

test('a mail server that is silent or hangs up is tried again', async (context) => {
  for (const [greet, error] of [
    [true, /^ECONNECTION|^ESOCKET/],
    [false, /^ETIMEDOUT$/],
  ] as const) {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      if (greet) socket.end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    context.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const to = toMailServer(`smtp://127.0.0.1:${port}`, { silenceMs: 100 });
    const outbox = await openOutbox(context, to);
    await outbox.addInvitation();
    await outbox.pass(0);
    assert.match(waiting(outbox)[0]?.error ?? '', error);
  }
});

test('a stop in the middle of a conversation leaves the mail as it was', async (context) => {
  let asked: () => void = () => undefined;
  const under = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const server = await startMailServer(context, { onRcptTo: () => asked() });
  const outbox = await openOutbox(context, toMailServer(`smtp://127.0.0.1:${server.port}`));
  await outbox.addInvitation();
  outbox.delivery.look();
  await under;
  await outbox.delivery.close(0);
  assert.equal(waiting(outbox)[0]?.attempts, 0);
  assert.equal(waiting(outbox)[0]?.error, null);
});

test('a mail server is a host with a port and a login', () => {
  assert.deepEqual(parseMailServer('smtp://mail.shop.example'), {
    host: 'mail.shop.example',
    port: 587,
    secure: false,
    auth: null,
  });
  assert.deepEqual(parseMailServer('smtps://a:b%3Ac@[::1]:2465/'), {
    host: '::1',
    port: 2_465,
    secure: true,
    auth: { user: 'a', pass: 'b:c' },
  });
  assert.equal(parseMailServer('smtps://mail.shop.example')?.port, 465);
  for (const text of [
    '',
    'mail.shop.example',
    'http://mail.shop.example',
    'smtp://',
    'smtp://host/path',
    'smtp://host?tls.rejectUnauthorized=false',
    'smtp://host#a',
    'smtp://%zz@host',
  ]) {
    assert.equal(parseMailServer(text), null, text);
  }
});
