/** The same items asked in every way that a service has; answers without their numbers. */
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { StreamClient, wasRefused, type StreamAsk } from '../../bench/load/stream-client.js';
import { header } from './stream-protocol.js';

export interface Target {
  readonly port: number;
  readonly key: string;
}

export interface SingleAnswer {
  readonly status: number;
  readonly text: string;
}

/** One request of its own. */
export interface SingleAsk {
  readonly path: string;
  /** Sent with POST; GET without. */
  readonly body?: string;
  /** JSON unless given. */
  readonly type?: string;
}

const CONNECTIONS = 16;
const UNANSWERED_MAX = 128;
const NUMBERS = /^\{"(?:seq|line)":\d+,"id":(?:\d+|"[^"]*"|null),/;

/** An answer without the number and id before its members. */
export function unnumbered(line: string): string {
  assert.match(line, NUMBERS);
  return `{${line.replace(NUMBERS, '')}`;
}

/** A cart's id is made up where the client may not give one. */
export function withoutCartIds(text: string): string {
  return text.replaceAll(/"cartId":"[^"]{36}"/g, '"cartId":""');
}

function send({ port, key }: Target, agent: Agent, { path, body, type }: SingleAsk): Promise<SingleAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request({
      port, path, agent, host: '127.0.0.1', method: body === undefined ? 'GET' : 'POST',
      headers: { 'X-API-KEY': key, 'Content-Type': type ?? 'application/json' },
    }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => resolve({
        status: response.statusCode ?? 0, text: Buffer.concat(parts).toString('utf8'),
      }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Answers of requests of their own, over a few connections. */
export async function askSingly(
  target: Target, asks: readonly SingleAsk[],
): Promise<readonly SingleAnswer[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  try {
    return await Promise.all(asks.map((each) => send(target, agent, each)));
  } finally {
    agent.destroy();
  }
}

/** The answer to a file, whole. */
export async function askFile(target: Target, path: string, type: string, body: string): Promise<string> {
  const [answer] = await askSingly(target, [{ path, body, type }]);
  assert.equal(answer?.status, 200, answer?.text);
  return answer.text;
}

/** The rows of an answer to a file of lines, without header and trailer. */
export async function askLines(
  target: Target, path: string, rows: readonly object[],
): Promise<readonly string[]> {
  const body = rows.map((row, id) => `${JSON.stringify({ id, ...row })}\n`).join('');
  const lines = (await askFile(target, path, 'application/x-ndjson', body)).split('\n');
  assert.match(lines.at(-2) ?? '', /^\{"trailer":\{"job":"[^"]+","complete":true/);
  return lines.slice(1, -2).map(unnumbered);
}

/** The answers to messages of a stream, in order. */
export async function askStream(
  { port, key }: Target, transport: StreamAsk['transport'], messages: readonly object[],
): Promise<readonly string[]> {
  const client = await StreamClient.open({ port, key, transport });
  assert.ok(!wasRefused(client));
  await header(client);
  const answers: string[] = [];
  for (let sent = 0; answers.length < messages.length;) {
    for (; sent < messages.length && sent - answers.length < UNANSWERED_MAX; sent += 1) {
      client.send(JSON.stringify({ id: sent, ...messages[sent] }));
    }
    const line = await client.next();
    assert.ok(line !== null, `the stream ended after ${answers.length} answers`);
    answers.push(unnumbered(line));
  }
  client.finish();
  assert.equal((await client.rest()).length, 1);
  return answers;
}
