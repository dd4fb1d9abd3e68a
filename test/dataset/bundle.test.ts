/** Bundles of releases: packed, unpacked, and every way in which one is refused. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { nameBundle, openBundle, packRelease, unpackBundle } from '../../src/dataset/bundle.js';
import { releasesDir } from '../../src/dataset/release.js';
import { RELEASE_FILES } from '../../src/dataset/stamp.js';
import { writeRelease } from '../../src/ingest/release-writer.js';
import { CLI, situs } from '../support/built-dataset.js';
import { eventually } from '../support/http-eventually.js';
import { tinyContent } from '../support/tiny-release.js';

interface Told {
  name: string;
  bytes: number;
  sha256: string;
}
interface Head {
  dataset: string;
  files: Told[];
}

/** So many take a command a while to remove. */
const MANY_NAMES = 20_000;

const quiet = (): void => undefined;
let top: string;
let name: string;
let source: string;
let whole: Buffer;

before(async () => {
  top = mkdtempSync(join(tmpdir(), 'situs-bundle-'));
  name = await writeRelease(top, tinyContent(50), quiet);
  source = join(releasesDir(top), name);
  await packRelease(source, name, join(top, 'whole.situs'), quiet);
  whole = readFileSync(join(top, 'whole.situs'));
});

after(() => rmSync(top, { recursive: true, force: true }));

/** Unpacks bytes into a new folder, and returns it. */
async function unpacked(bytes: Uint8Array): Promise<string> {
  const file = join(top, 'tried.situs');
  writeFileSync(file, bytes);
  const dir = mkdtempSync(join(top, 'into-'));
  await unpackBundle(file, await openBundle(file), dir, quiet);
  return dir;
}

/** The bundle with another head before the same bytes, or before others. */
function rewritten(change: (head: Head) => unknown, content?: Buffer): Buffer {
  const second = whole.indexOf(10, whole.indexOf(10) + 1);
  const [first = '', text = ''] = whole.toString('latin1', 0, second).split('\n');
  const head = JSON.parse(text) as Head;
  change(head);
  // How well it is packed is not the point: the quickest way will do.
  const packed =
    content === undefined ? whole.subarray(second + 1) : gzipSync(content, { level: 1 });
  return Buffer.concat([Buffer.from(`${first}\n${JSON.stringify(head)}\n`), packed]);
}

function contentOf(): Buffer {
  return gunzipSync(whole.subarray(whole.indexOf(10, whole.indexOf(10) + 1) + 1));
}

test('a bundle holds the whole release, byte for byte', async () => {
  const dir = await unpacked(whole);
  assert.deepEqual(readdirSync(dir).sort(), [...RELEASE_FILES].sort());
  for (const file of RELEASE_FILES) {
    assert.ok(readFileSync(join(dir, file)).equals(readFileSync(join(source, file))), file);
  }
});

test('a pipe is refused and not waited for', async () => {
  const pipe = join(top, 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const file of ['/dev/null', pipe]) {
    await assert.rejects(openBundle(file), new RegExp(`${file} is no regular file`));
  }
});

test('a bundle that is cut is refused, wherever it is', async () => {
  for (let length = 0; length < whole.length; length += 97) {
    await assert.rejects(unpacked(whole.subarray(0, length)), /no bundle|is damaged/, `${length}`);
  }
  await assert.rejects(unpacked(whole.subarray(0, -1)), /is damaged/);
});

test('a bundle with a flipped bit is refused, or gives the same bytes', async () => {
  const expected = RELEASE_FILES.map((file) => readFileSync(join(source, file), 'latin1'));
  let [tried, refused] = [0, 0];
  for (let at = 0; at < whole.length; at += 41) {
    const bytes = Buffer.from(whole);
    bytes[at] = bytes[at]! ^ 16;
    tried += 1;
    const dir = await unpacked(bytes).catch((error: unknown) => {
      assert.match(String(error), /no bundle|is damaged|the disk has/, `at ${at}`);
      refused += 1;
      return null;
    });
    if (dir === null) continue;
    assert.deepEqual(
      RELEASE_FILES.map((file) => readFileSync(join(dir, file), 'latin1')),
      expected,
      `at ${at}`,
    );
  }
  // Unseen are the name in the head, which the check of the release compares, and another way to
  // pack the same bytes: zeros copied from elsewhere.
  assert.ok(refused > tried / 2, `${refused} of ${tried}`);
});

/** Changes what a head says of one of its files. */
const file =
  (at: number, change: Partial<Told>) =>
  ({ files }: Head): unknown =>
    Object.assign(files[at]!, change);

const NOT_WHOLE = /not those of one whole dataset/;
const UNTOLD = /not those that were packed|more bytes than it tells/;
const LACKING = /needs \d+ bytes, and the disk has \d+/;

const HEADS: readonly (readonly [what: string, change: (head: Head) => unknown, told: RegExp])[] = [
  ['a file outside', file(2, { name: '../data.mdb' }), NOT_WHOLE],
  ['an absolute file', file(2, { name: '/etc/passwd' }), NOT_WHOLE],
  ['one file more', ({ files }) => files.push({ ...files[0]!, name: 'more' }), NOT_WHOLE],
  ['a file twice', ({ files }) => files.push(files[0]!), NOT_WHOLE],
  ['a part only', ({ files }) => files.pop(), NOT_WHOLE],
  [
    'a name outside',
    (head) => (head.dataset = '../../2026-01-01-000000000000'),
    /names no dataset/,
  ],
  ['a negative length', file(0, { bytes: -1 }), /list of files cannot be read/],
  ['more bytes than it tells', ({ files }) => (files[2]!.bytes -= 1), UNTOLD],
  ['fewer bytes than it tells', ({ files }) => (files[2]!.bytes += 1), /ends before its last file/],
  [
    'other bytes than it tells',
    file(2, { sha256: '0'.repeat(64) }),
    /bytes of data\.mdb are not those/,
  ],
  ['more than the disk has', file(2, { bytes: Number.MAX_SAFE_INTEGER }), LACKING],
];

