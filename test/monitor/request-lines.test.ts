/** What the log of requests and the metrics tell of answers: as much as the answers themselves. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs, { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock, test, type TestContext } from 'node:test';
import { CATALOGUE_RATE } from '../../src/http/client-limit.js';
import { createLog } from '../../src/log.js';
import { RequestLog } from '../../src/monitor/request-log.js';
import { eventually } from '../support/http-eventually.js';
import { ELMTON, type MerchantService } from '../support/merchant-service.js';
import { metricsOf, named, startLogged } from '../support/logged-service.js';
import { LATER_OPTIMIZED, MAIN } from '../support/program.js';
import { sentCalculation, sentCart, sentLine } from '../support/sent-carts.js';

const MERCHANT_PLACE = { origin: ELMTON, destination: ELMTON };
const LINE = { address: '120 Main St, Elmton, QA 91010' };
const CART_PLACE = { origin: LINE, destination: LINE };

/** Sends carts of each kind; what the head of the first answer says: precision and dataset. */
async function sendCarts({ post }: MerchantService): Promise<readonly [string, string]> {
  const made = await post('/merchant/create', {
    merchantName: 'A',
    merchantType: 'self-managed',
  });
  const merchantId = made.body['merchantId'];
  const send = (id: string, items: readonly object[]): ReturnType<typeof post> =>
    post('/merchant/cart/calculate', { merchantId, items }, named(id));
  const own = await post('/calculate/cart', sentCalculation(CART_PLACE), named('own'));
  const merchant = await send('merchant', [sentCart(MERCHANT_PLACE)]);
  // A large body goes another way.
  const lineItems = Array.from({ length: 20 }, (_, index) => sentLine({ index }));
  const cart = sentCart({ ...MERCHANT_PLACE, lineItems });
  const large = await send(
    'large',
    Array.from({ length: 100 }, () => cart),
  );
  const bad = await post('/calculate/cart', sentCalculation(), named('bad'));
  assert.equal(own.status, 200, own.text);
  assert.deepEqual(
    [own, merchant, large, bad].map(({ status }) => status),
    [200, 200, 200, 422],
  );
  const said = (name: string): string => own.headers.get(`x-situs-${name}`) ?? '';
  return [said('precision'), said('dataset')];
}

test('carts, files and streams are logged with what their answers say of them', async (context) => {
  const { service, lines } = await startLogged(context);
  const { base } = service;
  const [precision, dataset] = await sendCarts(service);
  assert.notEqual(precision, 'none');
  assert.match(dataset, /^\d{4}-\d{2}-\d{2}-/);
  const key = 'a-key-of-account-alpha';
  const ndjson = { 'Content-Type': 'application/x-ndjson' };
  const row = '{"postalcode":"91010"}\n';
  for (const [path, id, text] of [
    ['/bulk/lookup', 'bulk', row],
    ['/stream', 'stream', ''],
  ] as const) {
    const headers = { ...ndjson, 'X-API-KEY': key, 'X-Request-Id': id };
    const answer = await fetch(base + path, { method: 'POST', headers, body: text });
    assert.equal(answer.status, 200, await answer.text());
  }
  const metrics = await metricsOf(service);
  for (const operation of ['POST /calculate/cart', 'POST /merchant/cart/calculate']) {
    const series = `{operation="${operation}",precision="${precision}"}`;
    assert.ok(metrics.includes(`situs_request_duration_seconds_count${series} `), metrics);
  }
  const logged = await lines();
  const told = (id: string): readonly unknown[] => {
    const line = logged.get(id);
    return [line?.['status'], line?.['precision'], line?.['dataset']];
  };
  for (const id of ['own', 'merchant', 'large']) {
    assert.deepEqual(told(id), [200, precision, dataset], id);
  }
  assert.deepEqual(told('bad'), [422, 'none', '']);
  for (const id of ['bulk', 'stream']) assert.deepEqual(told(id), [200, 'none', dataset], id);
});

