/** A list that takes the place of others, and names fewer than they. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Manifest } from '../../src/dataset/manifest.js';
import { findingText } from '../../src/ingest/findings/finding.js';
import { shrunkFindings } from '../../src/ingest/findings/list-shrunk.js';

type Listed = Pick<Manifest, 'coverage' | 'counts'>;

/** What a manifest tells of a state's cities: its lists, of which `source` speaks for the level. */
function listed(source: string, jurisdictions: number, lists: Record<string, number>): Listed {
  const level = { level: 'city', completeness: 'complete', asOf: '', until: '' };
  const levels = [{ ...level, source, jurisdictions, lists }];
  return {
    coverage: [
      { state: 'QA', name: 'A', placeBoundaries: false, addressPoints: 0, gaps: [], levels },
    ],
    counts: {},
  };
}

test('a new list beside the older ones, which give the past, is compared with what they had', () => {
  const before = listed('old', 598, { old: 590, older: 300 });
  const told = (count: number): readonly string[] =>
    shrunkFindings(before, listed('new', 598, { old: 590, older: 300, new: count })).map(
      findingText,
    );
  assert.deepEqual(told(597), []);
  assert.deepEqual(told(500), [
    'warning list-shrunk: QA city list (new): 500 where there were 598, 16.4 % fewer',
  ]);
  assert.deepEqual(told(172), [
    'error list-shrunk: QA city list (new): 172 where there were 598, 71.2 % fewer',
  ]);
  // One that does not speak for the level adds to it.
  const added = listed('old', 598, { old: 590, older: 300, more: 3 });
  assert.deepEqual(shrunkFindings(before, added), []);
});
