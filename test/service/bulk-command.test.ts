/** `situs bulk` and `situs lint` as processes: the same bytes as a server, resumed, refused. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { App } from '../../src/app.js';
import { threadsFor } from '../../src/cli/bulk-options.js';
import { RowsProgress } from '../../src/cli/rows-progress.js';
import { buildRecipe, CLI, LATER_OPTIMIZED, type Built } from '../support/built-dataset.js';
import { CSV, NDJSON, readLines, sendBulk, startBulkApp } from '../support/bulk-client.js';
import { CommandProcess } from '../support/command-process.js';
import { eventually } from '../support/http-eventually.js';
import { runMany } from '../support/run-command.js';
import { table } from '../support/files-fleet.js';

const DOOR = '120 Main St, Elmton, QA 91010';
/** 40 chunks: a signal after the first is there long before the last. */
const LONG_ROWS = 10_000;

const commands = new CommandProcess();

let built: Built;
let dir: string;
let app: App;
let port: number;

before(async () => {
  built = buildRecipe('fixture');
  dir = mkdtempSync(join(tmpdir(), 'situs-cli-'));
  ({ app, port } = await startBulkApp(built.varDir));
});

after(async () => {
  await commands.end();
  await app.stop();
  built.remove();
  rmSync(dir, { recursive: true, force: true });
});

interface Ended {
  readonly code: number | null;
  readonly out: Buffer;
  readonly err: string;
}

