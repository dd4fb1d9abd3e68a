/** The catalogue, links of pages, and transfers that are resumed and tried again. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { parseSource, readCatalogue, wantedOf } from '../../src/ingest/publisher/catalogue.js';
import { linksOf, newestLinks } from '../../src/ingest/publisher/get.js';
import { openOrigin, type Origin } from '../../src/ingest/publisher/origin.js';
import { transfer, TRIES_MAX, type Transferred } from '../../src/ingest/publisher/transfer.js';
import { eventually } from '../support/http-eventually.js';

const BODY = 'jurisdiction,rate\n'.repeat(2_000);
const SHA256 = createHash('sha256').update(BODY).digest('hex');

let server: Server;
let url = '';
let dir = '';
let origin: Origin;
let asked: IncomingMessage['headers'][] = [];
let answer: (request: IncomingMessage, response: ServerResponse, nth: number) => void;

before(async () => {
  server = createServer((request, response) => {
    asked.push(request.headers);
    answer(request, response, asked.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/rates.csv`;
  origin = openOrigin(null);
});

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'situs-publisher-'));
  asked = [];
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

after(async () => {
  await origin.close();
  server.closeAllConnections();
  server.close();
});

function get(held: { etag: string; lastModified: string } | null = null): Promise<Transferred> {
  return transfer(url, join(dir, 'rates.csv'), held, {
    origin,
    signal: new AbortController().signal,
    progress: () => undefined,
    waitMs: 1,
  });
}

/** Sends half of what is left and closes, so that every byte of it arrives. */
function half(response: ServerResponse, from: number, headers: Record<string, string>): void {
  response.writeHead(from > 0 ? 206 : 200, { ...headers, Connection: 'close' });
  response.end(BODY.slice(from, from + (BODY.length - from) / 2));
}

test('a torn transfer goes on where it was cut, and the whole has the right bytes', async () => {
  let less = false;
  answer = (request, response, nth) => {
    const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const to = less ? from + 99 : BODY.length;
    less = false;
    const headers = {
      ETag: '"v1"',
      'Content-Length': String(to - from),
      ...(from > 0 ? { 'Content-Range': `bytes ${from}-${to - 1}/${BODY.length}` } : {}),
    };
    if (nth < 3) half(response, from, headers);
    else response.writeHead(from > 0 ? 206 : 200, headers).end(BODY.slice(from, to));
  };
  const got = await get();
  assert.equal(got.kind === 'whole' && got.sha256, SHA256);
  assert.equal(asked.length, 3);
  assert.equal(asked[0]?.range, undefined);
  const resumed = asked.filter(({ range }) => range !== undefined);
  assert.ok(resumed.every((headers) => headers['if-range'] === '"v1"'));
  assert.equal(readFileSync(join(dir, 'rates.csv.part'), 'utf8'), BODY);
  writeFileSync(join(dir, 'rates.csv.part'), BODY.slice(0, 77));
  less = true;
  assert.equal((await get()).kind, 'whole');
  assert.equal(asked.at(-1)?.range, 'bytes=176-');
  assert.equal(readFileSync(join(dir, 'rates.csv.part'), 'utf8'), BODY);
});

test('a file that changed meanwhile, or whose publisher knows no ranges, begins anew', async () => {
  answer = (_request, response, nth) => {
    const headers = { ETag: `"v${nth}"`, 'Content-Length': String(BODY.length) };
    if (nth === 1) half(response, 0, headers);
    else response.writeHead(200, headers).end(BODY);
  };
  const got = await get();
  assert.deepEqual(got.kind === 'whole' && [got.sha256, got.etag], [SHA256, '"v2"']);
  writeFileSync(join(dir, 'rates.csv.part'), 'x'.repeat(9));
  writeFileSync(
    join(dir, 'rates.csv.part.json'),
    JSON.stringify({ url, etag: '"v1"', lastModified: '' }),
  );
  asked = [];
  answer = (request, response) => {
    if (request.headers.range !== undefined) response.writeHead(416).end();
    else response.writeHead(200, { 'Content-Length': String(BODY.length) }).end(BODY);
  };
  assert.equal((await get()).kind, 'whole');
  assert.equal(asked.length, 2);
});

