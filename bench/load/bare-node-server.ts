/**
 * The limit to compare with on Node.js: its HTTP server, with the same fields and body each time.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BareAnswer } from './bare-server.js';
import { serveAsChild, startChild, type BareServer } from './child-server.js';

/** Starts the server in a process of its own. */
export function startBareNodeServer(answer: BareAnswer): Promise<BareServer> {
  return startChild(import.meta.url, answer);
}

function serve({ head, body }: BareAnswer): Promise<number> {
  const [type = '', ...lines] = head.split('\r\n');
  const fields = [
    'Content-Type',
    type,
    ...lines.flatMap((line) => line.split(': ')),
    'Content-Length',
    String(body.length),
  ];
  const server = createServer((_, response) => {
    response.writeHead(200, fields);
    response.end(body);
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

serveAsChild(import.meta.url, serve);
