/** How the `situs` command takes its words: help, the version, one too many, a missing store. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { packageRoot } from '../../src/ingest/source-files.js';
import { CLI } from '../support/built-dataset.js';
import { newVarDir } from '../support/http-var-dir.js';
import { CommandProcess } from '../support/command-process.js';
import type { Ran } from '../support/run-command.js';

/** A command that waits for ever is ended, and its code is then null. */
const MS_MAX = 300_000;

const commands = new CommandProcess();

after(() => commands.end());

function runAll(varDir: string, lines: readonly (readonly string[])[]): Promise<readonly Ran[]> {
  return commands.runAll(lines, { SITUS_VAR: varDir });
}

function run(varDir: string, args: readonly string[]): Promise<Ran> {
  return commands.run(args, { SITUS_VAR: varDir });
}

/** As a process of its own. */
function runAlone(varDir: string, args: readonly string[]): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], {
    env: { ...process.env, SITUS_VAR: varDir },
    encoding: 'utf8',
    timeout: MS_MAX,
  });
  return { code: status, out: stdout, err: stderr };
}

const VERBS: Readonly<Record<string, readonly string[]>> = {
  serve: [''],
  lookup: [''],
  replay: [''],
  bulk: [''],
  stream: [''],
  lint: [''],
  doctor: [''],
  simulate: ['', 'provider'],
  dataset: [
    '',
    'build',
    'verify',
    'activate',
    'rollback',
    'list',
    'diff',
    'coverage',
    'fetch',
    'sign',
    'pack',
    'unpack',
    'prune',
  ],
  key: ['', 'create', 'list', 'update', 'disable', 'enable'],
  events: ['', 'list', 'replay', 'enable'],
  secrets: ['', 'rotate'],
  store: ['', 'backup', 'verify', 'restore'],
  audit: ['', 'list'],
};

test('every command and each of its verbs tells its usage', async (context) => {
  const varDir = newVarDir(context);
  const lines = Object.entries(VERBS).flatMap(([name, verbs]) =>
    verbs.map((verb) => (verb === '' ? [name] : [name, verb])),
  );
  const asked = lines.map((words, index) => [...words, index % 2 === 0 ? '--help' : '-h']);
  for (const [index, { code, out, err }] of (await runAll(varDir, asked)).entries()) {
    const words = lines[index]!.join(' ');
    assert.deepEqual([code, err], [0, ''], words);
    assert.ok(out.includes(`situs ${words}`), `${words}: ${out}`);
  }
  assert.deepEqual(readdirSync(varDir), ['datasets'], 'nothing was done');
});

test('help names every command, and the version is that of the package', (context) => {
  const varDir = newVarDir(context);
  const { code, out } = runAlone(varDir, ['-h']);
  assert.equal(code, 0);
  for (const name of Object.keys(VERBS)) assert.match(out, new RegExp(`^  ${name} `, 'm'));
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
    version: string;
  };
  for (const option of ['--version', '-v']) {
    assert.deepEqual(runAlone(varDir, [option]), { code: 0, out: `${version}\n`, err: '' });
  }
});

test('an option that no command has is named first, with the nearest that it has', async (context) => {
  const varDir = newVarDir(context);
  const verbs = Object.entries(VERBS).flatMap(([name, each]) =>
    each.map((verb) => (verb === '' ? [name] : [name, verb])),
  );
  const strange = verbs.map((words) => [...words, '--nonesuch']);
  for (const [index, { code, out, err }] of (await runAll(varDir, strange)).entries()) {
    assert.deepEqual([code, out], [2, ''], strange[index]!.join(' '));
    assert.equal(err, 'situs: unknown option --nonesuch\n', strange[index]!.join(' '));
  }
  const near = [
    ['key create --plann pro', 'option --plann; did you mean --plan?'],
    ['key update --rat=5 a', 'option --rat=5; did you mean --rate?'],
    ['stream --nat nats://a', 'option --nat; did you mean one of --at, --nats?'],
    ['lookup --historicl 202501 91010', 'option --historicl; did you mean --historical?'],
    ['kye list', 'command kye; did you mean key?'],
    ['dataset bild', 'command bild; did you mean build?'],
  ] as const;
  const ran = await runAll(
    varDir,
    near.map(([line]) => line.split(' ')),
  );
  for (const [index, { code, err }] of ran.entries()) {
    assert.deepEqual([code, err], [2, `situs: unknown ${near[index]![1]}\n`]);
  }
  assert.deepEqual(readdirSync(varDir), ['datasets'], 'nothing was done');
});