test('another range than was asked for, and a part without a strong mark, begin anew', async () => {
  answer = (request, response) => {
    const isPart = request.headers.range !== undefined;
    const range = { 'Content-Range': `bytes 0-${BODY.length - 1}/${BODY.length}` };
    response.writeHead(isPart ? 206 : 200, isPart ? range : {}).end(BODY);
  };
  for (const [etag, requests] of Object.entries({ '"v1"': 2, 'W/"v1"': 1 })) {
    writeFileSync(join(dir, 'rates.csv.part'), 'x'.repeat(9));
    writeFileSync(
      join(dir, 'rates.csv.part.json'),
      JSON.stringify({ url, etag, lastModified: '' }),
    );
    asked = [];
    const got = await get();
    assert.equal(got.kind === 'whole' && got.sha256, SHA256);
    assert.equal(asked.length, requests);
    rmSync(join(dir, 'rates.csv.part'));
  }
});

test('the rest of another version is never put behind a part, whatever the publisher says', async () => {
  answer = (request, response) => {
    const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
    // It knows ranges and takes no notice of If-Range.
    response.writeHead(from > 0 ? 206 : 200, {
      ...marks,
      ...(from > 0 ? { 'Content-Range': `bytes ${from}-${BODY.length - 1}/${BODY.length}` } : {}),
    });
    response.end(BODY.slice(from));
  };
  let marks: Record<string, string> = {};
  const old = { etag: '"v1"', lastModified: 'Mon, 01 Jun 2026 00:00:00 GMT' };
  for (marks of [
    { ETag: '"v2"' },
    { ETag: '"v1"', 'Last-Modified': 'Tue, 02 Jun 2026 00:00:00 GMT' },
  ]) {
    writeFileSync(join(dir, 'rates.csv.part'), 'x'.repeat(9));
    writeFileSync(join(dir, 'rates.csv.part.json'), JSON.stringify({ url, ...old }));
    const got = await get();
    assert.equal(got.kind === 'whole' && got.sha256, SHA256);
    assert.equal(readFileSync(join(dir, 'rates.csv.part'), 'utf8'), BODY);
  }
});

// A connection that ends while the library holds it back ends the process.
test('what comes is taken at once: nothing waits for the disk', async () => {
  const chunk = Buffer.alloc(4_096);
  let ahead = 0;
  const body = new Readable({ read: () => undefined, highWaterMark: 64 * 1_048_576 });
  const slow: Origin = {
    close: () => Promise.resolve(),
    get: () =>
      Promise.resolve({ status: 200, header: () => '', body, drop: () => Promise.resolve() }),
  };
  const got = transfer(url, join(dir, 'rates.csv'), null, {
    origin: slow,
    signal: new AbortController().signal,
    progress: () => {
      ahead = Math.max(ahead, body.readableLength);
    },
  });
  body.push(chunk);
  // The file is open once something is written.
  await eventually(() => existsSync(join(dir, 'rates.csv.part')));
  await immediate();
  for (let nth = 0; nth < 500; nth += 1) {
    body.push(chunk);
    await immediate();
  }
  body.push(null);
  assert.equal((await got).kind, 'whole');
  assert.ok(ahead <= 2 * chunk.length, `${ahead} bytes waited`);
});

test('what is held and unchanged is not sent again', async () => {
  answer = (request, response) => {
    const { 'if-none-match': none, 'if-modified-since': since } = request.headers;
    response.writeHead(none === '"v1"' || since === 'Thu, 01 Jan 2026 00:00:00 GMT' ? 304 : 200);
    response.end();
  };
  assert.equal((await get({ etag: '"v1"', lastModified: '' })).kind, 'whole', 'it is not there');
  writeFileSync(join(dir, 'rates.csv'), BODY);
  assert.equal((await get({ etag: '"v1"', lastModified: '' })).kind, 'same');
  const lastModified = 'Thu, 01 Jan 2026 00:00:00 GMT';
  assert.equal((await get({ etag: '', lastModified })).kind, 'same');
  assert.equal((await get({ etag: '"v2"', lastModified: '' })).kind, 'whole');
});

