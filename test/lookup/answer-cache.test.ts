import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  FLAG_GEO,
  FLAG_STALE,
  GRANT_ALL,
  GRANT_GEO,
  type LookupRequest,
} from '../../src/pool/types.js';
import {
  AnswerCache,
  KEPT_BODY_BYTES_MAX,
  KEPT_QUERY_CHARS_MAX,
  type KeptAnswer,
} from '../../src/api/lookup/answer-cache.js';
import { lookupRoutes } from '../../src/api/lookup/handler.js';
import { Gate } from '../../src/http/gate.js';
import { createRateGate } from '../../src/http/rate-limit.js';
import { routeTable } from '../../src/http/router.js';
import { Admission, Meter } from '../../src/store/usage-meter.js';
import { inject, type InjectedReply } from '../support/http-inject.js';
import { stubFailure, stubKey } from '../support/http-stub-server.js';

const KIND = 60 * 16 + GRANT_ALL;
const NOON = Date.UTC(2026, 10, 21, 12);
const QUARTER_MS = 15 * 60 * 1000;
const MEBIBYTE = 1_048_576;

function answerOf(text: string): KeptAnswer {
  return { precision: 1, flags: 0, body: Buffer.from(text) };
}

function kept(cache: AnswerCache, query: string, kind = KIND): string | null {
  const answer = cache.get(kind, query);
  return answer === null ? null : Buffer.from(answer.body).toString();
}

test('an answer is kept from its second asking on, under its kind and query', () => {
  const cache = new AnswerCache(2 * MEBIBYTE);
  const time = cache.time('one', NOON);
  assert.equal(cache.wasAsked(KIND, 'postalcode=1'), false);
  assert.equal(cache.wasAsked(KIND, 'postalcode=1'), true);
  assert.equal(cache.wasAsked(KIND - 1, 'postalcode=1'), false, 'another kind');
  cache.keep('one', time, NOON, KIND, 'postalcode=1', answerOf('a'));
  assert.equal(kept(cache, 'postalcode=1'), 'a');
  assert.equal(kept(cache, 'postalcode=1', KIND - 1), null);
  assert.equal(kept(cache, 'postalcode=2'), null);
});

test('queries that are asked in turns are known again', () => {
  const cache = new AnswerCache(2 * MEBIBYTE);
  const queries = Array.from({ length: 4_000 }, (_, at) => `postalcode=${10_000 + at * 7}`);
  const known = (): number => queries.filter((query) => cache.wasAsked(KIND, query)).length;
  assert.equal(known(), 0);
  // With one place for each, those that share it would push one another out for ever.
  assert.ok(known() >= queries.length - 8);
});

test("the bytes are the cache's own", () => {
  const cache = new AnswerCache(2 * MEBIBYTE);
  const shared = Buffer.from('first');
  cache.keep('one', cache.time('one', NOON), NOON, KIND, 'q', { ...answerOf(''), body: shared });
  shared.write('other');
  assert.equal(kept(cache, 'q'), 'first');
});

test('another release and another quarter of an hour begin anew', () => {
  const cache = new AnswerCache(2 * MEBIBYTE);
  const keep = (release: string, time: number, now: number): void =>
    cache.keep(release, time, now, KIND, 'q', answerOf(release));
  keep('one', cache.time('one', NOON), NOON);
  cache.time('one', NOON + QUARTER_MS - 1);
  assert.equal(kept(cache, 'q'), 'one');
  const time = cache.time('two', NOON + QUARTER_MS - 1);
  assert.equal(kept(cache, 'q'), null, 'the answer of a release that was replaced');
  keep('one', time, NOON + QUARTER_MS - 1);
  assert.equal(kept(cache, 'q'), null, 'an answer that was under way while it was replaced');
  keep('two', time, NOON + QUARTER_MS - 1);
  assert.equal(kept(cache, 'q'), 'two');
  cache.time('two', NOON + QUARTER_MS);
  assert.equal(kept(cache, 'q'), null, 'a day may have begun');
  keep('two', time, NOON + QUARTER_MS);
  assert.equal(kept(cache, 'q'), null, 'an answer that was asked for before it began');
});

