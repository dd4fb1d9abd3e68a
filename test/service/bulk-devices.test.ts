/** `situs bulk` with pipes, links and folders where files are expected. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  createReadStream,
  existsSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { buildRecipe, CLI, type Built } from '../support/built-dataset.js';
import { CommandProcess } from '../support/command-process.js';
import { eventually } from '../support/http-eventually.js';
import type { Ran } from '../support/run-command.js';

const TABLE = `id,address\n${'1,"120 Main St, Elmton, QA 91010"\n'.repeat(300)}`;

const commands = new CommandProcess();
let built: Built;
let dir: string;
let rows: string;
let sound: Buffer;

before(async () => {
  built = buildRecipe('fixture');
  dir = mkdtempSync(join(tmpdir(), 'situs-devices-'));
  rows = join(dir, 'rows.csv');
  writeFileSync(rows, TABLE);
  sound = (await run(['bulk', rows, '--quiet'])).out;
});

after(async () => {
  await commands.end();
  built.remove();
  rmSync(dir, { recursive: true, force: true });
});

interface Ended {
  readonly code: number;
  readonly signal: NodeJS.Signals | null;
  readonly out: Buffer;
  readonly err: string;
}

function run(args: readonly string[], input: string | Buffer = ''): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [CLI, ...args],
      {
        env: { PATH: process.env['PATH'], SITUS_VAR: built.varDir },
        encoding: 'buffer',
      },
      (_error, out, err) => {
        const { exitCode, signalCode: signal } = child;
        resolve({ code: exitCode ?? -1, signal, out, err: err.toString() });
      },
    );
    child.stdin?.end(input);
  });
}

/** Runs a command line that ends before it would read or write. */
function refused(args: readonly string[]): Promise<Ran> {
  return commands.run(args, { SITUS_VAR: built.varDir });
}

function pipe(name: string): string {
  const path = join(dir, name);
  execFileSync('mkfifo', [path]);
  return path;
}

test('a pipe is read and written as standard input and output are, and stays one', async () => {
  assert.equal(sound.toString().split('\n').length, 302);
  const [from, to] = [pipe('from'), pipe('to')];
  const writing = promiseOf(from);
  const reading = buffer(createReadStream(to));
  const ended = await run(['bulk', from, '-o', to, '--quiet']);
  assert.equal(ended.code, 0, ended.err);
  assert.ok((await reading).equals(sound));
  await writing;
  assert.ok(lstatSync(from).isFIFO() && lstatSync(to).isFIFO());
  assert.ok(!existsSync(`${to}.part`));
});

/** Has another process write the table to a pipe. */
function promiseOf(path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile('cp', [rows, path], (error) => (error === null ? resolve() : reject(error)));
  });
}

/** Interrupts a command once it does what it waits in; returns how it ended. */
async function interrupted(
  args: readonly string[],
  signal: NodeJS.Signals,
  waits: (child: ChildProcess) => Promise<void>,
): Promise<Ended> {
  const child = spawn(process.execPath, [CLI, ...args], {
    env: { PATH: process.env['PATH'], SITUS_VAR: built.varDir },
  });
  const told = [buffer(child.stdout), buffer(child.stderr)] as const;
  await waits(child);
  child.kill(signal);
  const [code, ended] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  const [out, err] = await Promise.all(told);
  return { code: code ?? -1, signal: ended, out, err: err.toString() };
}

test('pipes whose other end stands still hold no interrupted command', async () => {
  const [still, unread, silent] = [pipe('still'), pipe('unread'), pipe('silent')];
  const [more, out] = [join(dir, 'more.csv'), join(dir, 'silent.csv')];
  writeFileSync(more, TABLE + TABLE.slice(TABLE.indexOf('\n') + 1).repeat(20));
  const ends = [still, silent].map((path) => openSync(path, 'r+'));
  const begun = async ({ stderr }: ChildProcess): Promise<void> => {
    await once(stderr!, 'data');
  };
  for (const [args, signal] of [
    // One that reads nothing, one that nobody has opened, and one that is not written to.
    [[more, '-o', still], 'SIGINT'],
    [[more, '-o', unread], 'SIGTERM'],
    [[silent, '-o', out], 'SIGTERM'],
    [['-', '-o', out], 'SIGINT'],
  ] as const) {
    // Its progress is told once it works.
    const { code, err } = await interrupted(['bulk', ...args], signal, begun);
    assert.equal(code, 130, err);
    assert.match(err, /interrupted; the output is incomplete\n$/);
  }
  assert.ok(!existsSync(out));
  ends.forEach((end) => closeSync(end));
});