test('passing answers are tried again, with an end; others are not', async () => {
  const tries = { 503: TRIES_MAX, 429: TRIES_MAX, 403: 1, 404: 1, 500: TRIES_MAX };
  for (const [status, requests] of Object.entries(tries)) {
    asked = [];
    answer = (_request, response) =>
      response.writeHead(Number(status), { 'Retry-After': '0' }).end();
    await assert.rejects(get, new RegExp(`the publisher answers ${status}`));
    assert.equal(asked.length, requests, status);
  }
  asked = [];
  answer = (_request, response, nth) => {
    if (nth < 3) response.writeHead(503).end();
    else response.end(BODY);
  };
  assert.equal((await get()).kind, 'whole');
  assert.match(asked[0]?.['user-agent'] ?? '', /^Mozilla\/5\.0 \(compatible; Situs/);
});

test('links: addresses of a page, and the newest by year, quarter, month and day', () => {
  const page =
    '<A HREF="/files/MNR2026Q3MAY9.zip">a</A> <a class=x ' +
    "href='MNR2026Q4AUG18.zip'>b</a>" +
    '<a href="/files/MNR2026Q4aug2.csv">c</a><a ' +
    'href="https://other.example/andR2026Q4AUG30.zip">d</a>' +
    '<a href="mailto:x@example.org">e</a><a href=Sales%20Tax.csv?a=1&amp;b=2>f</a><a ' +
    'href="http://[">';
  const urls = linksOf(page, 'https://example.org/files/');
  assert.equal(urls.length, 6);
  assert.ok(urls.includes('https://example.org/files/Sales%20Tax.csv?a=1&b=2'));
  const pattern =
    '^MNR(?<year>\\d{4})Q(?<quarter>[1-4])(?<month>[A-Z]{3})(?<day>\\d{1,2})' + '\\.(?:csv|zip)$';
  assert.deepEqual(
    newestLinks(urls, pattern).map(({ name }) => name),
    ['MNR2026Q4AUG18.zip', 'MNR2026Q4aug2.csv', 'MNR2026Q3MAY9.zip'],
  );
  assert.deepEqual(
    newestLinks(
      [
        'https://a.org/Rates_9Q1.zip',
        'https://a.org/Rates_26Q1.zip',
        'https://a.org/Rates_25Q4.zip',
      ],
      '^Rates_(?<year>\\d{2})Q(?<quarter>\\d)',
    ).map(({ name }) => name),
    ['Rates_26Q1.zip', 'Rates_25Q4.zip'],
  );
});

test('every source of the catalogue can be read, and no two files have one key', () => {
  const catalogue = readCatalogue();
  const wanted = catalogue.flatMap(wantedOf);
  assert.ok(catalogue.length >= 30 && wanted.length > 150);
  assert.equal(new Set(wanted.map(({ key }) => key)).size, wanted.length);
  const rates = wanted.filter(({ source }) => source.name === 'sst-rates');
  assert.equal(rates.length, 24);
  assert.ok(rates.every(({ find, state }) => find?.link?.startsWith(`^${state}R`)));
  assert.ok(
    wanted.every(
      ({ find, source }) => find !== null || source.withheld != null || source.pages != null,
    ),
  );
});

test('faults of a source are told, each with its place', () => {
  const text = readFileSync(
    join(import.meta.dirname, '../../../datasets/catalogue/tx-rates.json'),
    'utf8',
  );
  const source = JSON.parse(text) as Record<string, unknown>;
  const faults: readonly (readonly [object, RegExp])[] = [
    [{ publishr: 'x' }, /catalogue tx: unknown key "publishr".*publisher/s],
    [{ find: null }, /say one of find, withheld and pages/],
    [{ withheld: 'x' }, /say one of find/],
    [{ pages: [{ url: 'https://x.org', says: ['6%'] }] }, /say one of find/],
    [
      { find: null, pages: [{ url: 'x.org', says: ['('] }] },
      /pages: addresses.*pages: no expression: \(/s,
    ],
    [{ find: { url: 'ftp://x' } }, /addresses must be of http/],
    [{ find: { links: 'https://x.org' } }, /say url, or links and link/],
    [{ find: { links: 'https://x.org', link: '(' } }, /find\.link: no expression/],
    [{ reader: null }, /say one of reader and unread/],
    [{ seen: 'May 2026' }, /seen: say YYYY-MM/],
    [{ unread: 'x' }, /say one of reader and unread/],
    [{ reader: 'tx-quarters' }, /reader: .*tx-quarter/],
    [{ states: ['Texas'] }, /"MN 27"/],
    [{ rhythm: 'weekly' }, /rhythm/],
    [{ levels: ['town'] }, /levels/],
  ];
  for (const [change, told] of faults) {
    assert.throws(() => parseSource('tx', JSON.stringify({ ...source, ...change })), told);
  }
  assert.equal(existsSync(dir), true);
  assert.deepEqual(readdirSync(dir), []);
});
