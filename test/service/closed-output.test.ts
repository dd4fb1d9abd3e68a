/** Commands whose reader goes away, as `| head -1` does: they end quietly and leave nothing. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
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
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { buildRecipe, CLI, situs, type Built } from '../support/built-dataset.js';
import { eventually } from '../support/http-eventually.js';

const READER_GONE = 141;
/** More than a pipe holds. */
const ROWS = 6_000;
const FULL_DISK = '/dev/full';
const MORE = '1,"120 Main St, Elmton, QA 91010"\n'.repeat(4 * ROWS);

let built: Built;
let dir: string;
let temporary: string;
let input: string;

before(() => {
  built = buildRecipe('fixture');
  situs(built.varDir, ['key', 'create', '--plan', 'pro']);
  dir = mkdtempSync(join(tmpdir(), 'situs-closed-'));
  temporary = join(dir, 'temporary');
  mkdirSync(temporary);
  input = join(dir, 'rows.csv');
  const rows = Array.from({ length: ROWS }, (_, id) => `${id},"120 Main St, Elmton, QA 91010"\n`);
  writeFileSync(input, `id,address\n${rows.join('')}`);
});

after(() => {
  built.remove();
  rmSync(dir, { recursive: true, force: true });
});

function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], SITUS_VAR: built.varDir, TMPDIR: temporary };
}

/** Runs a line of the shell in which `situs` is this build's command. */
async function shell(line: string): Promise<{ readonly out: string; readonly err: string }> {
  const { stdout, stderr } = await promisify(execFile)(
    'bash',
    ['--norc', '-c', `situs() { '${process.execPath}' '${CLI}' "$@"; }\n${line}`],
    { env: environment(), cwd: dir },
  );
  return { out: stdout, err: stderr };
}

for (const options of ['--quiet', '--quiet --strict', '--format ndjson --quiet', '2>&1']) {
  test(`situs bulk FILE ${options} | head -1`, async () => {
    const { out, err } = await shell(
      `situs bulk rows.csv ${options} | head -1\necho "codes \${PIPESTATUS[*]}"`,
    );
    const [first = '', codes] = out.split('\n');
    assert.match(first, /^(?:id,address,situs_rate,|\{"header":)/);
    assert.equal(codes, `codes ${READER_GONE} 0`);
    assert.equal(err, '');
    assert.deepEqual(readdirSync(temporary), []);
    assert.deepEqual(readdirSync(dir).sort(), ['rows.csv', 'temporary']);
  });
}

for (const args of [
  ['bulk', 'rows.csv', '--quiet'],
  ['lint', 'rows.csv'],
  ['lookup', '91010'],
  ['events', 'list', '--json'],
  ['dataset', 'coverage', '--json'],
  ['dataset', 'list'],
  ['--help'],
]) {
  test(`situs ${args.join(' ')}, to nobody`, async () => {
    // The command begins when the other end of its output is closed.
    const child = spawn(
      'bash',
      ['--norc', '-c', 'read -r _ && exec "$@"', 'bash', process.execPath, CLI, ...args],
      { env: environment(), cwd: dir, stdio: 'pipe' },
    );
    let err = '';
    child.stderr.on('data', (piece: Buffer) => {
      err += piece.toString();
    });
    const closed = once(child.stdout, 'close');
    child.stdout.destroy();
    await closed;
    child.stdin.end('begin\n');
    const [, signal] = (await once(child, 'close')) as [null, NodeJS.Signals | null];
    assert.equal(signal, 'SIGPIPE', err);
    assert.equal(err, '');
  });
}

for (const [words, begun] of [
  [['--quiet'], /^/],
  [['--strict'], /^30000 rows/m],
] as const) {
  const name = `situs bulk FILE ${words.join(' ')}, to a reader that stands still: a signal ends it`;
  test(name, { timeout: 60_000 }, async (context) => {
    const child = spawn(process.execPath, [CLI, 'bulk', '-', ...words], {
      env: environment(),
      cwd: dir,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    context.after(() => child.kill('SIGKILL'));
    let err = '';
    child.stderr.on('data', (piece: Buffer) => {
      err += piece.toString();
    });
    child.stdin.on('error', () => undefined).end(readFileSync(input, 'utf8') + MORE);
    await once(child.stdout, 'readable');
    let before = '';
    // As far as it comes: what it has written stays the same.
    await eventually(async () => {
      const last = before;
      await new Promise((resolve) => setTimeout(resolve, 200));
      before = /wchar: \d+/.exec(readFileSync(`/proc/${child.pid}/io`, 'latin1'))?.[0] ?? '';
      return before === last && begun.test(err);
    });
    child.kill('SIGTERM');
    const [code] = (await once(child, 'exit')) as [number | null];
    child.stdout.destroy();
    assert.equal(code, 130, err);
    assert.match(err, /^interrupted; the output is incomplete$/m);
    assert.deepEqual(readdirSync(temporary), []);
  });
}

test('a disk without room is named', { skip: !existsSync(FULL_DISK) }, async () => {
  const { out, err } = await shell(`for each in 'lookup 91010' 'bulk rows.csv --quiet'; do
    situs $each > ${FULL_DISK}; echo $?
  done`);
  assert.equal(out, '1\n1\n');
  assert.match(err, /^(?:situs: cannot write: ENOSPC[^\n]*\n){2}$/);
});
