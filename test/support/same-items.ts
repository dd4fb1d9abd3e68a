/** Random lookups and carts of the invented country, and the same of them asked in every way. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { seeded } from '../../bench/case/case.js';
import { type StreamAsk, StreamClient, wasRefused } from '../../bench/load/stream-client.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { oneOf, type Random } from './bulk-bodies.js';
import { type Sent, sentCart, sentLine } from './sent-carts.js';
import { header } from './stream-service.js';

/** Parameters of version 60. */
export type Lookup = Readonly<Record<string, string>>;

interface Door {
  readonly line1: string;
  readonly city: string;
  readonly state: string;
  readonly zip: string;
}

const POINTS = join(packageRoot(), 'datasets', 'fixture', 'points.csv');
const ZIPS = ['91010', '91011', '91012', '91020', '92010', '92020', '92030', '93010', '94010'];
const BAD_ZIPS = ['99999', 'x', '9101', '91010-', ''];
const DAYS = ['2026-02', '202601', '2024-13', '1999-01'];
const TICS = ['20010', '00000', '41000', '10', 'x'];

function doors(): readonly Door[] {
  return readFileSync(POINTS, 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => {
      const [, , number = '', street = '', , city = '', , state = '', zip = ''] = line.split(',');
      return { line1: `${number} ${street}`, city, state, zip };
    });
}

const DOORS = doors();

function oneLine({ line1, city, state, zip }: Door): string {
  return `${line1}, ${city}, ${state} ${zip}`;
}

/** As people write: another case, a letter less, no door, no ZIP. */
function written(random: Random, door: Door): string {
  const chance = random();
  if (chance < 0.6) return oneLine(door);
  if (chance < 0.7) return oneLine(door).toLowerCase();
  if (chance < 0.8) return oneLine({ ...door, line1: door.line1.replace(/(\w)\w?$/, '$1') });
  if (chance < 0.9) return oneLine({ ...door, line1: `99999 ${door.line1}` });
  return oneLine({ ...door, zip: '', city: 'Nowhere' });
}

function randomLookup(random: Random): Lookup {
  const kind = random();
  const more: Lookup = {
    ...(random() < 0.1 ? { historical: oneOf(random, DAYS) } : {}),
    ...(random() < 0.1 ? { taxabilityCode: oneOf(random, TICS) } : {}),
    ...(random() < 0.05 ? { addressDetailExtended: 'true' } : {}),
    ...(random() < 0.05 ? { adjustment: oneOf(random, ['auto', 'x']) } : {}),
  };
  if (kind < 0.6) return { address: written(random, oneOf(random, DOORS)), ...more };
  if (kind < 0.75) return { postalcode: oneOf(random, random() < 0.8 ? ZIPS : BAD_ZIPS), ...more };
  if (kind < 0.95) {
    return { lat: (10 + random()).toFixed(5), lng: (-30 + 1.2 * random()).toFixed(5), ...more };
  }
  return more;
}

/** Lookups that may be asked alone, as rows and as messages. */
export function randomLookups(count: number, seed: number): readonly Lookup[] {
  const random = seeded(seed);
  return Array.from({ length: count }, () => randomLookup(random));
}

function randomLine(random: Random, index: number): Sent {
  return sentLine({
    index,
    itemId: `sku-${index}`,
    price: Math.floor(random() * 1e6) / 10 ** Math.floor(2 + 3 * random()),
    quantity: oneOf(random, [1, 2, 1.5, 0.3333, 12]),
    ...(random() < 0.3 ? { tic: oneOf(random, [0, 20_010, 41_000, 10_001, 99_999]) } : {}),
  });
}

/** A merchant's cart with an id of its own. */
export function merchantCart(
  random: Random,
  cartId: string,
  lines = 1 + Math.floor(4 * random()),
): Sent {
  const place = (): object => ({
    ...oneOf(random, DOORS),
    ...(random() < 0.05 ? { zip: '99999', city: 'Nowhere' } : {}),
  });
  return sentCart({
    cartId,
    origin: place(),
    destination: place(),
    lineItems: Array.from({ length: lines }, (_, index) => randomLine(random, index)),
  });
}

/** A cart of no merchant; the service makes up its id. */
export function plainCart(random: Random): Sent {
  const { lineItems, customerId } = merchantCart(random, '');
  const place = (): object => ({ address: written(random, oneOf(random, DOORS)) });
  return {
    customerId,
    currency: { currencyCode: 'USD' },
    origin: place(),
    destination: place(),
    lineItems: (lineItems as readonly Sent[]).map(({ tic, index: _index, ...line }) => ({
      ...line,
      ...(tic === undefined ? {} : { taxabilityCode: tic }),
    })),
  };
}

export interface Target {
  readonly port: number;
  readonly key: string;
}

export interface SingleAnswer {
  readonly status: number;
  readonly text: string;
}

/** One request of its own. */
interface SingleAsk {
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
function unnumbered(line: string): string {
  assert.match(line, NUMBERS);
  return `{${line.replace(NUMBERS, '')}`;
}

/** A cart's id is made up where the client may not give one. */
export function withoutCartIds(text: string): string {
  return text.replaceAll(/"cartId":"[^"]{36}"/g, '"cartId":""');
}

function send(
  { port, key }: Target,
  agent: Agent,
  { path, body, type }: SingleAsk,
): Promise<SingleAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        port,
        path,
        agent,
        host: '127.0.0.1',
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'X-API-KEY': key, 'Content-Type': type ?? 'application/json' },
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            text: Buffer.concat(parts).toString('utf8'),
          }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Answers of requests of their own, over a few connections. */
export async function askSingly(
  target: Target,
  asks: readonly SingleAsk[],
): Promise<readonly SingleAnswer[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  try {
    return await Promise.all(asks.map((each) => send(target, agent, each)));
  } finally {
    agent.destroy();
  }
}

/** The answer to a file, whole. */
export async function askFile(
  target: Target,
  path: string,
  type: string,
  body: string,
): Promise<string> {
  const [answer] = await askSingly(target, [{ path, body, type }]);
  assert.equal(answer?.status, 200, answer?.text);
  return answer.text;
}

/** The rows of an answer to a file of lines, without header and trailer. */
export async function askLines(
  target: Target,
  path: string,
  rows: readonly object[],
): Promise<readonly string[]> {
  const body = rows.map((row, id) => `${JSON.stringify({ id, ...row })}\n`).join('');
  const lines = (await askFile(target, path, 'application/x-ndjson', body)).split('\n');
  assert.match(lines.at(-2) ?? '', /^\{"trailer":\{"job":"[^"]+","complete":true/);
  return lines.slice(1, -2).map(unnumbered);
}

/** The answers to messages of a stream, in order. */
export async function askStream(
  { port, key }: Target,
  transport: StreamAsk['transport'],
  messages: readonly object[],
): Promise<readonly string[]> {
  const client = await StreamClient.open({ port, key, transport });
  assert.ok(!wasRefused(client));
  await header(client);
  const answers: string[] = [];
  for (let sent = 0; answers.length < messages.length; ) {
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