test('all rows or none: a reader that goes away, and a full device, are told', async () => {
  const to = pipe('gone');
  const reader = openSync(to, constants.O_RDONLY | constants.O_NONBLOCK);
  const many = join(dir, 'many.csv');
  writeFileSync(many, TABLE + TABLE.slice(TABLE.indexOf('\n') + 1).repeat(20));
  const writing = run(['bulk', many, '-o', to, '--strict', '--quiet']);
  await eventually(() => {
    try {
      return readSync(reader, Buffer.alloc(1)) === 1;
    } catch {
      return false;
    }
  });
  closeSync(reader);
  const { signal, err } = await writing;
  assert.deepEqual([signal, err], ['SIGPIPE', '']);
  const full = await run(['bulk', many, '-o', '/dev/full', '--strict', '--quiet']);
  assert.equal(full.code, 1);
  assert.match(full.err, /^situs: [^\n]*ENOSPC[^\n]*\n$/);
});

test('standard input may be packed', async () => {
  const packed = await run(['bulk', '-', '--quiet'], gzipSync(TABLE));
  assert.ok(packed.out.equals(sound), packed.err);
  assert.equal((await run(['lint', '-'], gzipSync(TABLE))).code, 3);
  const torn = await run(['bulk', '-', '--quiet'], gzipSync(TABLE).subarray(0, 60));
  assert.equal(torn.code, 1);
  assert.match(torn.err, /^situs: standard input cannot be unpacked: [^\n]*\n$/);
});

test('a symbolic link keeps leading to what was written', async () => {
  const [target, link] = [join(dir, 'target.csv'), join(dir, 'link.csv')];
  writeFileSync(target, 'earlier');
  symlinkSync('target.csv', link);
  assert.equal((await run(['bulk', rows, '-o', link, '--quiet'])).code, 0);
  assert.ok(lstatSync(link).isSymbolicLink());
  assert.ok(readFileSync(target).equals(sound));
});

test('a file is not written over itself, whatever it is called', async () => {
  const [own, link] = [join(dir, 'own.csv'), join(dir, 'own-link.csv')];
  writeFileSync(own, TABLE);
  symlinkSync('own.csv', link);
  for (const out of [own, link]) {
    const ended = await refused(['bulk', own, '-o', out, '--format', 'ndjson']);
    assert.equal(ended.code, 2);
    assert.match(ended.err, /is the file that is read: give what is written another name/);
  }
  assert.equal(readFileSync(own, 'utf8'), String(TABLE));
});

test('a folder, a missing folder and a pipe that is to be resumed are bad usage', async () => {
  for (const args of [
    [dir],
    [rows, '-o', dir],
    [rows, '-o', join(dir, 'none', 'out.csv')],
    [pipe('never'), '-o', join(dir, 'out.csv'), '--resume'],
    [rows, '--format', 'constructor'],
    [rows, '--input', 'toString'],
  ]) {
    const ended = await refused(['bulk', ...args]);
    assert.equal(ended.code, 2, `${args.join(' ')}: ${ended.err}`);
  }
  assert.equal((await refused(['constructor'])).code, 2);
  assert.ok(!existsSync(join(dir, 'out.csv.part')));
});

test('lint compares ZIPs and states however they are written', async () => {
  const table =
    'street,city,state,zip\n120 Main St,Elmton,Brookmark,91010\n' +
    '120 Main St,Elmton,QA,91010-1234\n120 Main St,Elmton,QA,910.0\n1 Main St,Elmton,qa,910101234\n';
  const ended = await run(['lint', '-', '--json'], table);
  const report = JSON.parse(ended.out.toString()) as {
    readonly faults: readonly { readonly name: string; readonly lines: readonly number[] }[];
  };
  assert.deepEqual(report.faults.find(({ name }) => name === 'ZIP not in state')?.lines, [2, 4]);
});

test('lint refuses the rows that bulk refuses, and says nothing else of their neighbours', async () => {
  const table = [
    'address\n"120 Main St, Elmton, QA 91010"\n',
    Buffer.from('"120 Main St, Elmt\xf6n, QA 91010"\n', 'latin1'),
    '"120 Main St, Elmton, QA 91010" \n"120" Main St\n',
  ].map((part) => Buffer.from(part));
  const ended = await run(['lint', '-', '--json'], Buffer.concat(table));
  const report = JSON.parse(ended.out.toString()) as {
    readonly exact: number;
    readonly found: readonly { readonly name: string; readonly lines: readonly number[] }[];
  };
  assert.deepEqual(report.found.find(({ name }) => name === 'malformed')?.lines, [3, 5]);
  assert.equal(report.exact, 2);
});
