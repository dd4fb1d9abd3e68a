/** Releases pushed to a store and pulled from it, with everything that can go wrong between. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, after, test, type TestContext } from 'node:test';
import { checkFiles } from '../../src/dataset/file-check.js';
import { releasesDir } from '../../src/dataset/release.js';
import { makeSigningKey, readSigningKey, signRelease } from '../../src/dataset/signature.js';
import { RELEASE_FILES } from '../../src/dataset/stamp.js';
import { HttpPlace } from '../../src/distribution/http-place.js';
import { piecesOf, pushRelease } from '../../src/distribution/pieces.js';
import type { Place } from '../../src/distribution/fleet-place.js';
import { type Pull, pullRelease } from '../../src/distribution/pull.js';
import type { Offer } from '../../src/distribution/state.js';
import { writeRelease } from '../../src/ingest/release-writer.js';
import { ownMark } from '../../src/store/process-mark.js';
import { startStoreServer, type StoreServer } from '../support/s3-server.js';
import { smallDisk } from '../support/small-disk.js';
import { tinyContent } from '../support/tiny-release.js';

const quiet = (): void => undefined;
const PIECE = 256;

let top: string;
let dataset: string;
let dir: string;

before(async () => {
  top = mkdtempSync(join(tmpdir(), 'situs-pull-'));
  dataset = await writeRelease(top, tinyContent(50), quiet);
  dir = join(releasesDir(top), dataset);
});

after(() => rmSync(top, { recursive: true, force: true }));

interface World {
  readonly server: StoreServer;
  readonly place: Place;
  readonly varDir: string;
}

async function world(context: TestContext): Promise<World> {
  const server = await startStoreServer(context, { signed: false });
  const place = new HttpPlace({
    name: 'the store',
    base: server.url,
    sign: ({ headers }) => Promise.resolve(headers),
    waits: { connectMs: 2_000, documentMs: 5_000, silentMs: 2_000 },
  });
  const varDir = mkdtempSync(join(top, 'node-'));
  context.after(() => place.close());
  return { server, place, varDir };
}

async function pushed(place: Place): Promise<Offer> {
  const { releases } = await pushRelease({
    place,
    dir,
    dataset,
    temporary: join(top, 'packed'),
    by: 'me',
    pieceBytes: PIECE,
    packed: quiet,
    pushed: quiet,
  });
  return releases.at(-1)!;
}

function pull({ place, varDir }: World, offer: Offer, more: Partial<Pull> = {}): Promise<void> {
  return pullRelease({ place, offer, varDir, signedBy: [], pulled: quiet, ...more });
}

function gets(server: StoreServer): readonly string[] {
  return server.asked.filter((each) => each.startsWith('GET /pieces/'));
}

function left(varDir: string): readonly string[] {
  return readdirSync(releasesDir(varDir));
}

test('what is pulled is byte for byte what was pushed, and nothing else is left', async (context) => {
  const w = await world(context);
  const offer = await pushed(w.place);
  assert.ok(offer.bytes > 3 * PIECE, 'there are several pieces');
  await pull(w, offer);
  for (const file of RELEASE_FILES) {
    const here = readFileSync(join(releasesDir(w.varDir), dataset, file));
    assert.ok(here.equals(readFileSync(join(dir, file))), file);
  }
  assert.deepEqual(left(w.varDir), [dataset]);
});

test('a second push of the same release sends no piece again', async (context) => {
  const w = await world(context);
  const first = await pushed(w.place);
  w.server.asked.length = 0;
  assert.equal((await pushed(w.place)).list, first.list);
  const put = w.server.asked.filter((each) => each.startsWith('PUT /pieces/'));
  assert.deepEqual(put, [`PUT /pieces/${first.list}`]);
});

test('a pull that was cut goes on with the pieces that are not here', async (context) => {
  const w = await world(context);
  const offer = await pushed(w.place);
  const { sums } = await piecesOf(w.place, offer);
  w.server.asked.length = 0;
  w.server.fault = (_method, path) => (path === `/pieces/${sums[2]}` ? 'truncated' : null);
  await assert.rejects(pull(w, offer), /the store cannot be reached/);
  w.server.fault = () => null;
  w.server.asked.length = 0;
  await pull(w, offer);
  assert.deepEqual(
    gets(w.server),
    [offer.list, ...sums.slice(2)].map((sum) => `GET /pieces/${sum}`),
  );
  assert.deepEqual(left(w.varDir), [dataset]);
});

test('a fault that passes is tried again within one pull', async (context) => {
  const w = await world(context);
  const offer = await pushed(w.place);
  const { sums } = await piecesOf(w.place, offer);
  const faults = ['truncated', 'wrong'] as const;
  let met = 0;
  w.server.fault = (_method, path) =>
    path === `/pieces/${sums[1]}` && met < faults.length ? faults[met++]! : null;
  await pull(w, offer);
  assert.equal(met, faults.length);
});

test('wrong bytes, missing pieces and lists of other releases are refused; nothing answers from them', async (context) => {
  const w = await world(context);
  const offer = await pushed(w.place);
  const { sums } = await piecesOf(w.place, offer);
  w.server.objects.set(`/pieces/${sums[0]}`, Buffer.alloc(PIECE, 1));
  await assert.rejects(pull(w, offer), /not those that were pushed/);
  w.server.objects.delete(`/pieces/${sums[0]}`);
  await assert.rejects(pull(w, offer), /it does not have it \(404 NoSuchKey\)/);
  await assert.rejects(
    pull(w, { ...offer, bytes: offer.bytes + 1 }),
    /not one that this program reads/,
  );
  const other = await writeRelease(top, tinyContent(60), quiet);
  await assert.rejects(pull(w, { ...offer, dataset: other }), /not one that this program reads/);
  assert.ok(!existsSync(join(releasesDir(w.varDir), dataset)));
});

test('a release that is not signed as asked for is not taken, and its bytes go', async (context) => {
  const w = await world(context);
  const key = join(w.varDir, 'key.pem');
  const publicKey = makeSigningKey(key);
  const unsigned = await pushed(w.place);
  await assert.rejects(pull(w, unsigned, { signedBy: [publicKey] }), {
    name: 'UnsoundRelease',
    message: /was pulled and not taken: it is not signed/,
  });
  assert.deepEqual(left(w.varDir), []);
  context.after(() => rmSync(join(dir, 'signature.json'), { force: true }));
  signRelease(dir, checkFiles(dir).stamp!, readSigningKey(key));
  const signed = await pushed(w.place);
  assert.deepEqual(signed.signedBy, [publicKey]);
  assert.notEqual(signed.list, unsigned.list);
  await pull(w, signed, { signedBy: [publicKey] });
  assert.deepEqual(left(w.varDir), [dataset]);
});

test('a disk without room is told before anything is asked for', async (context) => {
  const disk = smallDisk(context, 4_000_000);
  if (disk === null) return;
  const w = await world(context);
  const offer = await pushed(w.place);
  w.server.asked.length = 0;
  await assert.rejects(
    pull({ ...w, varDir: disk }, offer),
    /needs \d+ bytes, and the disk has \d+/,
  );
  assert.deepEqual(gets(w.server), [`GET /pieces/${offer.list}`]);
});

test('a disk that takes less than was given is given the rest', async (context) => {
  const w = await world(context);
  const offer = await pushed(w.place);
  const file = await open(join(w.varDir, 'any'), 'w');
  const handle: FileHandle = Object.getPrototypeOf(file);
  const write: FileHandle['write'] = handle.write;
  context.mock.method(
    handle,
    'write',
    function (this: FileHandle, bytes: Uint8Array, from: number, length: number, at: number) {
      return Reflect.apply(write, this, [bytes, from, Math.min(length, PIECE - 1), at]);
    },
  );
  await pull(w, offer);
  assert.deepEqual(left(w.varDir), [dataset]);
  await file.close();
});

test('of two servers on one folder one pulls, and the other finds it there', async (context) => {
  const w = await world(context);
  const offer = await pushed(w.place);
  w.server.asked.length = 0;
  await Promise.all([pull(w, offer), pull(w, offer)]);
  const { sums } = await piecesOf(w.place, offer);
  assert.equal(gets(w.server).length, new Set(sums).size + 2, 'the list again, for this count');
  assert.deepEqual(left(w.varDir), [dataset]);
});

test('what a process that was killed has begun is gone on with', async (context) => {
  const w = await world(context);
  const offer = await pushed(w.place);
  const folder = join(releasesDir(w.varDir), `.pull-${dataset}`);
  mkdirSync(folder, { recursive: true });
  // Of this machine, with a number that no process has.
  writeFileSync(join(folder, 'owner.json'), JSON.stringify({ ...ownMark(), pid: 4_194_303 }));
  await pull(w, offer);
  assert.deepEqual(left(w.varDir), [dataset]);
});
