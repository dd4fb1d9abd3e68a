/** When the front end is told of answers: of one task, or of some at a time. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { EnginePool } from '../../src/pool.js';
import { startEchoPool } from '../support/echo-pool.js';

/** The pool looks after its workers no more often, and takes what is answered when it does. */
const WATCH_MS = 60_000;

function startPool(context: TestContext, requestsPerTask: number): EnginePool {
  const release = { id: '2026-11-21-0', dir: '/nowhere' };
  return startEchoPool(context, () => release, { requestsPerTask, watchMs: WATCH_MS }).pool;
}

for (const [kind, together] of [
  ['lookup', true],
  ['locate', false],
] as const) {
  test(`answers wait for those of a next task ${together ? '' : 'not '}of lookups`, async (context) => {
    const pool = startPool(context, 1);
    const order: string[] = [];
    const asked = (name: string, fields: object): Promise<void> =>
      new Promise((resolve) => {
        const answered = (): void => {
          order.push(name);
          // What is handed out in the same go comes first.
          queueMicrotask(() => {
            order.push('turn');
            resolve();
          });
        };
        pool.submit({
          kind: 'lookup',
          version: 60,
          grants: 0,
          payload: 'sleep',
          ...fields,
          answered,
          failed: answered,
        });
      });
    await Promise.all([asked('first', {}), asked('second', { kind })]);
    assert.deepEqual(
      order,
      together ? ['first', 'second', 'turn', 'turn'] : ['first', 'turn', 'second', 'turn'],
    );
  });
}

for (const [second, together] of [
  [16, true],
  [17, false],
] as const) {
  test(`answers of 16 lookups wait for those of ${second}: ${together}`, async (context) => {
    const pool = startPool(context, second);
    const count = 16 + second;
    let answered = 0;
    // How many were handed out before anything else had its turn.
    let inOneGo = 0;
    await new Promise<void>((resolve) => {
      for (let at = 0; at < count; at += 1) {
        pool.submit({
          kind: 'lookup',
          version: 60,
          grants: 0,
          payload: at === 0 || at === 16 ? 'sleep' : 'echo',
          answered: () => {
            answered += 1;
            if (answered === 1) queueMicrotask(() => (inOneGo = answered));
            if (answered === count) resolve();
          },
          failed: assert.fail,
        });
      }
    });
    assert.equal(inOneGo, together ? count : 16);
  });
}