test('a refusal with a response code is logged and counted by it, whatever refuses', async (context) => {
  const { service, lines } = await startLogged(context);
  const { base } = service;
  for (let sent = 0; sent < CATALOGUE_RATE; sent += 1) {
    assert.equal((await fetch(`${base}/data/tic?format=x`)).status, 422);
  }
  assert.equal((await fetch(`${base}/data/tic`, named('tic'))).status, 429);
  const paths = ['/bulk/lookup', '/stream', '/bulk/jobs', '/calculate/cart', '/merchant/create'];
  for (const path of paths) {
    const { status } = await service.post(path, '', { key: 'no-such-key-at-all', ...named(path) });
    assert.equal(status, 401, path);
  }
  const metrics = await metricsOf(service);
  assert.match(metrics, /^situs_refusals_total\{code="108"\} 1$/m);
  assert.match(metrics, new RegExp(`^situs_refusals_total\\{code="101"\\} ${paths.length}$`, 'm'));
  assert.doesNotMatch(metrics, /^situs_refusals_total\{code="4(?:01|29)"\}/m);
  const logged = await lines();
  assert.equal(logged.get('tic')?.['code'], 108);
  for (const path of paths) assert.equal(logged.get(path)?.['code'], 101, path);
});

/** The answer to a handshake that is refused. */
async function handshake(base: string, key: string, id: string): Promise<IncomingMessage> {
  const asked = request(`${base}/stream`, {
    headers: {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': Buffer.alloc(16).toString('base64'),
      'X-API-KEY': key,
      'X-Request-Id': id,
    },
  });
  asked.end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  return answer;
}

for (const transport of ['native', 'node'] as const) {
  test(`a refused WebSocket is logged and counted like every other request (${transport})`, async (context) => {
    const { service, lines } = await startLogged(context, {
      SITUS_TRANSPORT: transport,
      SITUS_CORS_ORIGINS: 'https://shop.example',
    });
    const { statusCode, headers } = await handshake(service.base, 'no-such-key-at-all', 'socket');
    assert.equal(statusCode, 401);
    assert.equal(headers['x-request-id'], 'socket');
    assert.equal(headers.vary, 'Origin');
    const counted = /^situs_requests_total\{operation="GET \/stream",status="401"\} 1$/m;
    assert.match(await metricsOf(service), counted);
    const line = (await lines()).get('socket');
    assert.deepEqual(
      [line?.['operation'], line?.['status'], line?.['code'], line?.['key']],
      ['GET /stream', 401, 101, 'no-s'],
    );
  });
}

const LINE_TOLD = {
  ...{ requestId: 'a'.repeat(128), method: 'GET', keyPrefix: '', client: '', query: '' },
  ...{ operation: 0, status: 200, code: 100, precision: 0, dataset: '', microseconds: 1 },
  ...{ traceparent: '', extra: [] },
};

/** A log of every request, and the events that it tells. */
async function openLog(
  path: string,
): Promise<{ readonly log: RequestLog; readonly events: () => string[] }> {
  const told: string[] = [];
  const log = await RequestLog.open(
    { path, every: 1, clients: false, queries: false },
    createLog('info', (line) => told.push(line)),
  );
  assert.ok(log !== null);
  return { log, events: () => told.map((each) => (JSON.parse(each) as { event: string }).event) };
}

function temporaryDir(context: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'situs-lines-'));
  context.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

test('a start that something else ends says that alone, though it has opened a log', (context) => {
  const dir = temporaryDir(context);
  const { status, stderr } = spawnSync(process.execPath, [...LATER_OPTIMIZED, MAIN], {
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      SITUS_VAR: dir,
      SITUS_REQUEST_LOG: join(dir, 'requests.log'),
      SITUS_REQUIRE_SIGNATURE: join(dir, 'none.pem'),
    },
  });
  assert.match(stderr, /^situs: SITUS_REQUIRE_SIGNATURE: [^\n]+\n$/);
  assert.equal(status, 1);
});

