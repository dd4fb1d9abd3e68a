/** Connections that are closed after streams: what follows an upload in chunks is never served. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request, type ClientRequest, type IncomingMessage } from 'node:http';
import { test, type TestContext } from 'node:test';
import { eventually } from '../support/http-eventually.js';
import {
  message,
  startStreams,
  STREAM_KEY,
  type StreamService,
  TIMES,
} from '../support/stream-service.js';

/** So often that every upload of these tests is nudged many times. */
const TICK_MS = 2;
const ROUNDS = 4;

interface Opened {
  readonly sent: ClientRequest;
  readonly answer: Promise<IncomingMessage>;
}

/** Opens streams over a connection that the client would keep, each once that before is over. */
function connection(context: TestContext, { port }: StreamService) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  context.after(() => agent.destroy());
  const open = (type = 'application/x-ndjson'): Opened => {
    const sent = request({
      agent,
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: '/stream',
      headers: { 'X-API-KEY': STREAM_KEY, 'Content-Type': type },
    });
    sent.flushHeaders();
    const answer = once(sent, 'response').then(([found]) => found as IncomingMessage);
    return { sent, answer };
  };
  /** Resolves when the connection is gone. */
  const gone = (): Promise<unknown> =>
    eventually(
      () => Object.keys(agent.sockets).length + Object.keys(agent.freeSockets).length === 0,
    );
  return { open, gone };
}

async function lines(answer: IncomingMessage): Promise<readonly string[]> {
  let text = '';
  for await (const piece of answer) text += String(piece);
  return text.split('\n').slice(0, -1);
}

test('a connection whose upload was nudged many times is closed after it', async (context) => {
  const service = await startStreams(context, TIMES, TICK_MS);
  service.pool.prompt = true;
  const { open, gone } = connection(context, service);
  for (let round = 0; round < ROUNDS; round += 1) {
    const { sent, answer } = open();
    const found = await answer;
    assert.equal(sent.reusedSocket, false);
    assert.equal(found.headers.connection, 'close');
    const before = service.pool.answered;
    for (let seq = 1; seq <= 30; seq += 1) {
      sent.write(`${message(seq)}\n`);
      await eventually(() => service.pool.answered === before + seq);
    }
    sent.end();
    assert.equal((await lines(found)).length, 32);
    await gone();
  }
});

test('a connection whose upload had to wait is closed after it', async (context) => {
  const service = await startStreams(context, TIMES, TICK_MS);
  const { open, gone } = connection(context, service);
  const count = 2_000;
  for (let round = 0; round < ROUNDS; round += 1) {
    const { sent, answer } = open();
    const found = await answer;
    assert.equal(sent.reusedSocket, false);
    assert.equal(found.headers.connection, 'close');
    const before = service.pool.answered;
    sent.end(Array.from({ length: count }, (_, seq) => `${message(seq)}\n`).join(''));
    const all = lines(found);
    while (service.pool.answered < before + count) {
      await eventually(() => service.pool.requests.length > 0);
      service.pool.answer();
    }
    assert.equal((await all).length, count + 2);
    await gone();
  }
});

test('a connection on which a stream was refused is closed', async (context) => {
  const service = await startStreams(context, TIMES, TICK_MS);
  const { open, gone } = connection(context, service);
  for (let round = 0; round < ROUNDS; round += 1) {
    const { sent, answer } = open('text/plain');
    sent.end(message(1));
    const found = await answer;
    assert.equal(found.statusCode, 415);
    assert.equal(sent.reusedSocket, false);
    assert.equal(found.headers.connection, 'close');
    await lines(found);
    await gone();
  }
});
