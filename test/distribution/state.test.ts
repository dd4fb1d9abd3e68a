/** The document of a place: what is read of it, and changes that meet one another. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Place, Versioned } from '../../src/distribution/fleet-place.js';
import {
  activateInFleet,
  changeState,
  parseState,
  readState,
  RELEASES_MAX,
  wantedOf,
  withActive,
  withOffer,
  type FleetState,
  type Offer,
} from '../../src/distribution/state.js';
import { releaseNumber } from '../support/http-var-dir.js';

const NEVER = (): never => {
  throw new Error('not asked for here');
};

function offer(number: number): Offer {
  return {
    dataset: releaseNumber(number),
    list: String(number).padStart(64, '0'),
    bytes: 1,
    unpacked: 2,
    signedBy: [],
    at: '2026-01-01T00:00:00.000Z',
    by: 'somebody@here',
  };
}

const EMPTY: FleetState = { v: 1, active: null, previous: null, releases: [], changes: [] };

/** One document in memory; `between` runs before each replacement, as others' changes do. */
class OneDocument implements Place {
  readonly name = 'a place';
  readonly nodes = null;
  text: string | null;
  version = 0;
  between: () => void = () => undefined;
  has = NEVER;
  put = NEVER;
  get = NEVER;
  remove = NEVER;
  watch = NEVER;
  close = NEVER;

  constructor(state: FleetState | null) {
    this.text = state === null ? null : JSON.stringify(state);
  }

  set(state: FleetState): void {
    this.text = JSON.stringify(state);
    this.version += 1;
  }

  read(known: string | null): Promise<Versioned | 'same' | null> {
    if (this.text === null) return Promise.resolve(null);
    const version = String(this.version);
    return Promise.resolve(known === version ? 'same' : { text: this.text, version });
  }

  replace(text: string, version: string | null): Promise<boolean> {
    const { between } = this;
    this.between = () => undefined;
    between();
    if (version !== (this.text === null ? null : String(this.version)))
      return Promise.resolve(false);
    this.text = text;
    this.version += 1;
    return Promise.resolve(true);
  }
}

const by = (who: string, number: number) =>
  ({
    action: 'activate',
    dataset: releaseNumber(number),
    by: who,
    at: `2026-02-0${number}T00:00:00.000Z`,
  }) as const;

const PUSHED = [1, 2, 3].map(offer).reduce(withOffer, EMPTY);

test('the active release, the one pushed last and the one before are wanted, in this order', () => {
  const state = withActive(withActive(PUSHED, by('one', 1)), by('two', 2));
  assert.deepEqual(
    wantedOf(state).map(({ dataset }) => dataset),
    [releaseNumber(2), releaseNumber(3), releaseNumber(1)],
  );
  assert.equal(
    withActive(state, by('again', 2)).previous,
    releaseNumber(1),
    'and the way back is kept',
  );
});

test('of two activations at once one wins, and the other is told by whom', async () => {
  const place = new OneDocument(PUSHED);
  const { state: seen } = await readState(place);
  place.between = () => place.set(withActive(PUSHED, by('the first', 1)));
  await assert.rejects(activateInFleet(place, seen, by('the second', 2)), {
    message: `nothing was changed: meanwhile the first activated ${releaseNumber(1)} at 2026-02-01T00:00:00.000Z`,
  });
  assert.equal((await readState(place)).state.active, releaseNumber(1));
});

test('an activation back and forth in between is noticed too', async () => {
  const state = withActive(PUSHED, by('one', 1));
  const place = new OneDocument(state);
  place.between = () => place.set(withActive(withActive(state, by('two', 2)), by('three', 1)));
  await assert.rejects(activateInFleet(place, state, by('me', 3)), /meanwhile three activated/);
});

test('a push in between undoes no activation, and is not undone by it', async () => {
  const place = new OneDocument(PUSHED);
  place.between = () => place.set(withOffer(PUSHED, offer(4)));
  const state = await activateInFleet(place, PUSHED, by('me', 1));
  assert.deepEqual([state.active, state.releases.length], [releaseNumber(1), 4]);
  place.between = () => place.set(withActive(state, by('other', 2)));
  const pushed = await changeState(place, (now) => withOffer(now, offer(5)));
  assert.deepEqual(
    [pushed.active, pushed.previous, pushed.releases.length],
    [releaseNumber(2), releaseNumber(1), 5],
  );
});

test('what a newer program added stays, and a newer form is refused in a sentence', async () => {
  const place = new OneDocument({ ...PUSHED, zones: { a: 1 } } as FleetState);
  await activateInFleet(place, (await readState(place)).state, by('me', 2));
  const kept = JSON.parse(place.text!) as { readonly zones: unknown };
  assert.deepEqual(kept.zones, { a: 1 });
  assert.throws(
    () => parseState(JSON.stringify({ ...PUSHED, v: 2 }), 'a place'),
    /is of version 2, and this program reads up to 1: it has to be upgraded first/,
  );
});

test('what is no state of a fleet is refused', () => {
  for (const text of [
    '',
    '<html>',
    'null',
    '{}',
    JSON.stringify({ ...PUSHED, active: '../../etc' }),
    JSON.stringify({ ...PUSHED, releases: [{ ...offer(1), list: 'x' }] }),
    JSON.stringify({ ...PUSHED, changes: [{ by: 1 }] }),
  ])
    assert.throws(() => parseState(text, 'a place'), /what a place holds/, text);
});

test('a place holds no more releases than its document has room for', () => {
  const full = Array.from({ length: RELEASES_MAX }, (_, index) => offer(index)).reduce(
    withOffer,
    EMPTY,
  );
  assert.throws(() => withOffer(full, offer(RELEASES_MAX)), /no more fit.*prune --fleet/);
  assert.equal(
    withOffer(full, offer(0)).releases.at(-1)?.dataset,
    releaseNumber(0),
    'one that is there moves',
  );
});
