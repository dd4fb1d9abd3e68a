/** Places held ahead: over random paces no minute has more than the rate, and little is refused early. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Rated } from '../../src/http/rate-limit.js';
import { HeldAhead, NONE, USABLE_MS } from '../../src/limit/ahead.js';
import { HELD_OF_RATE } from '../../src/limit/port.js';
import { readRedisAddress } from '../../src/limit/redis-address.js';
import { RedisWindows } from '../../src/limit/redis.js';
import { eventually } from '../support/http-eventually.js';
import { startRedis } from '../support/redis-server.js';

const WINDOW_MS = 5_000;
const FROM = 1_790_000_000_000_000;
const NODES = 3;
const WAIT_MS_MAX = 2_500;
/** Who says nothing for so long is taken for gone with all that it held. */
const SILENT_MS = 2_000;
/** How late it is told what was used: when the next step comes. */
const TOLD_MS = USABLE_MS + WAIT_MS_MAX + 50;

/** What one node does: how many requests come at once, and what becomes of it then. */
interface Step {
  readonly node: number;
  readonly requests: number;
  /** Milliseconds before it, and those of the way there and back. */
  readonly wait: number;
  readonly there: number;
  readonly back: number;
  /** Requests that come while it is asked. */
  readonly meanwhile: number;
  /** The node ends without a word, and another one takes its place. */
  readonly dies: boolean;
  /** A node that stood still answers what has come before it looks what is due. */
  readonly late: boolean;
}

const STEPS: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    node: fc.integer({ min: 0, max: NODES - 1 }),
    requests: fc.oneof(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 60 })),
    wait: fc.oneof(
      fc.integer({ min: 0, max: 30 }),
      fc.integer({ min: 0, max: 700 }),
      fc.integer({ min: 0, max: WAIT_MS_MAX }),
    ),
    there: fc.integer({ min: 0, max: 9 }),
    back: fc.integer({ min: 0, max: 9 }),
    meanwhile: fc.integer({ min: 0, max: 8 }),
    dies: fc.integer({ min: 0, max: 40 }).map((number) => number === 0),
    late: fc.boolean(),
  }),
  { minLength: 20, maxLength: 120 },
);

interface Node {
  readonly name: string;
  readonly ahead: HeldAhead;
  /** When the server heard of it last; null once it counts as gone, until it asks again. */
  heard: number | null;
}

/** Several nodes and one server with a clock of their own. */
class World {
  now = FROM / 1_000;
  readonly admitted: number[] = [];
  readonly #nodes = Array.from({ length: NODES }, (_, index) => this.#node(`n${index}`));
  #deaths = 0;
  /** When holders were gone with what they held, also by standing still for long. */
  readonly #gone: number[] = [];

  constructor(
    readonly windows: RedisWindows,
    readonly key: Rated,
  ) {}

  #node(name: string): Node {
    return { name, ahead: new HeldAhead(() => undefined), heard: null };
  }

  /** Requests of the last window, by the moments at which they were admitted. */
  inWindow(at: number, windowMs = WINDOW_MS): number {
    return this.admitted.filter((time) => time > at - windowMs && time <= at).length;
  }

  /** A refusal is right, but for what all hold ahead and what is told late. */
  #refused(): void {
    const { rate } = this.key;
    const held =
      Math.floor(rate / HELD_OF_RATE) *
      (1 + this.#gone.filter((time) => time > this.now - WINDOW_MS - 2 * WAIT_MS_MAX).length);
    const used = this.inWindow(this.now, WINDOW_MS + TOLD_MS);
    assert.ok(used + held >= rate, `refused with ${used} and ${held} of ${rate}`);
  }

  async step(step: Step): Promise<void> {
    this.now += step.wait;
    if (step.dies) {
      this.#deaths += 1;
      this.#gone.push(this.now);
      this.#nodes[step.node] = this.#node(`n${step.node}-${this.#deaths}`);
    }
    if (!step.late) await this.#look(step);
    const node = this.#nodes[step.node]!;
    let waiting = 0;
    for (let index = 0; index < step.requests; index += 1) if (!this.#inHand(node)) waiting += 1;
    if (waiting > 0) await this.#ask(node, waiting, step);
    if (step.late) await this.#look(step);
  }

  async #look(step: Step): Promise<void> {
    for (const node of this.#nodes) {
      if (node.ahead.due(this.now).length > 0) await this.#ask(node, 0, step);
    }
  }

  #inHand({ ahead }: Node): boolean {
    if (ahead.take(this.key, this.now) === NONE) return false;
    this.admitted.push(this.now);
    return true;
  }

  async #ask(node: Node, count: number, { there, back, meanwhile }: Step): Promise<void> {
    const question = node.ahead.question(this.key, count, this.now, () => undefined);
    this.now += there / 2;
    for (let index = 0; index < meanwhile / 2; index += 1) this.#inHand(node);
    this.now += there / 2;
    for (const each of this.#nodes) {
      if (each.heard === null || this.now - each.heard < SILENT_MS) continue;
      this.#gone.push(this.now);
      each.heard = null;
    }
    node.heard = this.now;
    const [answer] = await this.windows.ask([question], node.name);
    for (let index = 0; index < answer!.admitted; index += 1) this.admitted.push(this.now);
    if (answer!.admitted < count) this.#refused();
    this.now += back;
    for (let index = 0; index < meanwhile / 2; index += 1) this.#inHand(node);
    node.ahead.answered(this.key, answer!);
  }
}

