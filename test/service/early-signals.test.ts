/** Signals that do not end a server, sent while it and its listeners begin. */
import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test, type TestContext } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { releasesDir } from '../../src/dataset/release.js';
import { WindowKeeper } from '../../src/limit/listener-rates.js';
import { ClientKeeper } from '../../src/listener/shared-clients.js';
import { Slot } from '../../src/listener/slot.js';
import { SILENT } from '../../src/log.js';
import { buildRecipe, type Built, LATER_OPTIMIZED } from '../support/built-dataset.js';
import { eventually } from '../support/http-eventually.js';
import { newVarDir } from '../support/http-var-dir.js';

/** Module by module, as it was compiled, and not as one file. */
const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));
const compiled = (file: string): string => new URL(`../../src/${file}`, import.meta.url).href;

let built: Built;

before(() => {
  built = buildRecipe('fixture');
});

after(() => built.remove());

interface Begun {
  readonly child: ChildProcess;
  readonly lines: readonly string[];
}

/** Starts a program with what it says. */
function begin(
  context: TestContext,
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
): Begun {
  const lines: string[] = [];
  const child = spawn(process.execPath, [...LATER_OPTIMIZED, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: '0', ...environment },
  });
  context.after(() => child.kill('SIGKILL'));
  for (const output of [child.stdout, child.stderr]) {
    createInterface({ input: output }).on('line', (line) => lines.push(line));
  }
  return { child, lines };
}

const isSaid = ({ lines }: Begun, text: string): boolean =>
  lines.some((line) => line.includes(text));

/** The server, which runs `act` (with `fs`) before it loads the module whose path ends like this. */
function beginWith(
  context: TestContext,
  ending: string,
  act: string,
  settings: Readonly<Record<string, string>>,
): Begun {
  const dir = newVarDir(context);
  const hook = join(dir, 'hook.mjs');
  writeFileSync(
    hook,
    `import * as fs from 'node:fs';
    let done = false;
    export function resolve(name, context, next) {
      if (!done && name.endsWith('${ending}')) { done = true; ${act}; }
      return next(name, context);
    }`,
  );
  const preload = join(dir, 'preload.mjs');
  writeFileSync(
    preload,
    `import { register } from 'node:module'; register('${pathToFileURL(hook).href}');`,
  );
  return begin(context, ['--import', preload, MAIN], {
    SITUS_VAR: built.varDir,
    SITUS_WORKERS: '1',
    SITUS_BULK_WORKERS: '1',
    ...settings,
  });
}

const sent = (signal: string): string => `process.kill(process.pid, '${signal}')`;

async function stops({ child }: Begun): Promise<void> {
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
}

test('a server goes on after SIGHUP before its modules are loaded', async (context) => {
  const begun = beginWith(context, '/config.js', sent('SIGHUP'), {});
  await eventually(() => isSaid(begun, 'Situs answers on'));
  await stops(begun);
});

test('a supervisor that is told to replace before its modules are loaded does so later', async (context) => {
  const begun = beginWith(context, '/config.js', sent('SIGUSR2'), { SITUS_SUPERVISED: '1' });
  await eventually(() => isSaid(begun, '"event":"replaced"'));
  await stops(begun);
});

test('a request log that is moved away while the server opens is opened anew', async (context) => {
  const log = join(newVarDir(context), 'requests.log');
  const act = `fs.renameSync('${log}', '${log}.1'); ${sent('SIGHUP')}`;
  const begun = beginWith(context, '/node-server.js', act, {
    SITUS_REQUEST_LOG: log,
    SITUS_TRANSPORT: 'node',
  });
  await eventually(() => isSaid(begun, 'Situs answers on'));
  assert.ok(existsSync(`${log}.1`), 'it was moved');
  await eventually(() => existsSync(log));
  await stops(begun);
});

/** A listener that is ready when it finds the file `go`, and then writes `hup` at SIGHUP. */
const READY_LATER = `
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
writeFileSync(join(import.meta.dirname, 'began'), '');
const waiting = setInterval(() => {
  if (!existsSync(join(import.meta.dirname, 'go'))) return;
  clearInterval(waiting);
  process.on('SIGHUP', () => writeFileSync(join(import.meta.dirname, 'hup'), ''));
  process.send({ type: 'ready' });
  process.on('disconnect', () => process.exit(0));
}, 5);
`;

