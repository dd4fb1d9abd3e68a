/** Servers on a store: who of them lives, and who does what one does at a time. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Membership, SILENT_MS } from '../../src/store/membership.js';
import { listNodes } from '../../src/store/nodes.js';
import { hasEnded, ownMark } from '../../src/store/process-mark.js';
import { eventually } from '../support/http-eventually.js';
import { newStore } from '../support/filled-store.js';

test("a lease is one server's at a time and the other's once that leaves", async (context) => {
  const store = await newStore(context);
  const [first, second] = [await Membership.join(store), await Membership.join(store)];
  assert.deepEqual(
    second.others.map(({ id }) => id),
    [first.id],
  );
  const [mine, yours] = [first.lease('work'), second.lease('work')];
  await eventually(() => mine.held());
  await second.beat();
  assert.equal(yours.held(), false);
  await first.leave();
  assert.equal(mine.held(), false);
  await eventually(() => yours.held());
  await eventually(() => second.others.length === 0);
  await second.leave();
  assert.deepEqual(listNodes(store), []);
});

test('a sign of life under way brings back no lease that is given up meanwhile', async (context) => {
  const store = await newStore(context);
  const [first, second] = [await Membership.join(store), await Membership.join(store)];
  for (const asksAgain of [false, true]) {
    const mine = first.lease('work');
    await first.beat();
    assert.ok(mine.held());
    const write = store.write.bind(store);
    let released = Promise.resolve();
    store.write = async (action, options) => {
      store.write = write;
      const result = await write(action, options);
      released = mine.release();
      if (asksAgain) first.lease('work');
      return result;
    };
    await first.beat();
    assert.equal(mine.held(), false);
    await released;
  }
  // Asked for again, it is taken again.
  await first.beat();
  const yours = second.lease('work');
  await second.beat();
  assert.deepEqual([first.lease('work').held(), yours.held()], [true, false]);
  await first.leave();
  await second.leave();
});

test('one that is about to leave gives its leases up and stays among the servers', async (context) => {
  const store = await newStore(context);
  const [first, second] = [await Membership.join(store), await Membership.join(store)];
  const [mine, yours] = [first.lease('work'), second.lease('work')];
  await eventually(() => mine.held());
  let told = 0;
  second.watch(() => {
    told += 1;
  });
  await first.resign();
  assert.equal(mine.held(), false);
  await eventually(() => yours.held() && told > 0);
  assert.deepEqual(
    second.others.map(({ leaving }) => leaving),
    [true],
  );
  await Promise.all([first.leave(), second.leave()]);
});

test(
  "a server that gives no sign for ten seconds of another's own clock is gone, and one that " +
    'could give none holds nothing by then',
  async (context) => {
    const store = await newStore(context);
    let [uptime, stopped] = [0, false];
    // A process of which nothing can be seen from here.
    const mark = { machine: '', pid: 1, began: '' };
    const stalled = await Membership.join(store, { mark, uptime: () => uptime });
    const held = stalled.lease('work');
    await eventually(() => held.held());
    const beat = Membership.prototype.beat;
    context.mock.method(Membership.prototype, 'beat', function call(this: Membership) {
      return stopped && this === stalled ? Promise.resolve() : beat.call(this);
    });
    const other = await Membership.join(store, { mark, uptime: () => uptime });
    const wanted = other.lease('work');
    stopped = true;
    await other.beat();
    for (let second = 0; second * 1_000 < SILENT_MS - 2_000; second += 1) {
      uptime += 1_000;
      await other.beat();
      assert.equal(wanted.held(), false, `after ${second + 1} seconds`);
    }
    assert.equal(held.held(), false, 'before the other takes it');
    uptime += 2_000;
    await eventually(() => wanted.held());
    await eventually(() => !other.others.some(({ id }) => id === stalled.id));
    // What comes back finds its work done by another.
    stopped = false;
    await stalled.beat();
    assert.equal(stalled.fresh, true);
    assert.equal(held.held(), false);
    assert.equal(wanted.held(), true);
    await Promise.all([stalled.leave(), other.leave()]);
  },
);

test('a killed process of the same machine is known to have ended at once', async (context) => {
  const child = spawn('sleep', ['100']);
  context.after(() => child.kill('SIGKILL'));
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'latin1');
  const mark = {
    ...ownMark(),
    pid: child.pid ?? 0,
    began: stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '',
  };
  assert.equal(hasEnded(mark, ownMark()), false);
  assert.equal(hasEnded({ ...mark, began: '1' }, ownMark()), true, 'another of the same number');
  child.kill('SIGKILL');
  await once(child, 'close');
  assert.equal(hasEnded(mark, ownMark()), true);
  assert.equal(hasEnded({ ...mark, machine: 'another' }, ownMark()), false);
  assert.equal(hasEnded(ownMark(), ownMark()), false);
});
