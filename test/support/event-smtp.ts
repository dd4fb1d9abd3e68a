/** A mail server that keeps what it is sent. */
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import type { DeliverySettings } from '../../src/event/delivery-settings.js';
import { parseMailServer } from '../../src/event/mail.js';

export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  /** As received, with CRLF. */
  readonly text: string;
}

export interface MailServerAt {
  readonly port: number;
  readonly got: Mail[];
  /** Passwords that were sent. */
  readonly passwords: string[];
}

/** An error that the server answers with this code. */
export function smtpError(responseCode: number, text = 'no'): Error {
  return Object.assign(new Error(text), { responseCode });
}

/** Listens on a free port until the test ends; without TLS unless `options` say otherwise. */
export async function startMailServer(
  context: TestContext, options: SMTPServerOptions = {},
): Promise<MailServerAt> {
  const got: Mail[] = [];
  const passwords: string[] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: true,
    disableReverseLookup: true,
    onAuth: ({ password }, _session, done) => {
      passwords.push(String(password));
      done(null, { user: 'shop' });
    },
    onData: (stream, { envelope }, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        got.push({
          from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
          to: envelope.rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString('utf8'),
        });
        done();
      });
    },
    ...options,
  });
  // Connections that are refused on purpose.
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  context.after(() => new Promise<void>((resolve) => {
    for (const connection of server.connections) connection.close();
    server.close(() => resolve());
  }));
  return { port, got, passwords };
}

/** Settings with a mail server alone. */
export function toMailServer(
  url: string, changes: { readonly ca?: string; readonly link?: string; silenceMs?: number } = {},
): DeliverySettings {
  const server = parseMailServer(url);
  if (server === null) throw new Error(`no mail server: ${url}`);
  const from = { name: 'Situs', address: 'tax@shop.example' };
  return { webhook: null, mail: { server, from, link: null, silenceMs: 5_000, ...changes } };
}

