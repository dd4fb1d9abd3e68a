/** A client that sends some of a request, or all of it, and goes away without a word. */
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { below, type Random } from './bulk-bodies.js';

/** A request as bytes. */
export interface Sendable {
  readonly head: string;
  readonly body: Buffer;
}

/** Where it goes away. */
export const CUTS = [
  'in head',
  'after head',
  'in body',
  'after body',
  'before answer',
  'in answer',
] as const;
export type Cut = (typeof CUTS)[number];

/** Turns of the event loop that a request is given, at most: each await of the server takes some. */
const TURNS_MAX = 24;

/** A request with a body, of a known length. */
export function sendable(
  method: string,
  path: string,
  fields: Readonly<Record<string, string>>,
  body: string | Buffer = '',
): Sendable {
  const bytes = Buffer.from(body);
  const length = method === 'GET' ? {} : { 'Content-Length': String(bytes.length) };
  const lines = Object.entries({ Host: 'x', ...fields, ...length }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return { head: `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, body: bytes };
}

/** Text messages of a WebSocket as a client sends them, masked with zeros. */
function textFrames(messages: readonly string[]): Buffer {
  return Buffer.concat(
    messages.flatMap((message) => {
      const text = Buffer.from(message);
      const short = text.length < 126;
      const head = Buffer.alloc(short ? 6 : 8);
      head[0] = 0x81;
      head[1] = 0x80 | (short ? text.length : 126);
      if (!short) head.writeUInt16BE(text.length, 2);
      return [head, text];
    }),
  );
}

/** The request of a WebSocket; its frames are sent at once, as a client that knows its server may. */
export function socketOf(
  path: string,
  fields: Readonly<Record<string, string>>,
  messages: readonly string[],
): Sendable {
  const { head } = sendable('GET', path, {
    ...fields,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': Buffer.alloc(16).toString('base64'),
  });
  return { head, body: textFrames(messages) };
}

/** What is sent before the cut. */
function partOf({ head, body }: Sendable, cut: Cut, random: Random): Buffer {
  const start = Buffer.from(head);
  if (cut === 'in head') return start.subarray(0, below(random, start.length));
  if (cut === 'after head') return start;
  return Buffer.concat([
    start,
    cut === 'in body' ? body.subarray(0, below(random, body.length)) : body,
  ]);
}

async function turns(socket: Socket, count: number): Promise<void> {
  for (let turn = 0; turn < count && !socket.destroyed; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Sends as much as the cut says and goes away; what came of the answer until then. */
export async function vanish(
  port: number,
  request: Sendable,
  cut: Cut,
  random: Random,
): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  let received = '';
  const answered = new Promise<void>((resolve) => {
    socket.on('data', (part) => {
      received += part.toString('latin1');
      if (cut === 'in answer') socket.pause();
      resolve();
    });
    socket.on('close', () => resolve());
  });
  socket.write(partOf(request, cut, random));
  if (cut === 'in answer') await answered;
  else if (cut !== 'after body') await turns(socket, below(random, TURNS_MAX));
  const gone = socket.destroyed ? Promise.resolve() : once(socket, 'close');
  // Half of them say goodbye at the level of TCP.
  if (random() < 0.5) socket.resetAndDestroy();
  else socket.destroy();
  await gone;
  return received;
}
