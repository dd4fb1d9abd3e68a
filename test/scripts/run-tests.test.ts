/** Test files that failed are run once more, alone; what passes then has passed. */
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
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { FILE_PROCESSOR_MS_MAX, timesReport } from '../../scripts/file-times.js';
import { OVER_NODE_TOO } from '../../scripts/over-node-too.js';
import { planOf } from '../../scripts/plan.js';
import { type Company, Sharing } from '../../scripts/together.js';
import { run } from './runs-of-tests.js';

const UNDER_LOAD = ['good', 'todo', 'once', 'killed', 'ended'].map((name) => `${name}.test.mjs`);

test('files that failed, crashed or ended pass when they pass alone, and are named', (context) => {
  const { code, output, told } = run(context, UNDER_LOAD, true);
  assert.equal(code, 0, output);
  assert.deepEqual(
    told,
    ['ended', 'killed', 'once'].map(
      (name) => `${name}.test.mjs failed once, passed when run alone`,
    ),
  );
  assert.ok(output.trimEnd().endsWith(told.at(-1)!), output);
});

test('without it one failure fails the run', (context) => {
  const { code, told } = run(context, ['good.test.mjs', 'once.test.mjs'], false);
  assert.deepEqual([code, told], [1, []]);
});

test('a file that fails twice fails the run, whatever the others do', (context) => {
  const { code, told } = run(
    context,
    ['good.test.mjs', 'once.test.mjs', 'wrong.test.mjs', 'broken.test.mjs'],
    true,
  );
  assert.equal(code, 1);
  assert.deepEqual(told, [
    'broken.test.mjs failed once, and again when run alone',
    'once.test.mjs failed once, passed when run alone',
    'wrong.test.mjs failed once, and again when run alone',
  ]);
});

test('a run without failures tells of none, and options are kept', (context) => {
  const good = run(context, ['good.test.mjs'], true);
  assert.deepEqual([good.code, good.told], [0, []], good.output);
  const options = ['--test-name-pattern=none', '--test-reporter=dot'];
  const none = run(context, ['wrong.test.mjs'], true, options);
  assert.deepEqual([none.code, none.told], [0, []], none.output);
  assert.ok(!none.output.includes('TAP version'), none.output);
});

test('a run that breaks off before it told what failed is no success', (context) => {
  const { code, told } = run(context, ['once.test.mjs'], true, ['--no-such-option']);
  assert.deepEqual([code, told], [9, []]);
});

test('certificates that every start would read are kept for what asks a registry', (context) => {
  const { code, output } = run(
    context,
    ['authorities.test.mjs'],
    false,
    [],
    {},
    {
      NODE_EXTRA_CA_CERTS: '/certificates',
    },
  );
  assert.equal(code, 0, output);
});

test('a run over the HTTP server of Node.js is one', (context) => {
  const { code, output } = run(context, ['over.test.mjs'], false, [], { overNode: true });
  assert.equal(code, 0, output);
});

test('files run over the HTTP server of Node.js too, alone or with others, and fail by a name of their own', (context) => {
  const good = ['good.test.mjs', 'over.test.mjs'];
  const { code, output } = run(context, good, false, [], {
    files: ['good.test.mjs'],
    overNodeToo: good,
  });
  assert.equal(code, 0, output);
  const names = ['good.test.mjs', 'over.test.mjs', 'first.test.mjs', 'wrong.test.mjs'];
  const shared = run(context, names, true, [], {
    files: ['good.test.mjs'],
    overNodeToo: names,
    together: '.',
  });
  const lines = shared.output
    .split('\n')
    .filter((line) => / over the HTTP server of Node\.js$/.test(line) && /^(?:not )?ok/.test(line))
    .map((line) => line.replace(/ok \d+ - (\S+), .*/, 'ok $1'));
  assert.deepEqual(lines.sort(), [
    'not ok wrong.test.mjs',
    'ok first.test.mjs',
    'ok good.test.mjs',
    'ok over.test.mjs',
  ]);
  assert.equal(shared.code, 1);
  assert.deepEqual(shared.told, [
    'wrong.test.mjs, over the HTTP server of Node.js failed once, and again when run alone',
  ]);
});

/** Files that may share a process; the first imports what may not, and has one of its own. */
const SHARED = ['alone', 'first', 'hooked', 'unread', 'last'].map((name) => `${name}.test.mjs`);