test('what follows -- is no option', async (context) => {
  assert.deepEqual(await run(newVarDir(context), ['key', 'list', '--', '--help']), {
    code: 2,
    out: '',
    err: 'situs: "--help" is one word too many; --help tells what the command takes\n',
  });
});

test('an option is no value of the one before it', async (context) => {
  const varDir = newVarDir(context);
  const lines = [
    ['bulk', 'a', '-o', '--resume'],
    ['dataset', 'fetch', '--to', '--list'],
    ['lint', 'a', '--map', '--json'],
    ['audit', 'list', '--since', '--json'],
    ['key', 'create', '--plan', 'pro', '--account', '--json'],
  ];
  for (const [index, { code, out, err }] of (await runAll(varDir, lines)).entries()) {
    const args = lines[index]!;
    assert.deepEqual([code, out], [2, ''], args.join(' '));
    assert.match(err, new RegExp(`^situs: [^\\n]*"${args.at(-1)}" is an option\\n$`));
  }
  assert.deepEqual(readdirSync(varDir), ['datasets']);
});

test('a day that is none, and an account that breaks its line, are refused', async (context) => {
  const varDir = newVarDir(context);
  const lines = [
    ['audit', 'list', '--since', '2026-02-30'],
    ['audit', 'list', '--since', '2026-04-31T12:00:00Z'],
    ['audit', 'list', '--since', '2026'],
    ['key', 'create', '--plan', 'pro', '--account', ''],
    ['key', 'create', '--plan', 'pro', '--account', 'shop\nother'],
    ['key', 'create', '--plan', 'pro', '--account', '\u001b[2Jshop'],
  ];
  for (const [index, { code, out, err }] of (await runAll(varDir, lines)).entries()) {
    assert.deepEqual([code, out], [2, ''], lines[index]!.join(' '));
    assert.match(err, /^situs: --(?:since ".*" is no day or moment|account has 1 to 255)[^\n]*\n$/);
  }
  assert.deepEqual(readdirSync(varDir), ['datasets']);
});

test('a command without its verb tells its usage and is refused', async (context) => {
  const varDir = newVarDir(context);
  const names = ['dataset', 'key', 'events', 'secrets', 'store', 'audit', 'simulate'];
  const all = await runAll(
    varDir,
    names.map((name) => [name]),
  );
  for (const [index, { code, out, err }] of all.entries()) {
    const name = names[index];
    assert.deepEqual([code, out], [2, ''], name);
    assert.ok(err.includes(`situs ${name} `), err);
  }
});

