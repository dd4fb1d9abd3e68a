/** Deadlines of many by one timer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Deadlines } from '../../src/http/deadline.js';

const SHORT_MS = 40;

test('each is told when its own time is up, in their order, and none that is removed', async () => {
  const deadlines = new Deadlines();
  const told: [name: string, after: number][] = [];
  const begin = (name: string, milliseconds: number): (() => void) => {
    const from = performance.now();
    const waiting = { late: () => told.push([name, performance.now() - from]) };
    const place = deadlines.add(waiting, milliseconds);
    return () => place.remove();
  };
  begin('first', SHORT_MS);
  const answered = begin('answered', SHORT_MS);
  begin('longer', 2 * SHORT_MS);
  await delay(SHORT_MS / 2);
  begin('second', SHORT_MS);
  answered();
  while (told.length < 3) await delay(5);
  // Once nothing waits a timer is set anew.
  await delay(2 * SHORT_MS);
  begin('last', SHORT_MS);
  while (told.length < 4) await delay(5);
  assert.deepEqual(
    told.map(([name]) => name).filter((name) => name !== 'longer'),
    ['first', 'second', 'last'],
  );
  for (const [name, after] of told) {
    // Timers count whole milliseconds.
    assert.ok(after > (name === 'longer' ? 2 : 1) * SHORT_MS - 2, `${name} after ${after} ms`);
  }
});

test('one that waits again when it is told waits its whole time, as those beside it', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const deadlines = new Deadlines();
  const told: string[] = [];
  const again = { late: () => told.push('again') };
  deadlines.add(
    {
      late: () => {
        told.push('first');
        deadlines.add(again, 10);
      },
    },
    10,
  );
  deadlines.add({ late: () => told.push('beside') }, 10);
  context.mock.timers.tick(10);
  assert.deepEqual(told, ['first', 'beside']);
  context.mock.timers.tick(10);
  assert.deepEqual(told, ['first', 'beside', 'again']);
});