test('over random paces, ways and deaths no window has more than the rate', async (context) => {
  const server = await startRedis(context);
  if (server === null) return;
  let world: World | null = null;
  const windows = new RedisWindows(readRedisAddress(server.url), {
    windowMs: WINDOW_MS,
    clock: () => Math.round((world?.now ?? FROM / 1_000) * 1_000),
  });
  context.after(() => windows.close());
  await eventually(async () =>
    windows.ask([]).then(
      () => true,
      () => false,
    ),
  );
  let [runs, held, most] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(STEPS, fc.constantFrom(40, 128, 400, 2_000, 150_000), async (steps, rate) => {
      runs += 1;
      world = new World(windows, { id: `key-${runs}`, rate });
      for (const step of steps) await world.step(step);
      for (const at of world.admitted) {
        const count = world.inWindow(at);
        most = Math.max(most, count / rate);
        assert.ok(count <= rate, `${count} of ${rate}`);
      }
      held += world.admitted.length;
    }),
    { numRuns: 150 },
  );
  context.diagnostic(`${held} requests admitted, the fullest window ${Math.round(most * 100)} %`);
  assert.ok(most === 1, 'some window was full');
});

test('places in hand admit without a question, are given back, and end', () => {
  const low: Rated[] = [];
  const ahead = new HeldAhead((key) => low.push(key));
  const key = { id: 'a', rate: 10_000 };
  const used: number[] = [];
  const question = (count: number, now: number): unknown =>
    ahead.question(key, count, now, (_key, count_) => used.push(count_));
  assert.equal(ahead.take(key, 0), NONE);
  assert.deepEqual(question(1, 0), { id: 'a', rate: 10_000, count: 1 }, 'one is no pace');
  ahead.answered(key, { admitted: 1, left: 9_999, held: 0 });
  assert.deepEqual(question(9, 10), {
    id: 'a',
    rate: 10_000,
    count: 9,
    ahead: { used: 0, keep: 0, want: 15 },
  });
  ahead.answered(key, { admitted: 9, left: 9_975, held: 15 });
  for (let index = 0; index < 9; index += 1) assert.equal(ahead.take(key, 20), 9_989 - index);
  assert.deepEqual(low, []);
  assert.equal(ahead.take(key, 20), 9_980);
  assert.deepEqual(low, [key], 'a third is left');
  assert.deepEqual(question(0, 20), {
    id: 'a',
    rate: 10_000,
    count: 0,
    ahead: { used: 10, keep: 5, want: 30 },
  });
  assert.deepEqual(used, [10]);
  // While it is asked two more are used.
  assert.equal(ahead.take(key, 21), 9_979);
  ahead.take(key, 21);
  ahead.answered(key, { admitted: 0, left: 9_950, held: 30 });
  assert.equal(ahead.inHand('a'), 28);
  assert.equal(ahead.take({ id: 'a', rate: 5_000 }, 21), NONE, 'not of another rate');
  assert.equal(ahead.take(key, 20 + USABLE_MS), NONE, 'not for longer');
  assert.deepEqual(ahead.due(400), []);
  assert.deepEqual(ahead.due(1_500), [key]);
  assert.deepEqual(
    question(0, 1_500),
    {
      id: 'a',
      rate: 10_000,
      count: 0,
      ahead: { used: 2, keep: 0, want: 0 },
    },
    'nobody asked meanwhile',
  );
  ahead.answered(key, { admitted: 0, left: 9_978, held: 0 });
  assert.deepEqual(ahead.due(3_000), []);
  assert.equal(ahead.busy, false, 'nothing is remembered of a key that rests');
});

test('what a question gives back is told as left before it is answered', () => {
  const key = { id: 'a', rate: 10_000 };
  const ahead = new HeldAhead(() => undefined);
  const ask = (count: number, now: number) => ahead.question(key, count, now, () => undefined);
  ask(6, 0);
  ahead.answered(key, { admitted: 6, left: 9_985, held: 9 });
  assert.equal(ahead.take(key, 10), 9_993);
  assert.deepEqual(ask(0, 600).ahead, { used: 1, keep: 8, want: 11 });
  ahead.answered(key, { admitted: 0, left: 9_982, held: 11 });
  // In the half second before this only one was used, and fewer are wanted.
  assert.deepEqual(ask(3, 1_200).ahead, { used: 0, keep: 5, want: 5 });
  assert.equal(ahead.inHand('a'), 11);
  assert.equal(ahead.take(key, 1_201), 9_992);
  ahead.answered(key, { admitted: 3, left: 9_985, held: 5 });
  assert.equal(ahead.inHand('a'), 4);
  assert.equal(ahead.take(key, 1_202), 9_988);
});
