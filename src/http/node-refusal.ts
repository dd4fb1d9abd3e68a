/** What the HTTP server of Node.js answers before any handler sees a request. */
import type { IncomingMessage } from 'node:http';
import { framingOfGet, GatheredRequest } from './gathered-request.js';
import {
  FIELDS_MAX,
  longHead,
  otherVersion,
  unclearBody,
  unclearHost,
  unreadableHead,
} from './head-refusal.js';
import type { NodeRequest } from './node-request.js';
import type { Reply } from './reply.js';
import { statusLine } from './status.js';

/** The parser of Node.js also lets 0.9 and 2.0 pass, which other servers read differently. */
const VERSIONS: ReadonlySet<string> = new Set(['1.0', '1.1']);

/** The answer to a head that no handler may see; null for any other. */
export function refusalOf(message: IncomingMessage, request: NodeRequest): Reply | null {
  if (!VERSIONS.has(message.httpVersion)) return otherVersion();
  if (message.rawHeaders.length > 2 * FIELDS_MAX) return longHead(request.getUrl());
  const framing =
    message.method === 'GET' ? framingOfGet(request) : new GatheredRequest(request).framing;
  if (framing === 'refused') return unclearBody(request.getUrl());
  const hosts = request.count('host');
  return hosts === 1 || (hosts === 0 && message.httpVersion === '1.0')
    ? null
    : unclearHost(request.getUrl());
}

/** What the parser of Node.js reports about a request that it cannot read. */
export interface Unreadable extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
  /** How many bytes of the packet precede the unreadable part. */
  readonly bytesParsed?: number;
}

/** What is written to a connection whose request could not be read. */
export function plainAnswer({ code = '', rawPacket, bytesParsed }: Unreadable): string {
  const { status, head, body } = unreadableHead(code);
  const read = rawPacket?.toString('latin1', 0, bytesParsed).split('\r\n\r\n').at(-1) ?? '';
  return (
    `HTTP/1.1 ${statusLine(status)}\r\nContent-Type: ${String(head)}\r\nConnection: close\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n` +
    (read.startsWith('HEAD ') ? '' : String(body))
  );
}