test('memory is bounded, the oldest go, and very long answers are not kept', () => {
  const cache = new AnswerCache(4 * MEBIBYTE);
  const time = cache.time('one', NOON);
  const keep = (query: string, bytes: number): void =>
    cache.keep('one', time, NOON, KIND, query, {
      ...answerOf(''),
      body: Buffer.alloc(bytes, query),
    });
  for (let at = 0; at < 10_000; at += 1) {
    keep(`query-${at};`, 1000);
    assert.ok(cache.bytes <= 4 * MEBIBYTE);
    const body = `query-${at};`.repeat(200).slice(0, 1000);
    assert.equal(kept(cache, `query-${at};`), body, 'the newest is there');
  }
  const there = Array.from({ length: 10_000 }, (_, at) => kept(cache, `query-${at};`) !== null);
  const first = there.indexOf(true);
  assert.ok(first > 5_000 && first < 8_500, `the oldest kept is ${first}`);
  assert.ok(
    there.slice(first).every((is) => is),
    'all that came later are there',
  );
  keep('long', KEPT_BODY_BYTES_MAX + 1);
  assert.equal(kept(cache, 'long'), null);
  keep('longest', KEPT_BODY_BYTES_MAX);
  assert.equal(kept(cache, 'longest')?.length, KEPT_BODY_BYTES_MAX);
  const query = 'q'.repeat(KEPT_QUERY_CHARS_MAX);
  keep(query, 1);
  assert.equal(kept(cache, query), 'q');
  keep(`${query}q`, 1);
  assert.equal(kept(cache, `${query}q`), null);
});

test('what a look has found is given for its own kind and time alone, and not once it was dropped', () => {
  const cache = new AnswerCache(2 * MEBIBYTE);
  const time = cache.time('one', NOON);
  const keep = (query: string, kind: number, text: string): void =>
    cache.keep('one', time, NOON, kind, query, answerOf(text));
  keep('q', KIND, 'a');
  keep('q', KIND - 1, 'b');
  keep('other', KIND, 'c');
  assert.equal(cache.hasFound('q'), false);
  assert.equal(cache.holds('q'), true);
  assert.deepEqual([cache.hasFound('q'), cache.hasFound('p')], [true, false]);
  assert.equal(kept(cache, 'q', KIND - 1), 'b');
  assert.equal(kept(cache, 'other'), 'c');
  assert.equal(kept(cache, 'q', KIND - 2), null);
  assert.equal(kept(cache, 'q'), 'a');
  assert.equal(cache.holds('nothing'), false);
  assert.deepEqual([cache.hasFound('q'), cache.hasFound('nothing')], [false, false]);
  assert.equal(kept(cache, 'q'), 'a');
  cache.holds('q');
  for (let at = 0; at < 40; at += 1) {
    cache.keep('one', time, NOON, KIND, `${at}`, {
      ...answerOf(''),
      body: Buffer.alloc(KEPT_BODY_BYTES_MAX),
    });
  }
  assert.equal(kept(cache, 'q'), null, 'dropped');
  keep('q', KIND, 'd');
  cache.holds('q');
  cache.time('two', NOON);
  assert.equal(kept(cache, 'q'), null, 'another release');
});

test('what was dropped is kept again, and nothing is kept twice', () => {
  const cache = new AnswerCache(2 * MEBIBYTE);
  const time = cache.time('one', NOON);
  const keep = (query: string): void =>
    cache.keep('one', time, NOON, KIND, query, {
      ...answerOf(''),
      body: Buffer.alloc(1000, query),
    });
  keep('first');
  const { bytes } = cache;
  keep('first');
  assert.equal(cache.bytes, bytes);
  for (let at = 0; kept(cache, 'first') !== null; at += 1) keep(`${at}`);
  keep('first');
  assert.equal(kept(cache, 'first')?.length, 1000);
});

test('a limit of zero keeps nothing', () => {
  const cache = new AnswerCache(0);
  cache.keep('one', cache.time('one', NOON), NOON, KIND, 'q', answerOf('a'));
  assert.equal(kept(cache, 'q'), null);
  assert.equal(cache.bytes, 0);
});

