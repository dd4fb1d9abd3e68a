/** `situs bulk -o`: no other file is lost, and no two runs write one output. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openRowsOutput, PartialFile } from '../../src/cli/rows-output.js';
import { ownMark } from '../../src/store/process-mark.js';
import { buildRecipe, CLI, type Built } from '../support/built-dataset.js';
import { CommandProcess } from '../support/command-process.js';
import type { Ran } from '../support/run-command.js';

const TABLE = 'address\n"120 Main St, Elmton, QA 91010"\n';

const commands = new CommandProcess();
let built: Built;
let dir: string;
let rows: string;

before(() => {
  built = buildRecipe('fixture');
  dir = mkdtempSync(join(tmpdir(), 'situs-output-'));
  rows = join(dir, 'rows.csv');
  writeFileSync(rows, TABLE);
});

after(async () => {
  await commands.end();
  built.remove();
  rmSync(dir, { recursive: true, force: true });
});

function run(args: readonly string[]): Promise<Ran> {
  return commands.run(['bulk', ...args], { SITUS_VAR: built.varDir });
}

test('no file is read that the run itself would replace or remove', async () => {
  const out = join(dir, 'x.csv');
  for (const file of [
    `${out}.part`,
    `${out}.part.json`,
    `${out}.part.json.new`,
    `${out}.part.run`,
  ]) {
    writeFileSync(file, TABLE);
    const ended = await run([file, '--input', 'csv', '-o', out]);
    assert.equal(ended.code, 2, ended.err);
    assert.ok(ended.err.includes(`${file} is the file that is read`), ended.err);
    assert.equal(readFileSync(file, 'utf8'), TABLE);
    rmSync(file);
  }
});

test('a run is refused while another one writes its output, and not after its end', async () => {
  const out = join(dir, 'held.csv');
  const letGo = new PartialFile(out).hold();
  writeFileSync(`${out}.part`, 'of the other run');
  // As if it had stood still since.
  utimesSync(`${out}.part.run`, 0, 0);
  for (const resume of [[], ['--resume']]) {
    const ended = await run([rows, '-o', out, ...resume]);
    assert.equal(ended.code, 1);
    assert.match(ended.err, /^situs: another run writes [^\n]*held\.csv\.part: wait [^\n]*\n$/);
  }
  assert.equal(readFileSync(`${out}.part`, 'utf8'), 'of the other run');
  letGo();
  assert.equal((await run([rows, '-o', out])).code, 0);
  // A killed process leaves its mark; another process may have its number since.
  writeFileSync(`${out}.part.run`, JSON.stringify({ ...ownMark(), began: '1' }));
  const ended = await run([rows, '-o', out]);
  assert.equal(ended.code, 0, ended.err);
  assert.ok(!existsSync(`${out}.part.run`));
});

test('the note of an earlier run ends with the output that it is of', async () => {
  const partial = new PartialFile(join(dir, 'noted.csv'));
  writeFileSync(partial.path, 'earlier');
  writeFileSync(`${partial.path}.json`, '{}');
  assert.ok(partial.hasBegun);
  const about = {
    job: 'bulk_new',
    nowMs: 0,
    dataset: '',
    input: { bytes: 0, modifiedMs: 0 },
    options: '',
  };
  const { close } = await openRowsOutput(partial, about, null);
  await close();
  assert.equal(readFileSync(partial.path, 'utf8'), '');
  assert.ok(!partial.hasBegun);
});

test('the file that standard output is added to is not replaced', () => {
  const all = join(dir, 'all.csv');
  writeFileSync(all, 'earlier\n');
  const fd = openSync(all, 'a');
  const env = { PATH: process.env['PATH'], SITUS_VAR: built.varDir };
  for (const [args, code] of [
    [[rows, '-o', '/dev/stdout'], 0],
    [[all], 2],
  ] as const) {
    const ended = spawnSync(process.execPath, [CLI, 'bulk', ...args, '--quiet'], {
      env,
      stdio: ['ignore', fd, 'pipe'],
    });
    assert.equal(ended.status, code, String(ended.stderr));
  }
  closeSync(fd);
  assert.match(readFileSync(all, 'utf8'), /^earlier\naddress,situs_rate.*\n.*,100,\n$/);
});

test('a symbolic link to a file that is to be made stays one', async () => {
  const [target, link] = [join(dir, 'later.csv'), join(dir, 'later-link.csv')];
  symlinkSync('later.csv', link);
  assert.equal((await run([rows, '-o', link])).code, 0);
  assert.ok(lstatSync(link).isSymbolicLink());
  assert.match(readFileSync(target, 'utf8'), /,100,\n$/);
});

test('standard output that is a pipe is written as such, under its path too', () => {
  const env = { PATH: process.env['PATH'], SITUS_VAR: built.varDir };
  const command = `"${process.execPath}" "${CLI}" bulk "${rows}" --quiet -o /dev/stdout | cat`;
  const ended = spawnSync('sh', ['-c', command], { env, encoding: 'utf8' });
  assert.equal(ended.stderr, '');
  assert.match(ended.stdout, /^address,situs_rate.*\n.*,100,\n$/);
});
