import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { removeRelease } from '../../src/dataset/keeping.js';
import { LiveDataset } from '../../src/dataset/live.js';
import { OpenReleases } from '../../src/worker.js';
import { inPlace } from '../../src/dataset/release-copy.js';
import { UnsoundRelease } from '../../src/dataset/release.js';
import { RELEASE_FILES } from '../../src/dataset/stamp.js';
import { createLog } from '../../src/log.js';
import { eventually } from '../support/http-eventually.js';
import {
  activate,
  emptyDataset,
  newVarDir,
  releaseNumber,
  writeRelease,
} from '../support/http-var-dir.js';

const [FIRST, SECOND, THIRD, FOURTH] = [1, 2, 3, 4].map(releaseNumber) as [
  string,
  string,
  string,
  string,
];
const FACTS = { areas: 7, stale: [] };

interface Watched {
  readonly live: LiveDataset;
  readonly varDir: string;
  readonly closed: string[];
  readonly lines: string[];
  readonly broken: Set<string>;
}

function startLive(context: TestContext, pollMs = 60_000): Watched {
  const varDir = released(context, FIRST);
  const closed: string[] = [];
  const lines: string[] = [];
  const broken = new Set<string>();
  const live = new LiveDataset({
    varDir,
    pollMs,
    log: createLog('info', (line) => lines.push(line)),
    open: (dir) => emptyDataset(dir, (id) => closed.push(id)),
    probe: ({ id }) => {
      if (broken.has(id)) throw new Error('does not answer');
      return FACTS;
    },
  });
  context.after(() => live.close());
  return { live, varDir, closed, lines, broken };
}

/** A folder with releases, of which the first is active. */
function released(context: TestContext, ...names: readonly string[]): string {
  const varDir = newVarDir(context);
  for (const name of names) writeRelease(varDir, name);
  activate(varDir, FIRST);
  return varDir;
}

/** Releases that are prepared as a test says. */
function prepared(
  context: TestContext,
  varDir: string,
  prepare: NonNullable<ConstructorParameters<typeof LiveDataset>[0]['prepare']>,
): LiveDataset {
  const live = new LiveDataset({
    varDir,
    pollMs: 60_000,
    log: createLog('error', () => undefined),
    open: (dir) => emptyDataset(dir),
    probe: () => FACTS,
    prepare,
  });
  context.after(() => live.close());
  return live;
}

/** Activates a release and looks at once, so that no test depends on a watcher's moment. */
function swap({ live, varDir }: Watched, name: string): void {
  activate(varDir, name);
  live.check();
}

test('the active release is open from the start', (context) => {
  const { live } = startLive(context);
  assert.equal(live.release?.id, FIRST);
  assert.equal(live.release.areas, 7);
});

test('a change of CURRENT is noticed by itself', async (context) => {
  const watched = startLive(context, 50);
  activate(watched.varDir, SECOND);
  await eventually(() => watched.live.release?.id === SECOND);
});

test('current and previous stay open, older ones close', (context) => {
  const watched = startLive(context);
  swap(watched, SECOND);
  assert.deepEqual(watched.closed, []);
  swap(watched, THIRD);
  assert.deepEqual(watched.closed, [FIRST]);
  assert.equal(watched.live.openCount, 2);
});

test('a pinned release stays open until its last task is done', (context) => {
  const watched = startLive(context);
  const { live, closed } = watched;
  const [one, two] = [live.pin(), live.pin()];
  assert.ok(one && two);
  swap(watched, SECOND);
  swap(watched, THIRD);
  assert.deepEqual(closed, []);
  live.unpin(one);
  assert.deepEqual(closed, []);
  live.unpin(two);
  assert.deepEqual(closed, [FIRST]);
});

test('going back takes the open release again', (context) => {
  const watched = startLive(context);
  swap(watched, SECOND);
  swap(watched, FIRST);
  swap(watched, SECOND);
  assert.deepEqual(watched.closed, []);
  assert.equal(watched.live.release?.id, SECOND);
  assert.equal(watched.live.openCount, 2);
});

test('a retired release that is pinned can become the active one again', (context) => {
  const watched = startLive(context);
  const pinned = watched.live.pin();
  assert.ok(pinned);
  swap(watched, SECOND);
  swap(watched, THIRD);
  swap(watched, FIRST);
  assert.deepEqual(watched.closed, [SECOND]);
  watched.live.unpin(pinned);
  assert.deepEqual(watched.closed, [SECOND], 'the active one is not closed with its last pin');
});

test('a release that fails its probe is refused once and the old one answers', (context) => {
  const watched = startLive(context);
  const { live, lines, broken } = watched;
  broken.add(SECOND);
  swap(watched, SECOND);
  live.check();
  live.check();
  assert.equal(live.release?.id, FIRST);
  assert.deepEqual(watched.closed, [SECOND]);
  const refusals = lines.filter((line) => line.includes('dataset refused'));
  assert.equal(refusals.length, 1);
  assert.match(refusals[0]!, /"kept":"2026-01-01-000000000001"/);
  swap(watched, THIRD);
  assert.equal(live.release?.id, THIRD);
});

