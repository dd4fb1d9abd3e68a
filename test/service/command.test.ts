/** The `situs` command as a user runs it. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { percent } from '../../src/cli/lookup.js';
import { buildRecipe, type Built, CLI } from '../support/built-dataset.js';
import { CommandProcess } from '../support/command-process.js';
import type { Ran } from '../support/run-command.js';

let built: Built;

before(() => {
  built = buildRecipe('fixture');
});

const commands = new CommandProcess();

after(async () => {
  await commands.end();
  built.remove();
});

/** One command after the other in a process that has begun; the error of one that fails is thrown. */
async function situs(...words: readonly string[]): Promise<string> {
  const { code, out, err } = await commands.run(words, { SITUS_VAR: built.varDir });
  if (code !== 0) throw new Error(err);
  return out;
}

/** Several, whatever becomes of them. */
function runAll(lines: readonly (readonly string[])[]): Promise<readonly Ran[]> {
  return commands.runAll(lines, { SITUS_VAR: built.varDir });
}

function run(
  args: readonly string[],
  varDir = built.varDir,
): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], {
    env: { ...process.env, SITUS_VAR: varDir },
    encoding: 'utf8',
  });
  return { code: status, out: stdout, err: stderr };
}

test('the same recipe gives the same id again, and the id is the last line', async () => {
  const words = ['dataset', 'build', '--recipe', 'fixture'];
  const { out, err } = await commands.run(words, { SITUS_VAR: built.varDir });
  assert.equal(out.trim().split('\n').at(-1), built.name);
  // Progress off a terminal is plain lines.
  assert.match(err, /^boundaries: 1 of 3$/m);
  assert.ok(!err.includes('\r'));
});

test('lookup prints a table, or the body as the API gives it', async () => {
  const table = await situs('lookup', '120 Main St, Elmton, QA 91010');
  assert.match(table, /120 Main St, Elmton, QA 91010, United States/);
  assert.match(table, /total\s+7\.75 %/);
  assert.match(table, /found by point/);
  const [json, far, ...points] = await runAll([
    ['lookup', '--json', '91020'],
    ['lookup', '-14.3', '-170.7'],
    ['lookup', '10.18,-29.8'],
    ['lookup', '10.18', '-29.8'],
    ['lookup', '10.18,', '-29.8'],
  ]);
  assert.equal((JSON.parse(json!.out) as { rCode: number }).rCode, 100);
  for (const { code, out } of points) {
    assert.equal(code, 0);
    assert.match(out, /Fernville/);
  }
  assert.match(far!.err, /^110: .*\nTo see what is held: npx situs dataset coverage/);
});

test('lookup tells what a product is taxed with', async () => {
  const door = '120 Main St, Elmton, QA 91010';
  const [clothing, body, unknown, zip] = await runAll([
    ['lookup', '--tic', '20010', door],
    ['lookup', '--json', '--tic', '20010', door],
    ['lookup', '--tic', 'abc', door],
    ['lookup', '--tic', '20010', '91010'],
  ]);
  const {
    title,
    rateRules: [rule],
  } = (
    JSON.parse(body!.out) as {
      productDetail: {
        taxabilityCode: { title: string; rateRules: { effectiveTaxRate: number }[] };
      };
    }
  ).productDetail.taxabilityCode;
  const told = percent(rule?.effectiveTaxRate ?? -1);
  assert.ok(clothing!.out.includes(`\n20010 ${title}: ${told}`), clothing!.out);
  assert.match(unknown!.out, /^abc: there is no such product code/m);
  assert.deepEqual(
    [zip!.code, zip!.err],
    [2, 'situs: --tic needs an address or a point; this is a ZIP\n'],
  );
});

test('lookup answers by the settings of the service', async () => {
  const { code, out, err } = await commands.run(['lookup', '10.18,-29.8'], {
    SITUS_VAR: built.varDir,
  });
  assert.deepEqual([code, err], [0, '']);
  assert.match(out, /found by polygon/);
  const strict = await commands.run(['lookup', '--json', '10.18,-29.8'], {
    SITUS_VAR: built.varDir,
    SITUS_PRECISION_MIN: 'point',
    SITUS_BASE_URL: 'https://rates.example',
  });
  assert.equal(strict.code, 1);
  assert.match(strict.out, /"code":109,.*this server asks for point or better/);
  assert.match(strict.out, /"definition":"https:\/\/rates\.example\/request\/v60\/schema"/);
});

test('what is meant to be a ZIP is told that it is none, a missing file by its name', async () => {
  const none = join(built.varDir, 'none');
  const [short, long, receipt, verify] = await runAll([
    ['lookup', '9102'],
    ['lookup', '91020-1234'],
    ['replay', none],
    ['bulk', none],
  ]);
  for (const { code, err } of [short!, long!]) {
    assert.equal(code, 1);
    assert.match(err, /^104: .*five digits/);
  }
  for (const { code, err } of [receipt!, verify!]) {
    assert.deepEqual([code, err], [1, `situs: there is no file or folder ${none} (ENOENT)\n`]);
  }
});

