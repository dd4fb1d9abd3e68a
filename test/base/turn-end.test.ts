/** What is gathered in a turn of the event loop, and in which order it is worked on at its end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TurnEnd } from '../../src/base/turn-end.js';

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('what is last comes behind all that is first, in the same turn', async () => {
  const end = new TurnEnd();
  const told: string[] = [];
  end.last(() => told.push('last'));
  end.first(() => {
    told.push('first');
    end.last(() => told.push('last of the first'));
  });
  assert.deepEqual(told, [], 'nothing before the turn ends');
  await nextTurn();
  assert.deepEqual(told, ['first', 'last', 'last of the first']);
  await nextTurn();
  assert.equal(told.length, 3, 'each once');
});

test('what asks for the end of a turn while it ends has the next one', async () => {
  const end = new TurnEnd();
  const told: string[] = [];
  end.last(() => {
    end.last(() => told.push('last'));
    end.first(() => told.push('first'));
  });
  end.first(() => end.first(() => told.push('first of the first')));
  await nextTurn();
  assert.deepEqual(told, []);
  await nextTurn();
  assert.deepEqual(told, ['first of the first', 'first', 'last']);
});

test('a task that throws keeps nobody else from the end of the turn', async () => {
  const end = new TurnEnd();
  const told: string[] = [];
  // The test runner listens too, and would take it for a failure of the test.
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  const failed = new Promise<unknown>((resolve) => process.once('uncaughtException', resolve));
  end.first(() => {
    throw new Error('a bug');
  });
  end.last(() => told.push('last'));
  const error = await failed;
  for (const other of others) process.on('uncaughtException', other);
  assert.match(String(error), /a bug/);
  assert.deepEqual(told, ['last']);
  end.first(() => told.push('again'));
  await nextTurn();
  assert.deepEqual(told, ['last', 'again']);
});
