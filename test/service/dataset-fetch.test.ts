/** `situs dataset fetch` against a publisher of our own. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import {
  type Download,
  downloadsFile,
  fetchDownload,
  parseDownloads,
  readDownloads,
} from '../../src/ingest/publisher/fetched-folder.js';
import { openOrigin } from '../../src/ingest/publisher/origin.js';
import { CLI } from '../support/built-dataset.js';
import { CommandProcess } from '../support/command-process.js';
import type { Ran } from '../support/run-command.js';

const BODY = 'jurisdiction,rate\nElmton,0.0775\n';
const SHA256 = createHash('sha256').update(BODY).digest('hex');

const commands = new CommandProcess();
let server: Server;
let base = '';
let dir = '';
let asked: string[] = [];
const origin = openOrigin(null);

before(async () => {
  server = createServer((request, response) => {
    const { url = '' } = request;
    asked.push(url);
    if (url === '/rates.csv' || url === '/state-91.csv') response.end(BODY);
    else if (url === '/moved') response.writeHead(302, { Location: '/rates.csv' }).end();
    else if (url === '/endless' || url === '/slow') response.write('x'.repeat(50));
    else if (url === '/short') {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('half', () => response.destroy());
    } else response.writeHead(404).end('no such file');
    if (url === '/endless') response.write('x'.repeat(50));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'situs-fetch-'));
  asked = [];
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

after(async () => {
  await commands.end();
  await origin.close();
  server.closeAllConnections();
  server.close();
});

function listed(path: string, url: string, more: object = {}): Download {
  const [download] = parseDownloads(JSON.stringify([{ path, url: `${base}${url}`, ...more }]));
  assert.ok(download);
  return download;
}

function run(...args: readonly string[]): Promise<Ran> {
  return commands.run(['dataset', 'fetch', ...args]);
}

function writeList(entries: readonly object[]): string {
  const file = join(dir, 'list.json');
  writeFileSync(file, JSON.stringify(entries));
  return file;
}

test('files come whole, checked, and are kept the next time', async () => {
  const file = writeList([
    { path: 'a/rates.csv', url: `${base}/rates.csv`, bytes: BODY.length, sha256: SHA256 },
    { path: 'b/moved.csv', url: `${base}/moved` },
    { path: 'c/state-{fips}.csv', url: `${base}/state-{fips}.csv`, states: ['91'] },
  ]);
  const to = join(dir, 'sources');
  const first = await run('--downloads', file, '--to', to);
  assert.equal(first.code, 0, first.err);
  assert.equal(first.out, 'fetched  a/rates.csv\nfetched  b/moved.csv\nfetched  c/state-91.csv\n');
  assert.match(first.err, new RegExp(`a/rates.csv: ${BODY.length} of ${BODY.length}`));
  assert.equal(readFileSync(join(to, 'a/rates.csv'), 'utf8'), BODY);
  assert.deepEqual(readdirSync(join(to, 'a')), ['rates.csv']);
  asked = [];
  const second = await run('--downloads', file, '--to', to, '--quiet');
  assert.equal(second.out, 'kept     a/rates.csv\nkept     b/moved.csv\nkept     c/state-91.csv\n');
  assert.deepEqual(asked, []);
  const again = await run('--downloads', file, '--to', to, '--quiet', '--again', '--only', 'rates');
  assert.equal(again.out, 'fetched  a/rates.csv\n');
});

test('one that fails leaves nothing, is named, and does not keep the others', async () => {
  const file = writeList([
    { path: 'gone.csv', url: `${base}/gone` },
    { path: 'wrong.csv', url: `${base}/rates.csv`, sha256: '0'.repeat(64) },
    { path: 'size.csv', url: `${base}/rates.csv`, bytes: 5 },
    { path: 'short.csv', url: `${base}/short` },
    { path: 'good.csv', url: `${base}/rates.csv` },
  ]);
  const to = join(dir, 'sources');
  const { code, out, err } = await run('--downloads', file, '--to', to, '--quiet');
  assert.equal(code, 1);
  assert.equal(out, 'fetched  good.csv\n');
  assert.match(err, /gone\.csv from http.*: the publisher answers 404/);
  assert.match(err, /wrong\.csv from .*: its SHA-256 is not that of the list/);
  assert.match(err, /size\.csv from .*: it has 32 bytes, the list says 5/);
  assert.match(err, /short\.csv from /);
  assert.deepEqual(readdirSync(to), ['good.csv']);
});

test('a file on disk that is not the one of the list is got again', async () => {
  mkdirSync(join(dir, 'to'));
  writeFileSync(join(dir, 'to/rates.csv'), 'older');
  const options = {
    folder: join(dir, 'to'),
    again: false,
    signal: new AbortController().signal,
    progress: () => undefined,
    origin,
    triesMax: 1,
  };
  assert.equal(await fetchDownload(listed('rates.csv', '/rates.csv'), options), 'kept');
  const checked = listed('rates.csv', '/rates.csv', { sha256: SHA256 });
  assert.equal(await fetchDownload(checked, options), 'fetched');
  assert.equal(readFileSync(join(dir, 'to/rates.csv'), 'utf8'), BODY);
});

test('a failure keeps the file that was there', async () => {
  writeFileSync(join(dir, 'rates.csv'), 'older');
  const options = {
    folder: dir,
    again: true,
    signal: new AbortController().signal,
    progress: () => undefined,
    origin,
    triesMax: 1,
  };
  await assert.rejects(fetchDownload(listed('rates.csv', '/gone'), options), /answers 404/);
  assert.equal(readFileSync(join(dir, 'rates.csv'), 'utf8'), 'older');
  assert.deepEqual(readdirSync(dir), ['rates.csv']);
});

test('too long, silent and interrupted downloads end, with nothing left', async () => {
  const stop = new AbortController();
  const options = {
    folder: dir,
    again: false,
    signal: stop.signal,
    progress: () => undefined,
    origin,
    triesMax: 1,
  };
  await assert.rejects(
    fetchDownload(listed('a', '/endless'), { ...options, bytesMax: 99 }),
    /more than 99 bytes/,
  );
  await assert.rejects(
    fetchDownload(listed('a', '/slow'), { ...options, stallMs: 30 }),
    /nothing came for 30 ms/,
  );
  const interrupted = fetchDownload(listed('a', '/slow'), {
    ...options,
    progress: () => stop.abort(new Error('interrupted')),
  });
  await assert.rejects(interrupted, /interrupted/);
  assert.deepEqual(readdirSync(dir), []);
});

test('SIGINT ends the command with 130 and leaves nothing half-written', async () => {
  const file = writeList([{ path: 'slow.csv', url: `${base}/slow` }]);
  const to = join(dir, 'sources');
  const child = spawn(process.execPath, [CLI, 'dataset', 'fetch', '--downloads', file, '--to', to]);
  let said = '';
  child.stderr.on('data', (piece: Buffer) => {
    said += piece.toString('utf8');
  });
  await once(child.stderr, 'data');
  child.kill('SIGINT');
  const [code] = (await once(child, 'close')) as [number | null];
  assert.equal(code, 130);
  assert.doesNotMatch(said, /warning/i, 'a word of a library about itself');
  assert.deepEqual(readdirSync(to), []);
});

test('bad usage and bad lists are told', async () => {
  assert.equal((await run('--list')).code, 0);
  assert.equal((await run()).code, 2);
  assert.match((await run('--list', '--only', 'nothing')).err, /no download matches "nothing"/);
  assert.match(
    (await run('--recipe', 'fixture', '--list')).err,
    /recipe "fixture" has no list of downloads/,
  );
  assert.match((await run('--downloads', '/nowhere', '--list')).err, /no list of downloads in /);
  const bad = (entry: object, reason: RegExp): void => {
    assert.throws(() => parseDownloads(JSON.stringify([entry])), reason);
  };
  const url = 'https://example.org/a';
  bad({ path: '../a', url }, /download 1: path must lie below/);
  bad({ path: '/a', url }, /path must lie below/);
  bad({ path: 'a/../../b', url }, /path must lie below/);
  bad({ path: 'a', url: 'file:///etc/passwd' }, /url must be of http or https/);
  bad({ path: 'a', url, bytes: -1 }, /bytes must be a whole number/);
  bad({ path: 'a', url, sha256: 'ABC' }, /sha256 must be/);
  bad({ path: 'a-{fips}', url }, /states must say/);
  assert.throws(() => parseDownloads('{}'), /JSON array/);
  assert.throws(
    () =>
      parseDownloads(
        JSON.stringify([
          { path: 'a', url },
          { path: 'a', url },
        ]),
      ),
    /two downloads have one path/,
  );
});

test('the list of the reference recipe can be read', () => {
  const downloads = readDownloads(downloadsFile('reference'));
  assert.ok(downloads.length > 50);
  assert.ok(downloads.every(({ url }) => url.startsWith('https://')));
  assert.ok(existsSync(downloadsFile('reference')));
});