test('files that only calculate run in one process, each as a suite of its own', (context) => {
  const { code, output, told } = run(context, SHARED, true, [], { together: '.' });
  assert.equal(code, 1, output);
  assert.deepEqual(
    told,
    ['last', 'unread'].map((name) => `${name}.test.mjs failed once, and again when run alone`),
  );
  const [, shared] = /^# shared: (\d+)$/m.exec(output) ?? [];
  assert.ok(shared !== undefined, output);
  for (const name of ['first', 'hooked', 'last']) {
    assert.match(output, new RegExp(`^    # Subtest: ${name} in ${shared}$`, 'm'), output);
  }
  assert.ok(!output.includes(`alone in ${shared}`), output);
  assert.match(output, /^# Subtest: alone in \d+$/m);
});

test('what processes took is told, the dearest first, and a dear file is warned of', (context) => {
  const { code, output } = run(context, ['good.test.mjs', 'dear.test.mjs'], false, [], {
    together: '.',
  });
  assert.equal(code, 0, output);
  const told = output
    .split('\n')
    .filter((line) => line.startsWith('# '))
    .slice(-3);
  assert.match(
    told[0]!,
    /^# \d+\.\d s of processor time in 2 processes of tests, \d+\.\d s by the clock/,
  );
  assert.match(told[1]!, /^# +\d+\.\d s, +\d+\.\d s by the clock: dear\.test\.mjs$/);
  assert.match(told[2]!, /: good\.test\.mjs$/);
  const took = Number(/[\d.]+/.exec(told[1]!)?.[0]);
  assert.ok(took >= 0.5, `a child's time counts: ${took} s`);
});

test('a file over the limit is warned of', () => {
  const times = new Map([
    ['dear.test.js', { processorMs: FILE_PROCESSOR_MS_MAX + 100, clockMs: 1 }],
    ['cheap.test.js', { processorMs: FILE_PROCESSOR_MS_MAX, clockMs: 1 }],
    ['24 files in one process', { processorMs: 9 * FILE_PROCESSOR_MS_MAX, clockMs: 1 }],
  ]);
  const warnings = timesReport(times, 1)
    .split('\n')
    .filter((line) => line.includes('warning'));
  assert.deepEqual(
    warnings.map((line) => line.split(' ')[2]),
    ['dear.test.js'],
  );
});

test('what builds the large datasets begins first, then what took long, and what asks them amid', (context) => {
  const root = mkdtempSync(join(tmpdir(), 'situs-plan-'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  const process = "process.chdir('/');\n";
  const starting = "import { spawn } from 'node:child_process';\n";
  const files: Readonly<Record<string, string>> = {
    'asks.test.js': `${process}buildRecipe('default');`,
    'long.test.js': process,
    'new.test.js': process,
    'service/default.test.js': `${process}openRecipe('default');`,
    'short.test.js': process,
    'pure-1.test.js': '',
    'pure-2.test.js': '',
    'with-1.test.js': starting,
    'with-2.test.js': starting,
    'service/abort.test.js': starting,
  };
  mkdirSync(join(root, 'service'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  const times = new Map(
    [
      ['long.test.js', 9],
      ['short.test.js', 3],
    ].map(([name, ms]) => [String(name), { processorMs: Number(ms), clockMs: Number(ms) }]),
  );
  const plan = planOf(root, '.', Object.keys(files), times);
  assert.deepEqual(
    plan.map((unit) => unit.files),
    [
      ['service/default.test.js'],
      ['service/abort.test.js'],
      ['with-1.test.js', 'with-2.test.js'],
      ['pure-1.test.js', 'pure-2.test.js'],
      ['asks.test.js'],
      ['new.test.js'],
      ['long.test.js'],
      ['short.test.js'],
    ],
  );
});

test('what a file imports decides whether it shares a process, whoever imports it', (context) => {
  const root = mkdtempSync(join(tmpdir(), 'situs-sharing-'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  for (const room of ['pool', 'service', 'support'])
    mkdirSync(join(root, 'test', room), { recursive: true });
  const files: Readonly<Record<string, string>> = {
    'deep.js': "import net from 'node:net';",
    'calm.js': "process.env['A'] = 'b';",
    'starting.js': "import { spawn } from 'node:child_process';",
    'test/one.js':
      "import { a } from '../calm.js';\nif (process.env['A'] === 'b') context.after(a);",
    'test/two.js': "export * from './support.js';",
    'test/support.js': "import '../deep.js';",
    'test/three.js': "const { a } = await import('../deep.js');",
    'test/four.js': "process.env['A'] = 'b';",
    'test/five.js': 'const now = mock.timers;',
    'test/six.js': "import { a } from './gone.js';",
    'test/seven.js': "import a from 'unheard-of';",
    'test/eight.js': "import '../starting.js';",
    'test/nine.js': "import { spawn } from 'node:child_process';",
    'test/ten.js': "import './nine.js';",
    'test/eleven.js': 'const begun = performance.now();',
    'test/fourteen.js': "import { runInThisContext } from 'node:vm';",
    'test/support/server-process.js':
      "import { spawn } from 'node:child_process';\nread('/proc/1');",
    'test/fifteen.js': "import './support/server-process.js';",
    'test/sixteen.js': "read('/proc/self/fd');",
    'test/pool/seventeen.js': "import '../../deep.js';",
    'test/service/twelve.js': "import '../../deep.js';",
    'test/service/thirteen.js': "import '../../calm.js';",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  const sharing = new Sharing(join(root, 'test'));
  const those = (company: Company): readonly string[] =>
    Object.keys(files)
      .filter((name) => name.startsWith('test/') && sharing.companyOf(join(root, name)) === company)
      .map((name) => name.slice('test/'.length, -'.js'.length));
  assert.deepEqual(those('calculating'), ['one', 'service/thirteen']);
  assert.deepEqual(those('serving'), ['two', 'support', 'three', 'six', 'seven', 'eight']);
  assert.deepEqual(those('starting'), [
    'nine',
    'ten',
    'support/server-process',
    'fifteen',
    'service/twelve',
  ]);
  assert.deepEqual(those('alone'), [
    'four',
    'five',
    'eleven',
    'fourteen',
    'sixteen',
    'pool/seventeen',
  ]);
});

/** They start servers, and are run once: what they hold is not the server's affair, or they ask both. */
const ONCE: readonly string[] = ['hostile-json', 'late-requests', 'torn', 'transport'];

test('every test of HTTP that starts a server is run over both', () => {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  for (const file of OVER_NODE_TOO) assert.ok(existsSync(join(root, file)), file);
  const starting = readdirSync(join(root, 'test', 'http')).filter((name) =>
    /startStubServer|startChildServer|App\.start|startMerchants|createServer/.test(
      readFileSync(join(root, 'test', 'http', name), 'utf8'),
    ),
  );
  assert.ok(starting.length > 5);
  for (const name of starting) {
    const once = ONCE.includes(name.replace('.test.ts', ''));
    assert.equal(OVER_NODE_TOO.includes(`test/http/${name}`), !once, name);
  }
});