test('a refusal exits with 1 and says why, bad usage with 2', async () => {
  const refused = run(['lookup', '99999']);
  assert.equal(refused.code, 1);
  assert.equal(refused.out, '');
  assert.match(refused.err, /^110: /);
  const [asJson, help, ...misread] = await runAll([
    ['lookup', '--json', '99999'],
    ['--help'],
    ['lookup'],
    ['nonsense'],
    ['dataset', 'nonsense'],
    ['lookup', '--nonsense', '1'],
    [],
  ]);
  assert.deepEqual([asJson!.code, asJson!.err, help!.code], [1, '', 0]);
  assert.match(asJson!.out, /^\{.*"code":110,/);
  assert.deepEqual(
    misread.map(({ code }) => code),
    [2, 2, 2, 2, 2],
  );
  assert.equal(run(['nonsense']).code, 2, 'also as a process of its own');
});

test('verify, list and coverage speak of the active release', async () => {
  assert.match(await situs('dataset', 'verify'), /sound/);
  assert.match(await situs('dataset', 'list'), new RegExp(`${built.name}.*active`));
  const listed = JSON.parse(await situs('dataset', 'list', '--json')) as {
    name: string;
    kept: string | null;
  }[];
  assert.deepEqual(
    listed.map(({ name, kept }) => [name, kept]),
    [[built.name, 'active']],
  );
  const coverage = await situs('dataset', 'coverage');
  assert.match(coverage, /\| QB \|.*partial \(1\)/);
  const json = JSON.parse(await situs('dataset', 'coverage', '--json')) as { state: string }[];
  assert.ok(json.some(({ state }) => state === 'QA'));
});

test('coverage is weighed by what a file says of each ZIP, those that are not held included', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'situs-weights-'));
  try {
    const file = join(dir, 'orders.csv');
    const weigh = (): Promise<string> => situs('dataset', 'coverage', '--weights', file, '--json');
    const states = JSON.parse(await situs('dataset', 'coverage', '--population', '--json')) as {
      state: string;
      zips: number;
      certain: number;
      unknown: number;
    }[];
    assert.ok(states.every(({ state }) => state !== '-'));
    // Of QA's four ZIPs 91020 alone is certain, and QC's rate is not held.
    writeFileSync(
      file,
      'ZIP code,Orders\r\n91020,1.5\r\n91010,6,x\r\n"91020",0.5\r\n00001,10\r\n93010,8\r\n',
    );
    const weighed = JSON.parse(await weigh()) as ((typeof states)[number] & {
      population: number;
    })[];
    assert.deepEqual(
      weighed.map(({ state, population, zips, certain, unknown }) => [
        state,
        population,
        zips,
        certain,
        unknown,
      ]),
      [
        ['-', 10, 1, 0, 1_000_000],
        ['QA', 8, 2, 250_000, 0],
        ['QC', 8, 1, 0, 1_000_000],
      ],
    );
    writeFileSync(file, '91020,0\n');
    assert.equal((JSON.parse(await weigh()) as typeof states)[0]?.certain, 0);
    for (const [text, told] of [
      ['zip,orders\n9700,1\n', /orders\.csv, row 2: "9700" is no ZIP code of five digits/],
      ['97002,1\n97002,-1\n', /orders\.csv, row 2: "-1" is no figure from 0 to 1000000000000/],
      ['97002,1e3\n', /row 1: "1e3" is no figure/],
      ['zip,orders\n', /orders\.csv has no ZIP codes/],
    ] as const) {
      writeFileSync(file, text);
      await assert.rejects(weigh(), told);
    }
    rmSync(file);
    await assert.rejects(weigh(), /orders\.csv/);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test('an unknown recipe, layer or missing sources is a clear sentence', async () => {
  await assert.rejects(
    situs('dataset', 'build', '--recipe', 'nothing'),
    /no recipe "nothing"; there are: default, fixture/,
  );
  await assert.rejects(
    situs('dataset', 'build', '--recipe', 'fixture', '--with', 'magic'),
    /no layer "magic"/,
  );
  await assert.rejects(
    situs('dataset', 'build', '--recipe', 'default', '--with', 'estimated'),
    /the recipe default has no layer "estimated"/,
  );
  await assert.rejects(situs('dataset', 'build', '--recipe', 'reference'), /--sources DIR/);
  for (const none of ['/no/such/folder', process.execPath, '']) {
    const words = ['dataset', 'build', '--recipe', 'fixture', '--sources', none];
    await assert.rejects(situs(...words), /--sources names ".*", which is no folder/, none);
  }
  await assert.rejects(situs('dataset', 'activate', 'zzz'), /no dataset matches/);
});

test('keys are made, listed, changed and disabled; the key is shown once', async () => {
  const made = JSON.parse(
    await situs('key', 'create', '--plan', 'pro', '--account', 'shop', '--json'),
  ) as { key: string; id: string };
  assert.ok(made.key.length >= 10);
  const list = await situs('key', 'list');
  assert.match(list, /shop {2}pro {2}500\/min {2}active/);
  assert.ok(!list.includes(made.key));
  const [updated, disabled, refused] = await runAll([
    ['key', 'update', made.key, '--rate', '77'],
    ['key', 'disable', made.key],
    ['key', 'create', '--plan', 'gold'],
  ]);
  assert.deepEqual(
    [updated, disabled, refused].map((ran) => ran!.code),
    [0, 0, 2],
  );
  assert.match(updated!.out, /77\/min/);
  assert.match(disabled!.out, /disabled/);
});

test('an interrupted build leaves nothing half-written', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'situs-interrupt-'));
  try {
    const child = spawn(process.execPath, [CLI, 'dataset', 'build', '--recipe', 'default'], {
      env: { ...process.env, SITUS_VAR: dir },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await once(child.stderr, 'data');
    // Twice, as of whoever is impatient: what is left is removed all the same.
    for (let times = 0; times < 2; times += 1) {
      child.kill('SIGINT');
      await delay(20);
    }
    const [code] = (await once(child, 'exit')) as [number | null];
    assert.equal(code, 130);
    const left = existsSync(join(dir, 'datasets')) ? readdirSync(join(dir, 'datasets')) : [];
    assert.deepEqual(left, []);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
