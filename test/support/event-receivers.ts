/** A receiver of events and a mail server: real servers that keep what they are sent. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { DeliverySettings } from '../../src/event/delivery.js';
import { parseMailServer } from '../../src/event/mail.js';

export interface Got {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly got: Got[];
  /** How the next request is answered; by default 204. */
  answer: (response: ServerResponse, got: Got) => void;
}

/** Answers with a status and fields, and nothing else. */
export function answering(
  status: number,
  fields: Readonly<Record<string, string>> = {},
): (response: ServerResponse) => void {
  return (response) => {
    response.writeHead(status, fields).end();
  };
}

/** Listens on a free port until the test ends. */
export async function startReceiver(context: TestContext): Promise<Receiver> {
  const got: Got[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one: Got = {
        path: request.url ?? '',
        method: request.method ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      };
      got.push(one);
      receiver.answer(response, one);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hooks?for=situs`,
    port,
    got,
    answer: answering(204),
  };
  return receiver;
}

interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  /** As received, with CRLF. */
  readonly text: string;
}

interface MailServerAt {
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
  context: TestContext,
  options: SMTPServerOptions = {},
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
  context.after(
    () =>
      new Promise<void>((resolve) => {
        for (const connection of server.connections) connection.close();
        server.close(() => resolve());
      }),
  );
  return { port, got, passwords };
}

/** Settings with a mail server alone. */
export function toMailServer(
  url: string,
  changes: { readonly ca?: string; readonly link?: string; silenceMs?: number } = {},
): DeliverySettings {
  const server = parseMailServer(url);
  if (server === null) throw new Error(`no mail server: ${url}`);
  const from = { name: 'Situs', address: 'tax@shop.example' };
  return { webhook: null, mail: { server, from, link: null, silenceMs: 5_000, ...changes } };
}