test('a word too many is named, and nothing is done', async (context) => {
  const varDir = newVarDir(context);
  const lines = [
    ['serve'],
    ['bulk', 'a'],
    ['lint', 'a'],
    ['doctor'],
    ['simulate', 'provider'],
    ['dataset', 'build'],
    ['dataset', 'verify', 'a'],
    ['dataset', 'activate', 'a'],
    ['dataset', 'rollback'],
    ['dataset', 'list'],
    ['dataset', 'diff', 'a', 'b'],
    ['dataset', 'coverage', 'a'],
    ['dataset', 'fetch'],
    ['key', 'create', '--plan', 'pro'],
    ['key', 'list'],
    ['key', 'update', 'a'],
    ['key', 'disable', 'a'],
    ['key', 'enable', 'a'],
    ['events', 'list'],
    ['events', 'replay', 'a'],
    ['events', 'enable'],
    ['secrets', 'rotate'],
    ['store', 'backup', 'a'],
    ['store', 'verify', 'a'],
    ['store', 'restore', 'a'],
  ];
  const all = await runAll(
    varDir,
    lines.map((args) => [...args, 'surplus']),
  );
  for (const [index, { code, out, err }] of all.entries()) {
    assert.deepEqual([code, out], [2, ''], lines[index]!.join(' '));
    assert.match(err, /^situs: [^\n]*["']surplus["'][^\n]*\n$/);
  }
  assert.deepEqual(readdirSync(varDir), ['datasets']);
});

test('an unknown recipe is told with those there are', async (context) => {
  const varDir = newVarDir(context);
  assert.deepEqual(await run(varDir, ['dataset', 'build', '--recipe', 'nosuch']), {
    code: 2,
    out: '',
    err: 'situs: there is no recipe "nosuch"; there are: default, fixture, reference\n',
  });
  assert.deepEqual(await run(varDir, ['dataset', 'fetch', '--recipe', 'nosuch', '--list']), {
    code: 2,
    out: '',
    err: 'situs: recipe "nosuch" has no list of downloads; these have: reference\n',
  });
  const usage = (await run(varDir, ['dataset', 'build', '--help'])).out;
  assert.match(usage, /--recipe <NAME> .*\(default: "default"\)/);
});

test('only commands that put something into a store make one', async (context) => {
  const varDir = join(newVarDir(context), 'mistyped');
  const lines = [
    ['key', 'list'],
    ['key', 'update', 'abcdef'],
    ['key', 'disable', 'abcdef'],
    ['key', 'enable', 'abcdef'],
    ['events', 'list'],
    ['events', 'replay', '--dead'],
    ['events', 'enable'],
    ['secrets', 'rotate'],
    ['secrets', 'rotate', '--status'],
    ['store', 'backup', join(varDir, 'backup')],
  ];
  for (const [index, ended] of (await runAll(varDir, lines)).entries()) {
    assert.deepEqual(
      ended,
      {
        code: 1,
        out: '',
        err:
          `situs: there is no store in ${varDir}, the folder that SITUS_VAR ` +
          'names; "situs serve" and "situs key create" make one\n',
      },
      lines[index]!.join(' '),
    );
  }
  const { code, out, err } = await run(varDir, ['dataset', 'list']);
  assert.deepEqual([code, out], [0, '']);
  assert.equal(
    err,
    `there is no dataset in ${varDir}, the folder that SITUS_VAR names; ` +
      'build one with: npx situs dataset build --activate\n',
  );
  assert.ok(!existsSync(varDir));
  assert.equal((await run(varDir, ['key', 'create', '--plan', 'pro'])).code, 0);
  assert.equal((await run(varDir, ['key', 'list'])).out.trim().split('\n').length, 1);
});

test('a folder that cannot be made ends the command with a sentence', async (context) => {
  const file = join(newVarDir(context), 'file');
  writeFileSync(file, '');
  // A file system that takes no folders and says that they do not exist.
  const places = existsSync('/proc/self') ? [file, '/proc'] : [file];
  for (const varDir of places) {
    for (const args of [
      ['key', 'create', '--plan', 'pro'],
      ['dataset', 'build', '--recipe', 'fixture'],
    ]) {
      const { code, out, err } = await run(varDir, args);
      assert.deepEqual([code, out], [1, ''], args.join(' '));
      assert.match(err, /^situs: the folder \S+ cannot be made, SITUS_VAR says where: [^\n]+\n$/);
    }
  }
  mkdirSync(`${file}.d`);
  writeFileSync(join(`${file}.d`, 'store'), '');
  const { err } = await run(`${file}.d`, ['key', 'create', '--plan', 'pro']);
  assert.match(err, /store is not a folder\n$/);
});
