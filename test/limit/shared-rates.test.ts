/** Rates in windows that are shared, over windows in memory that answer as a test wants it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REFUSED } from '../../src/http/rate-limit.js';
import { WINDOW_MS } from '../../src/http/rate-window.js';
import type {
  SharedWindows,
  WindowAnswer,
  WindowDebt,
  WindowQuestion,
} from '../../src/limit/port.js';
import { SharedRates } from '../../src/limit/shared-rates.js';
import { eventually } from '../support/http-eventually.js';

/** Counts of keys without times: for tests within a minute. */
class Counted implements SharedWindows {
  readonly counts = new Map<string, number>();
  readonly batches: (readonly WindowQuestion[])[] = [];
  readonly settled: WindowDebt[] = [];
  /** Never answers, or says no. */
  mode: 'answers' | 'silent' | 'fails' = 'answers';

  ask(questions: readonly WindowQuestion[]): Promise<readonly WindowAnswer[]> {
    if (this.mode === 'silent') return new Promise(() => undefined);
    if (this.mode === 'fails') return Promise.reject(new Error('connection refused'));
    if (questions.length > 0) this.batches.push(questions);
    return Promise.resolve(
      questions.map(({ id, rate, count }) => {
        const used = this.counts.get(id) ?? 0;
        const admitted = Math.max(0, Math.min(count, rate - used));
        this.counts.set(id, used + admitted);
        return { admitted, left: Math.max(0, rate - used - admitted) };
      }),
    );
  }

  settle(debts: readonly WindowDebt[]): Promise<void> {
    if (this.mode !== 'answers') return this.ask([]).then(() => undefined);
    this.settled.push(...debts);
    for (const { id, admitted } of debts) {
      const sum = admitted.reduce((before, [, count]) => before + count, 0);
      this.counts.set(id, (this.counts.get(id) ?? 0) + sum);
    }
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

async function opened(
  windows: Counted,
  changed: (reason: string | null) => void = () => undefined,
): Promise<SharedRates> {
  const rates = new SharedRates({ windows, sharePercent: 50, changed });
  assert.equal(await rates.started(60_000), true);
  return rates;
}

test('questions of a turn are one batch, one of each key, and places go by order', async () => {
  const windows = new Counted();
  const rates = await opened(windows);
  const [a, b] = [
    { id: 'a', rate: 3 },
    { id: 'b', rate: 10 },
  ];
  const answers = await Promise.all([
    rates.ask(a, true),
    rates.ask(b, true),
    rates.ask(a, false),
    rates.ask(a, true),
    rates.ask(a, true),
    rates.ask(a, true),
    rates.ask(b, true),
  ]);
  assert.deepEqual(answers, [2, 9, 0, 1, 0, REFUSED, 8]);
  assert.deepEqual(windows.batches, [
    [
      { id: 'a', rate: 3, count: 4 },
      { id: 'b', rate: 10, count: 2 },
    ],
  ]);
  assert.equal(await rates.ask(a, true), REFUSED, 'what was refused took nothing');
  assert.equal(rates.remaining(a), 0);
  assert.equal(rates.remaining(b), 8, 'as it was told last');
  assert.equal(rates.remaining({ id: 'c', rate: 7 }), 7);
  assert.deepEqual(rates.counts, { batches: 2, asked: 8, ahead: 0, own: 0, away: 0 });
  await rates.close();
});

test('without an answer a share of each limit is had here, at once, and told later', async () => {
  for (const mode of ['silent', 'fails'] as const) {
    const windows = new Counted();
    const told: (string | null)[] = [];
    const rates = await opened(windows, (reason) => told.push(reason));
    const key = { id: 'a', rate: 10 };
    assert.deepEqual(told, [null]);
    assert.equal(await rates.ask(key, true), 9);
    assert.equal(await rates.ask(key, true), 8);
    windows.mode = mode;
    // Two of five are used already, by what the windows had answered.
    assert.equal(await rates.ask(key, true), 2, mode);
    assert.equal(rates.shared, false);
    assert.equal(told.length, 2);
    assert.match(told[1]!, mode === 'silent' ? /no answer within 12 ms/ : /connection refused/);
    assert.equal(rates.ask(key, true), null, 'nothing is waited for');
    assert.deepEqual(
      [1, 0, REFUSED, REFUSED].map(() => rates.take(key)),
      [1, 0, REFUSED, REFUSED],
    );
    assert.equal(rates.remaining(key), 0);
    assert.equal(rates.take({ id: 'b', rate: 1 }), 0, 'one at least');
    windows.mode = 'answers';
    await eventually(() => rates.shared);
    assert.deepEqual(told.slice(2), [null]);
    assert.equal(await rates.ask(key, false), 5, 'the three of the time between are told');
    assert.equal(await rates.ask({ id: 'b', rate: 1 }, true), REFUSED);
    assert.equal(rates.counts.away, 1);
    await rates.close();
  }
});

test('a start without an answer is told, and goes on with the share', async () => {
  const windows = new Counted();
  windows.mode = 'silent';
  const told: (string | null)[] = [];
  const rates = new SharedRates({
    windows,
    sharePercent: 20,
    changed: (reason) => told.push(reason),
  });
  assert.equal(await rates.started(1), false);
  assert.deepEqual(told, ['no answer yet']);
  assert.equal(rates.take({ id: 'a', rate: 10 }), 1);
  await rates.close();
});

test('what is told is never older than it is, and ends with the minute', async () => {
  const windows = new Counted();
  let now = 1_000;
  const rates = new SharedRates({ windows, sharePercent: 100, now: () => now });
  await rates.started(60_000);
  windows.mode = 'fails';
  assert.equal(await rates.ask({ id: 'a', rate: 100 }, true), 99);
  now += WINDOW_MS - 10_000;
  assert.equal(rates.take({ id: 'b', rate: 100 }), 99);
  now += 10_300;
  windows.mode = 'answers';
  await eventually(() => rates.shared);
  assert.deepEqual(windows.settled, [{ id: 'b', admitted: [[10_250, 1]] }]);
  await rates.close();
});