test('a listener is sent SIGHUP when it is ready, since it would end it before', async (context) => {
  const dir = newVarDir(context);
  const program = join(dir, 'listener.mjs');
  writeFileSync(program, READY_LATER);
  const slot = new Slot({
    program,
    log: SILENT,
    keeper: new WindowKeeper(),
    clients: new ClientKeeper(),
    order: () => ({ index: 0, count: 1, port: 0 }),
  });
  context.after(() => slot.end());
  const replaced = slot.replace();
  replaced.catch(() => undefined);
  await eventually(() => existsSync(join(dir, 'began')));
  slot.hangUp();
  writeFileSync(join(dir, 'go'), '');
  await replaced;
  await eventually(() => existsSync(join(dir, 'hup')));
});

/** A supervisor of listeners that are ready at once, but for listener 1 where `broken` exists. */
const SUPERVISOR = `
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listenerOrder } from '${compiled('listener/supervised.js')}';
const order = listenerOrder(process.argv);
if (order === null) {
  const { supervise } = await import('${compiled('listener/supervisor.js')}');
  const { loadConfig } = await import('${compiled('config.js')}');
  const { HeldSignals } = await import('${compiled('base/held-signals.js')}');
  const program = import.meta.filename;
  await supervise({ config: loadConfig(), program, signals: new HeldSignals() });
} else if (order.index === 1 && existsSync(join(import.meta.dirname, 'broken'))) {
  process.exit(9);
} else {
  process.on('message', () => process.exit(0)).on('disconnect', () => process.exit(0));
  process.send({ type: 'ready' });
}
`;

test('where some listeners could be replaced and others not, the log says which', async (context) => {
  const dir = newVarDir(context);
  const program = join(dir, 'supervisor.mjs');
  writeFileSync(program, SUPERVISOR);
  const begun = begin(context, [program], { SITUS_LISTENERS: '3' });
  await eventually(() => isSaid(begun, 'Situs answers on'));
  writeFileSync(join(dir, 'broken'), '');
  begun.child.kill('SIGUSR2');
  await eventually(() => isSaid(begun, 'what answered before goes on'));
  const line = begun.lines.find((each) => each.includes('what answered before goes on')) ?? '{}';
  const { event, replaced, notReplaced } = JSON.parse(line) as Readonly<Record<string, unknown>>;
  assert.deepEqual(
    { event, replaced, notReplaced },
    {
      event: 'not all replaced; what answered before goes on',
      replaced: '0',
      notReplaced: '1, 2',
    },
  );
});

/** Whether a process has a handler for SIGHUP, the first signal. */
function handlesHangup(pid: number): boolean {
  const found = /^SigCgt:\s+([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return (BigInt(`0x${found?.[1] ?? '0'}`) & 1n) === 1n;
}

/** The processes that a process has started, and theirs. */
function descendantsOf(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
    .split(' ')
    .filter((text) => text.trim() !== '')
    .map(Number);
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}

test('what builds the first dataset for a server goes on after SIGHUP', async (context) => {
  const varDir = newVarDir(context);
  const { child } = begin(context, [MAIN], { SITUS_VAR: varDir, SITUS_WORKERS: '1' });
  const ended = once(child, 'close');
  await eventually(() => readdirSync(join(varDir, 'datasets')).length > 0);
  const pids = descendantsOf(child.pid ?? 0);
  assert.ok(pids.length >= 2, 'the command and the process that builds');
  assert.deepEqual(
    pids.map(handlesHangup),
    pids.map(() => true),
  );
  child.kill('SIGKILL');
  await ended;
});

test('what pulls or checks a release for a server goes on after SIGHUP', (context) => {
  const preload = join(newVarDir(context), 'preload.mjs');
  writeFileSync(
    preload,
    `process.on('exit', () => process.stderr.write(\`\${process.listenerCount('SIGHUP')}\`));`,
  );
  for (const [worker, ...words] of [
    ['pull.js'],
    ['release.js', join(releasesDir(built.varDir), built.name), '', '', ''],
  ] as const) {
    const path = fileURLToPath(new URL(`../../workers/${worker}`, import.meta.url));
    const { stderr } = spawnSync(process.execPath, ['--import', preload, path, ...words], {
      encoding: 'utf8',
    });
    assert.equal(stderr, '1', worker);
  }
});
