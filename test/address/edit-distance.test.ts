import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { typoAllowed, withinOneTypo } from '../../src/address/typo.js';

/** Optimal string alignment distance by its table, the oracle. */
function distance(a: string, b: string): number {
  const rows: number[][] = [];
  for (let i = 0; i <= a.length; i++) {
    const row: number[] = [i];
    for (let j = 1; j <= b.length; j++) {
      if (i === 0) {
        row.push(j);
        continue;
      }
      const above = rows[i - 1] ?? [];
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min((above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (above[j - 1] ?? 0) + change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, (rows[i - 2]?.[j - 2] ?? 0) + 1);
      }
      row.push(best);
    }
    rows.push(row);
  }
  return rows[a.length]?.[b.length] ?? 0;
}

test('examples', () => {
  assert.ok(withinOneTypo('SPECTRUM', 'SPECTRUM'));
  assert.ok(withinOneTypo('SPECTRUM', 'SPECRUM'));
  assert.ok(withinOneTypo('SPECTRUM', 'SPECTRRUM'));
  assert.ok(withinOneTypo('SPECTRUM', 'SPECTRIM'));
  assert.ok(withinOneTypo('SPECTRUM', 'SPETCRUM'));
  assert.ok(!withinOneTypo('SPECTRUM', 'SPETRIM'));
  assert.ok(!withinOneTypo('SPECTRUM', 'SPTCERUM'));
  assert.ok(withinOneTypo('', 'A'));
  assert.ok(!withinOneTypo('', 'AB'));
});

test('agrees with the table of distances', () => {
  const word = fc.string({ unit: fc.constantFrom('A', 'B', 'C'), maxLength: 7 });
  fc.assert(
    fc.property(word, word, (a, b) => withinOneTypo(a, b) === distance(a, b) <= 1),
    { numRuns: 5000 },
  );
});

test('short names and names with figures are never matched with a typo', () => {
  for (const name of ['ELM', 'OAK', 'E', '', '5TH', '22ND', '400', 'USHIGHWAY7', 'A B']) {
    assert.equal(typoAllowed(name), false, name);
  }
  for (const name of ['MAIN', 'SPECTRUM CENTER', 'STPAUL']) assert.equal(typoAllowed(name), true);
});