/** Runs `situs ARGS`, in a process of its own where it is sent rows or a signal by `during`. */
async function run(
  args: readonly string[],
  input: string | null = null,
  during?: (signal: () => void) => Promise<void>,
): Promise<Ended> {
  if (input === null) {
    const { code, out, err } = await commands.run(args, { SITUS_VAR: built.varDir });
    return { code, out: Buffer.from(out), err };
  }
  const child = spawn(process.execPath, [...LATER_OPTIMIZED, CLI, ...args], {
    env: { PATH: process.env['PATH'], SITUS_VAR: built.varDir },
    stdio: 'pipe',
  });
  const out: Buffer[] = [];
  let err = '';
  child.stdout.on('data', (piece: Buffer) => out.push(piece));
  child.stderr.on('data', (piece: Buffer) => {
    err += piece.toString();
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const ended = once(child, 'close');
  await during?.(() => child.kill('SIGINT'));
  const [code] = (await ended) as [number | null];
  return { code, out: Buffer.concat(out), err };
}

function file(name: string, body: string | Buffer): string {
  const path = join(dir, name);
  writeFileSync(path, body);
  return path;
}

test('a table is written as a server would', async () => {
  const body = table(900);
  const { body: streamed } = await sendBulk({ port, type: CSV }, body);
  const input = file('rows.csv', body);
  const output = join(dir, 'rows-out.csv');
  const found = await run(['bulk', input, '-o', output, '--threads', '2']);
  assert.equal(found.code, 3, found.err);
  assert.match(found.err, /900 rows \(100: 771, 109: 129\)/);
  assert.ok(readFileSync(output).equals(streamed));
  assert.ok(!existsSync(`${output}.part`) && !existsSync(`${output}.part.json`));
  for (const args of [
    ['bulk', '-', '--threads', '1'],
    ['bulk', file('rows.csv.gz', gzipSync(body)), '--quiet'],
  ]) {
    const piped = await run(args, args[1] === '-' ? body : null);
    assert.equal(piped.code, 3, piped.err);
    assert.ok(piped.out.equals(streamed), args.join(' '));
  }
});

test('rates that are not held are told once, whoever answers, and not where it is quiet', async () => {
  const rows = file('unheld.csv', `zip\n${'92020\n93010\n'.repeat(3_000)}`);
  const asked = ['bulk', rows, '-o', '/dev/null', '--threads', '2'];
  const told = (err: string): readonly string[] => err.match(/"rates not held".{14}/g) ?? [];
  const { err } = await run(asked);
  assert.equal(told(err).length, 2, err);
  assert.notEqual(told(err)[0], told(err)[1]);
  assert.equal((await run([...asked, '--quiet'])).err, '');
});

test('a small file has fewer threads than there are processors, a large one has as many', () => {
  const mebibyte = 1_048_576;
  for (const [bytes, threads] of [
    [0, 1],
    [300, 1],
    [mebibyte / 2 - 1, 1],
    [mebibyte / 2, 2],
    [mebibyte, 4],
    [mebibyte ** 2, 8],
    [null, 8],
  ] as const)
    assert.equal(threadsFor(bytes, 8), threads, String(bytes));
  assert.equal(threadsFor(mebibyte, 1), 1);
});

test('lines are those of a server, with a header and a trailer of their own', async () => {
  const rows = [{ id: 1, address: DOOR }, { id: 'x' }, { id: 2, postalcode: '91020' }];
  const body = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  const streamed = readLines((await sendBulk({ port, type: NDJSON }, body)).body);
  const found = await run(['bulk', file('rows.ndjson', body)]);
  assert.equal(found.code, 3);
  const lines = readLines(found.out);
  assert.equal(lines.header['dataset'], streamed.header['dataset']);
  // Links in answers are absolute where the server knows its own address.
  const plain = (each: object): string =>
    JSON.stringify(each).replaceAll(/"definition":"[^"]*"/g, '');
  assert.deepEqual(lines.rows.map(plain), streamed.rows.map(plain));
  assert.deepEqual([lines.trailer.rows, lines.trailer.codes], [3, streamed.trailer.codes]);
  const none = await run(['bulk', '-', '--input', 'ndjson'], '');
  assert.equal(none.code, 0, none.err);
  assert.equal(readLines(none.out).trailer.rows, 0);
});

test('exit codes and refusals', async () => {
  const good = await run(['bulk', file('good.csv', `address\n"${DOOR}"\n`), '--format', 'ndjson']);
  assert.equal(good.code, 0, good.err);
  assert.equal(readLines(good.out).rows.length, 1);
  const strict = join(dir, 'strict.csv');
  const refused = await run(['bulk', file('bad.csv', table(10)), '--strict', '-o', strict]);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /line 2: .*Nothing was written/);
  assert.ok(!existsSync(strict) && !existsSync(`${strict}.part`));
  const sound = await run(['bulk', '-', '--strict'], `address\n"${DOOR}"\n`);
  assert.equal(sound.code, 0, sound.err);
  assert.equal(sound.out.toString().split('\n').length, 3);
  const input = file('x.csv', table(1));
  const refusals: readonly (readonly [args: readonly string[], code: number, message: RegExp])[] = [
    [['bulk'], 2, /'FILE'/],
    [['bulk', join(dir, 'nothing.csv')], 1, /ENOENT/],
    [['bulk', '-', '--resume'], 2, /--resume/],
    [['bulk', input, '--kind', 'x'], 2, /--kind/],
    [['bulk', input, '--format', 'xml'], 2, /--format/],
    [['bulk', input, '--default', 'a'], 2, /NAME=VALUE/],
    [['bulk', input, '--default', 'historical=x'], 2, /historical/],
    [['bulk', input, '--threads', '0'], 2, /--threads/],
    [['bulk', input, '--map', 'a:b'], 2, /role/],
    [['bulk', input, '--map', 'zip:b'], 1, /no column/],
    [['bulk', input, '-o', join(dir, 'y'), '--resume'], 1, /nothing to resume/],
  ];
  for (const [at, found] of runMany(
    built.varDir,
    refusals.map(([args]) => args),
  ).entries()) {
    const [args, code, message] = refusals[at]!;
    assert.equal(found.code, code, `${args.join(' ')}: ${found.err}`);
    assert.match(found.err, message);
  }
  assert.equal((await run(['bulk', '--help'])).code, 0);
});

test('an interrupted file goes on where it was', async () => {
  const body = table(LONG_ROWS);
  const input = file('long.csv', body);
  const output = join(dir, 'cut.csv');
  const args = ['bulk', input, '-o', output, '--threads', '1'];
  const first = await run(args, '', async (signal) => {
    await eventually(() => existsSync(`${output}.part.json`));
    signal();
  });
  assert.equal(first.code, 130, first.err);
  assert.match(first.err, /interrupted after \d+ rows; go on with --resume/);
  assert.ok(!existsSync(output) && existsSync(`${output}.part`));
  const other = await run([...args, '--resume', '--format', 'ndjson']);
  assert.equal(other.code, 1);
  assert.match(other.err, /options are not the same/);
  // What a killed process wrote beyond its checkpoint is written again.
  writeFileSync(`${output}.part`, 'torn', { flag: 'a' });
  const second = await run([...args, '--resume']);
  assert.equal(second.code, 3, second.err);
  assert.ok(readFileSync(output).equals((await sendBulk({ port, type: CSV }, body)).body));
  assert.ok(!existsSync(`${output}.part.json`));
});

test('a changed input or setting is not gone on with', async () => {
  const input = file('changed.csv', table(LONG_ROWS));
  const output = join(dir, 'changed-out.csv');
  const first = await run(['bulk', input, '-o', output], '', async (signal) => {
    await eventually(() => existsSync(`${output}.part.json`));
    signal();
  });
  assert.equal(first.code, 130, first.err);
  const strict = { SITUS_VAR: built.varDir, SITUS_PRECISION_MIN: 'point' };
  const other = await commands.run(['bulk', input, '-o', output, '--resume'], strict);
  assert.match(other.err, /the options are not the same, or the settings/);
  file('changed.csv', table(3));
  const found = await run(['bulk', input, '-o', output, '--resume']);
  assert.deepEqual([found.code, /input file has changed/.test(found.err)], [1, true]);
});

test('progress is a bar on a terminal and lines elsewhere', () => {
  const clock = { now: 0 };
  const reached = { rows: 0, bytes: 0 };
  for (const isTTY of [true, false]) {
    const written: string[] = [];
    Object.assign(reached, { rows: 0, bytes: 0 });
    const output = {
      isTTY,
      write: (text: string) => {
        written.push(text);
        return true;
      },
    };
    const progress = new RowsProgress(
      output,
      1_000,
      () => ({ ...reached }),
      () => clock.now,
    );
    Object.assign(reached, { rows: 5_000, bytes: 250 });
    clock.now += 2_000;
    progress.show();
    progress.end();
    assert.match(
      written[0] ?? '',
      /#{6}\.{18} {2}25 % {2}5,000 rows {2}2,500 rows\/s {2}0:06 left/,
    );
    assert.equal(written[0]?.startsWith('\r'), isTTY);
    assert.equal(written.at(-1), '\n'.repeat(isTTY ? 1 : 0) || written[0]);
  }
});

const PLANTED = `street,city,state,zip
120 Main St,Elmton,QA,91010
120 MAIN STREET,Elmton,QA,91010
120 Main St,Elmton,QB,91010
,Elmton,QA,91010
no such street at all,,,
120 Main St,Elmton,QA,91010,too,many,cells
`;

test('lint finds what was planted', async () => {
  const input = file('planted.csv', PLANTED);
  const found = await run(['lint', input, '--json']);
  assert.equal(found.code, 3, found.err);
  const report = JSON.parse(found.out.toString()) as {
    readonly rows: number;
    readonly exact: number;
    readonly found: readonly { name: string; rows: number; lines: number[] }[];
    readonly faults: readonly { name: string; rows: number; lines: number[] }[];
  };
  const linesOf = (name: string): readonly number[] =>
    [...report.found, ...report.faults].find((each) => each.name === name)?.lines ?? [];
  assert.equal(report.rows, 6);
  assert.equal(
    report.found.reduce((sum, { rows }) => sum + rows, 0),
    6,
  );
  assert.deepEqual(linesOf('duplicate'), [3]);
  assert.deepEqual(linesOf('ZIP not in state'), [4]);
  assert.deepEqual(linesOf('empty field'), [5, 6]);
  assert.deepEqual(linesOf('malformed'), [7]);
  assert.ok(linesOf('not found').includes(6));
  const people = await run(['lint', input]);
  assert.match(people.out.toString(), /^rows +6$/m);
  assert.match(people.out.toString(), /^duplicate +1 +16\.7 % +line 3$/m);
  const clean = await run(['lint', '-'], `address\n"${DOOR}"\n`);
  assert.equal(clean.code, 0, clean.out.toString());
  const either = await run(['lint', '-'], 'address\n"120 Nowhere Rd, Elmton, QA 91011"\n');
  assert.match(either.out.toString(), /^ {2}ambiguous +1 +100\.0 % +line 2$/m);
  assert.equal((await run(['lint', file('x.ndjson', '{}')])).code, 2);
  assert.equal((await run(['lint', file('none.csv', 'a,b\n1,2\n')])).code, 1);
});
