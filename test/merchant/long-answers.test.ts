/** Long answers of the compliance provider: looked at in a worker, or here without one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joined } from '../../src/base/growing-bytes.js';
import { type BodyWorkers, summarized } from '../../src/api/merchant/relay-answer.js';
import { answerBody } from '../../src/api/merchant/checked-body.js';
import { PARSED_BYTES_MAX } from '../../src/http/json-body.js';
import { readAnswers } from '../../src/pool/frame.js';
import { AnswerWriter } from '../../src/pool/lane-server.js';
import type { AnswerSlice } from '../../src/pool/types.js';
import { judge, type ProviderAnswer, type ProviderOutcome } from '../../src/provider/provider.js';
import { newMerchantDir, removeDirs, startMerchants } from '../support/merchant-service.js';
import { BODIES, CONNECTION_ID, postRaw } from '../support/relay-service.js';
import { startRawProvider } from '../support/simulated-provider.js';

/** Longer than what is looked at on the main thread. */
const LONG = 'x'.repeat(PARSED_BYTES_MAX);
/** Longer than the memory that a worker of large bodies shares. */
const LONGER = 'x'.repeat(2_000_000);
const TEXTS: readonly (readonly [text: string, isJson: boolean])[] = [
  [`[ {"a":"${LONG}"} ]`, true],
  [`[{"a":"${LONG}"},{}]`, true],
  [`{"a":"é${LONG}"}`, true],
  [`{"a":"${LONGER}"}`, true],
  [`[{"a":"${LONGER}"}]`, true],
  [`{"a":"${LONG}"`, false],
  [`{"a":"${LONGER}"]`, false],
  [`{"a":"${LONG}\xff"}`, false],
  [`{"a":"${LONGER}\xff"}`, false],
];

function bytesOf(text: string): Buffer {
  return Buffer.from(text, text.includes('\xff') ? 'latin1' : 'utf8');
}

async function answerOf(text: string, status = 200): Promise<ProviderAnswer> {
  const { bytes: body, isUtf8 } = await joined([bytesOf(text)]);
  const contentType = 'application/json';
  return { kind: 'answer', status, contentType, location: null, body, isUtf8 };
}

/** What `judge` makes of an outcome, with copies of its bytes. */
function judged(outcome: ProviderOutcome): unknown {
  if (outcome.kind !== 'answer') return outcome;
  const verdict = judge(outcome);
  return verdict.verdict === 'relay'
    ? { ...verdict, body: Buffer.from(verdict.body), element: Buffer.from(verdict.element) }
    : verdict;
}

function emptied(payload: string | Uint8Array): void {
  if (typeof payload === 'string') return;
  structuredClone(payload, { transfer: [payload.buffer as ArrayBuffer] });
}

/** Answers as a worker does, which takes the memory with it. */
const WORKING: BodyWorkers = {
  submit: ({ kind, payload, gives, answered }) => {
    assert.equal(kind, 'answer');
    assert.equal(gives, true);
    const writer = new AnswerWriter(1);
    writer.add(answerBody({ kind: 'answer' }, Buffer.from(payload)));
    emptied(payload);
    readAnswers(writer.bytes(), 1, (_index, slice) => answered(slice, { id: '', dir: '' }));
  },
};

const FULL: BodyWorkers = { submit: ({ failed }) => failed('overloaded') };
const NEVER: BodyWorkers = { submit: () => assert.fail('it was handed to a worker') };

test('a worker says of a long answer what is said of it here', async () => {
  for (const [text, isJson] of TEXTS) {
    const expected = judged(await answerOf(text));
    assert.equal((expected as { readonly verdict: string }).verdict === 'relay', isJson);
    assert.deepEqual(judged(await summarized(WORKING, await answerOf(text))), expected);
    const here = await summarized(FULL, await answerOf(text));
    assert.ok(here.kind === 'answer' && here.summary !== undefined, 'in turns');
    assert.deepEqual(judged(here), expected, 'where no worker takes it');
  }
});

test('an answer that is short, or whose body says nothing, is handed to no worker', async () => {
  const short = await answerOf(`"${LONG.slice(2)}"`);
  assert.equal(await summarized(NEVER, short), short);
  for (const status of [204, 401, 500]) {
    const long = await answerOf(`"${LONG}"`, status);
    assert.equal(await summarized(NEVER, long), long);
  }
  const html = { ...(await answerOf(`"${LONG}"`)), contentType: 'text/html' };
  assert.equal(await summarized(NEVER, html), html);
});

test('an answer is lost with the worker that had it, and only then', async () => {
  const taking: BodyWorkers = {
    submit: ({ payload, failed }) => {
      emptied(payload);
      failed('internal');
    },
  };
  assert.deepEqual(await summarized(taking, await answerOf(`"${LONG}"`)), {
    kind: 'garbage',
    reason: 'unread',
    sent: true,
  });
  const empty: AnswerSlice = {
    status: 500,
    code: 100,
    precision: 0,
    flags: 0,
    body: new Uint8Array(0),
  };
  const broken: BodyWorkers = { submit: ({ answered }) => answered(empty, { id: '', dir: '' }) };
  const read = await summarized(broken, await answerOf(`"${LONG}"`));
  assert.ok(read.kind === 'answer' && read.summary?.isJson === true);
});

test('long answers are relayed byte for byte, or told to be none', async (t) => {
  let bytes: Buffer = Buffer.alloc(0);
  const raw = await startRawProvider(t, (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n`);
    socket.write(`Content-Length: ${bytes.length}\r\n\r\n`);
    socket.write(bytes);
  });
  const varDir = await newMerchantDir(null);
  const settings = { SITUS_ALLOW_PRIVATE_NETWORK: '1', SITUS_PROVIDER_URL: raw.url };
  const service = await startMerchants(varDir, {}, settings);
  t.after(async () => {
    await service.stop();
    removeDirs(varDir);
  });
  const { body } = await service.post('/merchant/create', { merchantName: 'Acme' });
  const merchantId = String(body['merchantId']);
  const credentials = { merchantId, apiKey: 'a-key', connectionId: CONNECTION_ID };
  assert.equal((await service.post('/merchant/credentials/set', credentials)).status, 200);
  for (const [text, isJson] of TEXTS) {
    bytes = bytesOf(text);
    for (const name of ['order/get', 'refund/create'] as const) {
      const sent = JSON.stringify({ merchantId, ...BODIES[name] });
      const got = await postRaw(service, `/merchant/${name}`, sent);
      const what = `${name} ${text.slice(0, 9)}`;
      assert.equal(got.status, isJson ? 200 : 502, what);
      if (!isJson) continue;
      const isOnly = name === 'refund/create' && /^\[.*\}\s*\]$/.test(text) && !text.includes('},');
      const wanted = isOnly ? text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1) : text;
      assert.ok(got.bytes.equals(Buffer.from(wanted)), what);
    }
  }
});
