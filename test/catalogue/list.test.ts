import assert from 'node:assert/strict';
import { test } from 'node:test';
import { XMLParser } from 'fast-xml-parser';
import { TicSearch } from '../../src/engine/product/tic-search.js';
import { ticListBytes, ticSearchBody } from '../../src/api/catalogue/pages.js';
import { parseTicQuery } from '../../src/api/catalogue/handler.js';
import { isProblem } from '../../src/base/problem.js';
import { realTics } from '../support/product-facts.js';

const TICS = realTics();

interface Listed {
  readonly tic_list: readonly { readonly tic: Readonly<Record<string, string>> }[];
}

function parse(text: string): ReturnType<typeof parseTicQuery> {
  return parseTicQuery(Buffer.from(text));
}

test('the list is flat, six texts each, in the order of the catalogue', () => {
  const { tic_list: list } = JSON.parse(String(ticListBytes(TICS, 'json'))) as Listed;
  assert.equal(list.length, 669);
  assert.deepEqual(list[0], {
    tic: {
      id: '00000',
      parent: '',
      title: 'Uncategorized',
      label: 'Uncategorized',
      nl_title: 'Uncategorized',
      nl_label: 'Uncategorized',
    },
  });
  assert.deepEqual(
    list.map(({ tic }) => tic['id']),
    TICS.map(({ tic }) => tic),
  );
  for (const { tic } of list) assert.ok(Object.values(tic).every((text) => text === text.trim()));
});

test('XML says the same', () => {
  const parser = new XMLParser({ parseTagValue: false, isArray: (name) => name === 'tic_list' });
  const parsed = parser.parse(String(ticListBytes(TICS, 'xml'))) as { response: Listed };
  const json = JSON.parse(String(ticListBytes(TICS, 'json'))) as Listed;
  assert.deepEqual(parsed.response.tic_list, json.tic_list);
});

test('a search answers with both sets of members', () => {
  const search = new TicSearch(TICS);
  const body = JSON.parse(ticSearchBody('loaf of "bread"', search.find('loaf of bread'), '/b')) as {
    readonly results: readonly unknown[];
  };
  const [first, ...others] = body.results;
  assert.deepEqual(
    { ...body, results: [] },
    {
      $schema: '/b/schemas/ticsearch',
      query: 'loaf of "bread"',
      nextCursor: null,
      results: [],
    },
  );
  const { tic, ticId, rank } = first as { tic: string; ticId: number; rank: number };
  assert.deepEqual([tic, ticId, rank], ['41030', 41030, 1]);
  assert.deepEqual(Object.keys(first as object), [
    'tic',
    'name',
    'ticId',
    'label',
    'naturalLabel',
    'description',
    'documentation',
    'rank',
    'score',
  ]);
  assert.deepEqual(
    others.map((other) => (other as { rank: number }).rank),
    others.map((_, index) => index + 2),
  );
});

test('a body is one query and nothing else', () => {
  assert.deepEqual(parse('{"query":" baby formula "}'), { query: ' baby formula ' });
  assert.deepEqual(parse(`{"query":"${'x'.repeat(1024)}"}`), { query: 'x'.repeat(1024) });
  // Characters count, not the two halves that some are made of.
  assert.deepEqual(parse(`{"query":"${'\u{1f34e}'.repeat(1024)}"}`), {
    query: '\u{1f34e}'.repeat(1024),
  });
});

const MALFORMED: readonly (string | Uint8Array)[] = [
  '',
  '{',
  '{"query":"x"',
  'query=x',
  '{"query":"x"}}',
  '\ufeff',
  Uint8Array.of(0x22, 0xff, 0x22),
];

test('what is not JSON is malformed', () => {
  for (const text of MALFORMED) {
    const read = parseTicQuery(Buffer.from(text));
    assert.ok(isProblem(read) && read.status === 400, JSON.stringify(text));
  }
});

const WRONG: readonly (readonly [text: string, ...locations: readonly string[]])[] = [
  ['null', 'body'],
  ['[]', 'body'],
  ['"x"', 'body'],
  ['1', 'body'],
  ['{}', 'body.query'],
  ['{"query":null}', 'body.query'],
  ['{"query":7}', 'body.query'],
  ['{"query":""}', 'body.query'],
  ['{"query":" \\t\\n\\u3000"}', 'body.query'],
  [`{"query":"${'x'.repeat(1025)}"}`, 'body.query'],
  ['{"query":"x","limit":5}', 'body.limit'],
  ['{"query":"x","__proto__":{}}', 'body.__proto__'],
  ['{"Query":"x"}', 'body.query', 'body.Query'],
];

test('what is JSON and no query is told where', () => {
  for (const [text, ...locations] of WRONG) {
    const parsed = parse(text);
    assert.ok(isProblem(parsed) && parsed.status === 422, text);
    assert.deepEqual(
      parsed.errors?.map(({ location }) => location),
      locations,
      text,
    );
  }
  const many = parse(
    JSON.stringify(Object.fromEntries(Array.from({ length: 99 }, (_, n) => [n, n]))),
  );
  assert.ok(isProblem(many) && many.errors?.length === 10);
});