for (const [what, change, told] of HEADS) {
  test(`a bundle with ${what} is refused`, async () => {
    await assert.rejects(unpacked(rewritten(change)), told);
  });
}

test('what unpacks to more than is told, and what lies behind, is refused', async () => {
  const more = Buffer.concat([contentOf(), Buffer.alloc(1 << 20)]);
  await assert.rejects(unpacked(rewritten(() => undefined, more)), /more bytes than it tells/);
  await assert.rejects(unpacked(Buffer.concat([whole, Buffer.from('x')])), /is damaged/);
  await assert.rejects(unpacked(Buffer.concat([whole, whole])), /is damaged/);
});

test('other files are no bundles', async () => {
  for (const text of [
    '',
    '\n\n',
    'situs dataset bundle 2\n{}\n',
    'situs dataset bundle 1\n[]\n',
    'situs dataset bundle 1\nnull\n',
    `situs dataset bundle 1\n${' '.repeat(9_000)}\n`,
  ]) {
    await assert.rejects(unpacked(Buffer.from(text)), /is no bundle of a dataset/, text);
  }
});

test('an interrupted command leaves nothing, neither packing nor unpacking', async (context) => {
  const varDir = mkdtempSync(join(top, 'var-'));
  // Zeros are long to write and short to keep.
  const zeros = Buffer.alloc(256 << 20);
  const large = rewritten(
    ({ files }) => {
      files[2]!.bytes = zeros.length;
      files[2]!.sha256 = createHash('sha256').update(zeros).digest('hex');
    },
    Buffer.concat([contentOf().subarray(0, -statSync(join(source, 'data.mdb')).size), zeros]),
  );
  const file = join(top, 'large.situs');
  writeFileSync(file, large);
  const child = spawn(process.execPath, [CLI, 'dataset', 'unpack', file, '--quiet'], {
    env: { ...process.env, SITUS_VAR: varDir },
    stdio: 'ignore',
  });
  context.after(() => child.kill('SIGKILL'));
  const folder = releasesDir(varDir);
  await eventually(
    () =>
      existsSync(folder) &&
      readdirSync(folder, { recursive: true }).some((each) => String(each).endsWith('data.mdb')),
  );
  child.kill('SIGINT');
  assert.deepEqual(await once(child, 'exit'), [130, null]);
  assert.deepEqual(readdirSync(folder), []);
});

test('a second signal does not end a command that tidies up after the first', async (context) => {
  const folder = mkdtempSync(join(top, 'much-'));
  // Names of one file are made in a fifth of the time of files, and removed in the same.
  const first = join(folder, '0');
  writeFileSync(first, '');
  for (let index = 1; index < MANY_NAMES; index += 1) linkSync(first, join(folder, `${index}`));
  const commandLine = new URL('../../src/cli/command-line.js', import.meta.url).href;
  const child = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `
    import { removeOnSignal } from ${JSON.stringify(commandLine)};
    removeOnSignal(${JSON.stringify(folder)});
    setInterval(() => undefined, 1_000);
    process.stdout.write('listens');
  `,
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  context.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  child.kill('SIGINT');
  await eventually(() => !existsSync(folder) || readdirSync(folder).length < MANY_NAMES);
  child.kill('SIGINT');
  assert.deepEqual(await once(child, 'exit'), [130, null]);
  assert.equal(existsSync(folder), false);
});

test('a bundle gets its name also where the disk knows no links, and replaces nothing', () => {
  const dir = mkdtempSync(join(top, 'stick-'));
  const [temporary, file] = [join(dir, '.one'), join(dir, 'one.situs')];
  const noLinks = (): never => {
    throw Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' });
  };
  writeFileSync(temporary, 'bundle');
  nameBundle(temporary, file, noLinks);
  assert.deepEqual([readFileSync(file, 'utf8'), readdirSync(dir)], ['bundle', ['one.situs']]);
  writeFileSync(temporary, 'another');
  assert.throws(() => nameBundle(temporary, file, noLinks), /EEXIST/);
  assert.throws(() => nameBundle(temporary, file), /EEXIST/);
  assert.equal(readFileSync(file, 'utf8'), 'bundle');
});

test('the commands pack, unpack and let it answer; what is there is not replaced', () => {
  const [from, to] = [mkdtempSync(join(top, 'a-')), mkdtempSync(join(top, 'b-'))];
  mkdirSync(join(from, 'work'));
  const file = join(from, 'work', 'one.situs');
  assert.equal(situs(top, ['dataset', 'pack', name, file]), `${file}\n`);
  assert.throws(() => situs(top, ['dataset', 'pack', name, file]), /exists; a bundle does not/);
  assert.equal(situs(to, ['dataset', 'unpack', file, '--activate']), `${name}\n`);
  assert.match(situs(to, ['dataset', 'list']), new RegExp(`^${name} .* active\n$`));
  assert.equal(situs(to, ['dataset', 'unpack', file]), `${name}\n`, 'once more');
  assert.deepEqual(readdirSync(releasesDir(to)).sort(), [name, 'CURRENT']);
  // A bundle whose release is another than it says.
  writeFileSync(
    file,
    rewritten((head) => {
      head.dataset = '2026-01-01-000000000000';
    }),
  );
  assert.throws(() => situs(to, ['dataset', 'unpack', file]), /does not bear its name/);
  assert.deepEqual(readdirSync(releasesDir(to)).sort(), [name, 'CURRENT']);
});