test('a cache that is too small for anything is not looked into, and counts what it was asked', () => {
  const sizes = [0, MEBIBYTE - 1, MEBIBYTE];
  assert.deepEqual(
    sizes.map((bytes) => new AnswerCache(bytes).isOff),
    [true, true, false],
  );
  const cache = new AnswerCache(0);
  cache.wasAsked = () => assert.fail('it was looked into');
  let submitted = 0;
  const table = routeTable(
    lookupRoutes({
      gate: new Gate({
        find: () => stubKey('a', 1_000),
        rates: createRateGate(() => 0),
        baseUrl: '',
      }),
      renderFailure: stubFailure,
      baseUrl: '',
      usage: {
        admit: ({ id, account }) => new Admission(new Meter(id, account), GRANT_ALL, 0),
        settle: () => undefined,
      },
      pool: {
        submit: (request) => {
          submitted += 1;
          request.answered(
            { status: 200, code: 100, precision: 2, flags: 0, body: Buffer.from('x') },
            { id: 'one', dir: '' },
          );
        },
      },
      repeats: { cache, release: () => 'one' },
    }),
  );
  for (let time = 0; time < 3; time += 1) inject(table, 'GET', '/request/v60?postalcode=05401');
  assert.deepEqual([submitted, cache.misses, cache.hits, cache.bytes], [3, 3, 0, 0]);
});

/** Answers as a worker would that has this release; what says "refused" is refused. */
function answerAs(request: LookupRequest, release: string): void {
  const status = String(request.payload).includes('refused') ? 422 : 200;
  request.answered(
    {
      status,
      code: 100,
      precision: 2,
      flags: FLAG_GEO | FLAG_STALE,
      body: Buffer.from(`${release} ${request.grants} ${request.version}`),
    },
    { id: release, dir: '' },
  );
}

test('who asks a third time gets the same bytes and fields without a worker, and is counted', () => {
  const asked: LookupRequest[] = [];
  const settled: [boolean, boolean][] = [];
  const key = stubKey('k', 1000, 5);
  let grants = GRANT_ALL;
  let release = 'one';
  const table = routeTable(
    lookupRoutes({
      gate: new Gate({ find: () => key, rates: createRateGate(() => 0), baseUrl: '' }),
      renderFailure: stubFailure,
      baseUrl: '',
      usage: {
        admit: ({ id, account }) => new Admission(new Meter(id, account), grants, 0),
        settle: (_admission, counted, geo) => {
          settled.push([counted, geo]);
        },
      },
      pool: {
        submit: (request) => {
          asked.push(request);
          answerAs(request, release);
        },
      },
      repeats: { cache: new AnswerCache(2 * MEBIBYTE), release: () => release },
    }),
  );
  const get = (query: string, version = 60): InjectedReply =>
    inject(table, 'GET', `/request/v${version}?${query}`);
  const first = get('lat=1&lng=2');
  get('lat=1&lng=2');
  assert.equal(asked.length, 2);
  const third = get('lat=1&lng=2');
  assert.equal(asked.length, 2);
  assert.equal(third.body, first.body);
  const remaining = 'x-ratelimit-remaining';
  assert.deepEqual(
    [first, third].map(({ headers }) => headers.get(remaining)),
    ['999', '997'],
  );
  for (const [name, value] of first.headers) {
    if (name !== remaining) assert.equal(third.headers.get(name), value, name);
  }
  assert.deepEqual(settled, [
    [true, true],
    [true, true],
    [true, true],
  ]);
  assert.equal(get('lat=1&lng=2', 50).body, `one ${GRANT_ALL} 50`, 'another version');
  grants = GRANT_ALL - GRANT_GEO;
  assert.equal(get('lat=1&lng=2').body, `one ${grants} 60`, 'a quota is used up');
  grants = GRANT_ALL;
  release = 'two';
  assert.equal(get('lat=1&lng=2').body, `two ${GRANT_ALL} 60`, 'another release');
  const before = asked.length;
  for (let time = 0; time < 4; time += 1) assert.equal(get('refused').status, 422);
  assert.equal(asked.length, before + 4, 'refusals are not kept');
});
