/** A receiver of events: a real server that keeps what it is sent. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface Got {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly got: Got[];
  /** How the next request is answered; by default 204. */
  answer: (response: ServerResponse, got: Got) => void;
}

/** Answers with a status and fields, and nothing else. */
export function answering(
  status: number, fields: Readonly<Record<string, string>> = {},
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
        path: request.url ?? '', method: request.method ?? '', headers: request.headers,
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
    url: `http://127.0.0.1:${port}/hooks?for=situs`, port, got, answer: answering(204),
  };
  return receiver;
}
