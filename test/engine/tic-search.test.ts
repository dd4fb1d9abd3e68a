import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FOUND_MAX, readTics, TicSearch } from '../../src/engine/product/tic-search.js';
import { factRows, realTics } from '../support/product-facts.js';
import { DESCRIPTIONS, type Description } from './tic-descriptions.js';
import { KEPT_DESCRIPTIONS } from './tic-descriptions-kept.js';

const TICS = realTics();
const SEARCH = new TicSearch(TICS);

function firsts(query: string, count: number, search = SEARCH): readonly string[] {
  return search
    .find(query)
    .slice(0, count)
    .map(({ tic }) => tic.tic);
}

interface Shares {
  readonly top1: number;
  readonly top3: number;
}

function sharesOf(descriptions: readonly Description[], search = SEARCH): Shares {
  const share = (count: number): number =>
    descriptions.filter(([text, ...codes]) =>
      firsts(text, count, search).some((code) => codes.includes(code)),
    ).length / descriptions.length;
  return { top1: share(1), top3: share(3) };
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

test('the catalogue has every code, and everyday words name codes that exist', () => {
  assert.equal(TICS.length, 669);
  const known = new Set(TICS.map(({ tic }) => tic));
  const words = factRows('tic_words.tsv').map((row) => row['tic'] ?? '');
  assert.deepEqual(
    words.filter((tic) => !known.has(tic)),
    [],
  );
  assert.equal(new Set(words).size, words.length, 'one row a code');
  const expected = [...DESCRIPTIONS, ...KEPT_DESCRIPTIONS].flatMap(([, ...codes]) => codes);
  assert.deepEqual(
    expected.filter((tic) => !known.has(tic)),
    [],
  );
});

test('everyday descriptions find the code a reader would choose', (context) => {
  const { top1, top3 } = sharesOf(DESCRIPTIONS);
  context.diagnostic(`${DESCRIPTIONS.length}: first ${percent(top1)}, in three ${percent(top3)}`);
  assert.ok(top1 >= 0.95, percent(top1));
  assert.ok(top3 >= 0.98, percent(top3));
});

test('so do descriptions that nothing was tuned on', (context) => {
  const { top1, top3 } = sharesOf(KEPT_DESCRIPTIONS);
  const count = KEPT_DESCRIPTIONS.length;
  context.diagnostic(`${count}: first ${percent(top1)}, in three ${percent(top3)}`);
  assert.ok(top1 >= 0.85, percent(top1));
  assert.ok(top3 >= 0.93, percent(top3));
});

test('titles alone answer less: the everyday words are worth their table', (context) => {
  const bare = sharesOf(KEPT_DESCRIPTIONS, new TicSearch(realTics(false)));
  context.diagnostic(`without: first ${percent(bare.top1)}, in three ${percent(bare.top3)}`);
  assert.ok(bare.top3 < sharesOf(KEPT_DESCRIPTIONS).top3);
});

test('slips, beginnings, endings, accents and capitals do not matter', () => {
  const cases: readonly Description[] = [
    ['refridgerator', '21009'],
    ['ibuprophen', '51130'],
    ['dipers', '20012'],
    ['toothpast', '51170', '51171', '51172'],
    ['refrig', '21009'],
    ['vitam', '90011'],
    ['FISHING RODS', '21303'],
    ['fished rod', '21303'],
    ['Bicyclé', '21356'],
    ['kayaks', '21327'],
  ];
  for (const [text, ...codes] of cases) {
    assert.ok(
      firsts(text, 3).some((code) => codes.includes(code)),
      text,
    );
  }
});

test('a slip in an ending, which leaves another stem, does not matter either', () => {
  for (const text of ['clothng', 'clohting', 'clothin']) {
    assert.deepEqual(firsts(text, 5), firsts('clothing', 5), text);
  }
  assert.notEqual(firsts('jewlery', 1).length, 0);
});

test('a title finds its code', (context) => {
  assert.equal(firsts('clothing', 1)[0], '20010');
  const codes = new Map<string, string[]>();
  for (const { tic, title } of TICS) codes.set(title, [...(codes.get(title) ?? []), tic]);
  const { top1 } = sharesOf([...codes].map(([title, tics]): Description => [title, ...tics]));
  context.diagnostic(`${codes.size} titles: first ${percent(top1)}`);
  assert.ok(top1 >= 0.96, percent(top1));
});

test('a code finds itself', () => {
  for (const tic of ['41030', '00000', '99999']) assert.equal(firsts(tic, 1)[0], tic);
});

test('answers are ranked, bounded and always the same', () => {
  const found = SEARCH.find('food for the dog and the computer');
  assert.ok(found.length > 3 && found.length <= FOUND_MAX);
  const scores = found.map(({ score }) => score);
  assert.deepEqual(
    scores,
    [...scores].sort((one, other) => other - one),
  );
  assert.ok(scores.every((score) => score > 0 && score < 1));
  assert.deepEqual(SEARCH.find('food for the dog and the computer'), found);
});

test('what says nothing finds nothing', () => {
  for (const text of ['', ' ', 'the of and', '!!!', 'xqzzvw kjhgfq', '\ud800', '\u0000']) {
    assert.deepEqual(SEARCH.find(text), [], JSON.stringify(text));
  }
  assert.ok(Array.isArray(SEARCH.find('constructor __proto__ toString')));
});

test('a dataset without codes or words is no fault', () => {
  assert.deepEqual(new TicSearch(readTics(null, null)).find('milk'), []);
  assert.deepEqual(readTics([{ tic: '1', title: 'x' }, 7, { tic: '10001' }], 'x'), []);
});
