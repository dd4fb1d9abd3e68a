/** Illinois' listed cities whose boundary nobody holds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read } from '../support/listed-rates.js';

test('illinois: a listed city without boundary is open only where its county is taxed otherwise', () => {
  const list = (figure: string, from: string): string =>
    [
      'state\tlevel\tname\tcode\tfips\tcombined_pct\tlocal_pct\teffective_from\tas_of\tsource',
      'XX\tcounty\tAlpha County\t1\t99001\t7.0\t\t2015-07-01\t2026-01-01\ts',
      `XX\tcity\tUnmapped (Alpha)\t2\t\t${figure}\t\t${from}\t2026-01-01\ts`,
    ].join('\n');
  const open = (figure: string, from: string): readonly string[] =>
    read('illinois', list(figure, from)).report.unplaced.map(({ name }) => name);
  assert.deepEqual(open('7', '2015-07-01'), []);
  assert.deepEqual(open('7', '1999-01-01'), []);
  assert.deepEqual(open('7', '2016-01-01'), ['Unmapped']);
  assert.deepEqual(open('7.5', '2015-07-01'), ['Unmapped']);
  assert.deepEqual(open('', '2015-07-01'), ['Unmapped']);
});