test('a release is borrowed without becoming active, closes with its last pin', async (context) => {
  const watched = startLive(context);
  const { live, varDir, closed } = watched;
  assert.equal(await live.borrow(SECOND), null, 'there is none of that name');
  writeRelease(varDir, SECOND);
  const [one, two] = await Promise.all([live.borrow(SECOND), live.borrow(SECOND)]);
  assert.ok(one && two);
  assert.equal(live.release?.id, FIRST);
  live.unpin(one);
  assert.deepEqual(closed, []);
  live.unpin(two);
  assert.deepEqual(closed, [SECOND]);
});

test('what is not sound is read once, however many ask for it, until its files change', async (context) => {
  const varDir = released(context, FIRST, SECOND);
  let checks = 0;
  const live = prepared(context, varDir, (name) => {
    if (name !== SECOND) return Promise.resolve(inPlace(`${varDir}/datasets/${name}`));
    checks += 1;
    return Promise.reject(new UnsoundRelease('torn'));
  });
  await live.ready();
  const asked = Array.from({ length: 5 }, () => live.ask(SECOND));
  for (const each of asked) await assert.rejects(each, /torn/);
  await assert.rejects(live.ask(SECOND), /torn/);
  assert.equal(checks, 1);
  for (const file of RELEASE_FILES) writeFileSync(`${varDir}/datasets/${SECOND}/${file}`, 'anew');
  await assert.rejects(live.ask(SECOND), /torn/);
  assert.equal(checks, 2);
});

test('a release that is removed while it is read is not there, and is again when it came back', async (context) => {
  const varDir = released(context, FIRST, SECOND);
  let removes = true;
  const live = prepared(context, varDir, async (name) => {
    if (name === SECOND && removes) {
      removeRelease(varDir, name);
      throw new UnsoundRelease('has no data.mdb');
    }
    return inPlace(`${varDir}/datasets/${name}`);
  });
  await live.ready();
  assert.deepEqual(await Promise.all([live.ask(SECOND), live.ask(SECOND)]), [null, null]);
  writeRelease(varDir, SECOND);
  removes = false;
  assert.equal((await live.ask(SECOND))?.id, SECOND);
});

test('one that is put back while it is read is read again, and not there while it changes', async (context) => {
  const varDir = released(context, FIRST, SECOND);
  const [dir, away] = [`${varDir}/datasets/${SECOND}`, `${varDir}/datasets/.away`];
  let [moves, reads] = [0, 0];
  const live = prepared(context, varDir, async (name) => {
    if (name !== SECOND) return inPlace(`${varDir}/datasets/${name}`);
    reads += 1;
    if (moves === 0) return inPlace(dir);
    moves -= 1;
    // What the system tells of times has the grain of its clock.
    await delay(20);
    renameSync(dir, away);
    renameSync(away, dir);
    throw new UnsoundRelease('has no data.mdb');
  });
  await live.ready();
  moves = Infinity;
  assert.equal(await live.ask(SECOND), null);
  await assert.rejects(live.borrow(SECOND), /change while they are read/, 'a job is to wait');
  [moves, reads] = [2, 0];
  assert.equal((await live.ask(SECOND))?.id, SECOND);
  assert.equal(reads, 3);
});

test('one release is prepared at a time, and only the last is taken', async (context) => {
  const varDir = released(context, FIRST, SECOND, THIRD);
  const [removed, waiting]: [string[], Map<string, () => void>] = [[], new Map()];
  const live = prepared(context, varDir, async (name) => {
    await new Promise<void>((resolve) => waiting.set(name, resolve));
    if (name === THIRD) throw new Error('torn');
    const remove = (): unknown => removed.push(name);
    return { dir: `${varDir}/datasets/${name}`, remove, leave: remove };
  });
  assert.equal(live.openCount, 0);
  waiting.get(FIRST)?.();
  await live.ready();
  activate(varDir, SECOND);
  live.check();
  activate(varDir, THIRD);
  live.check();
  assert.equal(waiting.has(THIRD), false);
  waiting.get(SECOND)?.();
  await eventually(() => waiting.has(THIRD));
  assert.equal(live.release?.id, FIRST);
  assert.deepEqual(removed, [SECOND], 'it was no longer wanted');
  waiting.get(THIRD)?.();
  await eventually(() => live.refusal !== null);
  assert.deepEqual(live.refusal, { dataset: THIRD, reason: 'torn' });
  assert.equal(live.release?.id, FIRST);
  activate(varDir, FIRST);
  live.check();
  assert.equal(live.refusal, null);
});

test('a CURRENT that names nothing is ignored', (context) => {
  const watched = startLive(context);
  for (const text of ['', '../../etc', 'x'.repeat(5000)]) swap(watched, text);
  assert.equal(watched.live.release?.id, FIRST);
  assert.deepEqual(watched.live.refusal, { dataset: null, reason: 'CURRENT names no dataset' });
});

test('a worker keeps three releases open, those that were named last', () => {
  const [opened, closed]: [string[], string[]] = [[], []];
  const releases = new OpenReleases((dir) => {
    opened.push(dir);
    return emptyDataset(dir, (id) => closed.push(id));
  });
  const name = (id: string): string => releases.get({ id, dir: id }).id;
  const asked = [FIRST, SECOND, THIRD, FIRST, FIRST, FOURTH, THIRD, FIRST, SECOND];
  assert.deepEqual(asked.map(name), asked);
  assert.deepEqual(opened, [FIRST, SECOND, THIRD, FOURTH, SECOND]);
  assert.deepEqual(closed, [SECOND, FOURTH]);
});
