/** Processes that are killed without warning while they count. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createKey, listKeys } from '../../src/store/keys.js';
import { Store } from '../../src/store/store.js';
import { listUsage } from '../../src/store/usage.js';
import { monthAt } from '../../src/store/usage-meter.js';
import { LATER_OPTIMIZED } from '../support/built-dataset.js';
import { eventually } from '../support/http-eventually.js';
import { newVarDir } from '../support/http-var-dir.js';

const COUNTER = fileURLToPath(new URL('../support/usage-counter.js', import.meta.url));
/** What a counter counts between two lines. */
const TURN = 10;

interface Counter {
  readonly child: ChildProcess;
  /** How far it said it was. */
  said(): number;
}

async function startCounter(varDir: string, id: string): Promise<Counter> {
  const child = spawn(process.execPath, [...LATER_OPTIMIZED, COUNTER, varDir, id], {
    stdio: ['ignore', 'pipe', 2],
  });
  let said = 0;
  createInterface({ input: child.stdout! }).on('line', (line) => {
    said = Number(line);
  });
  await eventually(() => said > 0);
  return { child, said: () => said };
}

/** Kills a counter; returns the most that it can have counted. */
async function kill({ child, said }: Counter): Promise<number> {
  child.kill('SIGKILL');
  await once(child, 'close');
  return said() + TURN;
}

interface Counted {
  readonly core: number;
  readonly geo: number;
}

function stored(store: Store): Counted {
  store.refresh();
  return listUsage(store, monthAt(Date.now()).name)[0] ?? { core: 0, geo: 0 };
}

test('a killed process loses nothing that it stored while it counted on', async (context) => {
  const varDir = newVarDir(context);
  const store = await Store.open(varDir);
  context.after(() => store.close());
  for (let time = 0; time < 2; time += 1) {
    const from = stored(store).core;
    const counter = await startCounter(varDir, 'k');
    // Twice, so that more than its first counts are stored in time.
    let due = 0;
    for (let turn = 0; turn < 2; turn += 1) {
      due = counter.said();
      await eventually(() => stored(store).core - from >= due);
    }
    const all = await kill(counter);
    const kept = stored(store).core - from;
    assert.ok(due > 0 && kept >= due && kept <= all, `${due} ≤ ${kept} ≤ ${all}`);
  }
});

test('processes that count and one that changes keys do not undo each other', async (context) => {
  const varDir = newVarDir(context);
  const store = await Store.open(varDir);
  context.after(() => store.close());
  const counters = [await startCounter(varDir, 'k'), await startCounter(varDir, 'k')];
  for (let index = 0; index < 20; index += 1) {
    const before = stored(store).core;
    await createKey(store, { text: `key-number-${index}`, plan: 'pro' });
    if (index % 5 === 0) await eventually(() => stored(store).core > before);
  }
  const due = counters[0]!.said() + counters[1]!.said();
  await eventually(() => stored(store).core >= due);
  const all = (await Promise.all(counters.map(kill))).reduce((sum, each) => sum + each);
  const { core, geo } = stored(store);
  assert.ok(core >= due && core <= all, `${due} ≤ ${core} ≤ ${all}`);
  assert.equal(geo * 2, core);
  assert.equal(listKeys(store).length, 20);
});