test('a disk that is full is told once, and lines that wait for it are bounded', async (context) => {
  if (!existsSync('/dev/full')) return context.skip('there is no /dev/full');
  const { log, events } = await openLog('/dev/full');
  for (let turn = 0; turn < 200; turn += 1) {
    for (let index = 0; index < 150; index += 1) log.told(LINE_TOLD);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await log.close();
  assert.deepEqual(events().toSorted(), ['request log not written', 'requests not logged']);
});

test('a pipe whose reader stands still holds no end up', { timeout: 20_000 }, async (context) => {
  const path = join(temporaryDir(context), 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_NONBLOCK);
  context.after(() => fs.closeSync(reader));
  const { log, events } = await openLog(path);
  for (let index = 0; index < 1_000; index += 1) log.told(LINE_TOLD);
  await log.close();
  assert.deepEqual(events(), ['request log not written']);
  const all = Buffer.alloc(1_048_576);
  const text = all.toString('latin1', 0, fs.readSync(reader, all));
  assert.match(text, /^\{"level":"info"/);
  // Whole lines alone: others may write to the same pipe.
  assert.match(text, /\}\n$/);
});

/** Makes a pipe and opens it for reading; what comes is waited for. */
function readPipe(context: TestContext, path: string): () => Promise<string> {
  execFileSync('mkfifo', [path]);
  const reader = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  context.after(() => fs.closeSync(reader));
  return async () => {
    const piece = Buffer.alloc(65_536);
    let length = 0;
    await eventually(() => {
      try {
        length = fs.readSync(reader, piece);
      } catch {
        // Nothing is there.
      }
      return length > 0;
    });
    return piece.toString('latin1', 0, length);
  };
}

test('a log is opened anew by its name also where that is or was a pipe', async (context) => {
  const path = join(temporaryDir(context), 'requests.log');
  const say = (requestId: string): void => log.told({ ...LINE_TOLD, requestId });
  const first = readPipe(context, path);
  const { log, events } = await openLog(path);
  say('first');
  assert.match(await first(), /"first"/);
  // The same one: what waits for it still goes there.
  say('waiting');
  log.reopen();
  say('same');
  assert.match(await first(), /"waiting".*\n.*"same"/);
  // Another pipe of that name, as whoever gathers lines makes at its own start.
  fs.unlinkSync(path);
  const second = readPipe(context, path);
  say('old');
  log.reopen();
  say('second');
  assert.match(await second(), /"second"/);
  assert.match(await first(), /"old"/);
  // A file, and a pipe again.
  renameSync(path, `${path}.1`);
  log.reopen();
  say('file');
  await eventually(() => readFileSync(path, 'utf8').includes('"file"'));
  fs.unlinkSync(path);
  const third = readPipe(context, path);
  log.reopen();
  say('third');
  assert.match(await third(), /"third"/);
  await log.close();
  assert.deepEqual(events(), []);
});

test('told to open its file anew while the folder is gone, a log goes on in the one before and closes that once', async (context) => {
  const dir = join(temporaryDir(context), 'logs');
  mkdirSync(dir);
  const { log, events } = await openLog(join(dir, 'requests.log'));
  const line = async (name: string): Promise<void> => {
    log.told(LINE_TOLD);
    await eventually(() => readFileSync(join(dir, name), 'utf8') !== '');
  };
  await line('requests.log');
  renameSync(dir, `${dir}-away`);
  for (let turn = 0; turn < 3; turn += 1) log.reopen();
  assert.deepEqual(events(), Array(3).fill('request log not written'));
  renameSync(`${dir}-away`, dir);
  renameSync(join(dir, 'requests.log'), join(dir, 'requests.log.1'));
  const close = mock.method(fs, 'close');
  log.reopen();
  await line('requests.log');
  const closed = close.mock.calls.map(({ arguments: [file] }) => file);
  assert.equal(closed.length, new Set(closed).size, String(closed));
  await log.close();
  log.reopen();
  assert.equal(events().at(-1), 'request log not written');
});
