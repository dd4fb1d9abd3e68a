/** Lists that would say that nothing is levied, because they are not what their recipe takes them for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGazetteer } from '../../src/ingest/rates/gazetteer.js';
import { type ReadList, readList } from '../../src/ingest/rates/read-list.js';
import type { RateList } from '../../src/ingest/recipe.js';
import type { DateInt } from '../../src/tax/date.js';
import { brief, COUNTIES, PLACES, read, STATE } from '../support/listed-rates.js';

const OTHER = { code: 'YY', fips: '98', name: 'Yland', country: 'USA' as const };
const SOURCE = {
  id: 0,
  name: 'invented',
  publisher: '',
  licence: '',
  asOf: 20260101 as DateInt,
  estimated: false,
};
const CODED = 'level\tname\tcode\tfips\tcombined_pct\tlocal_pct\teffective_from\tas_of\n';
const COMBINED = 'level\tname\tfips\tcounty\trate\tkind\teffective_from\teffective_to\n';
const ALPHA = 'county\tAlpha County\t\t\t\t2\t2026-01-01\t2026-01-01\n';

function listed(reader: string, text: string, state = 'XX'): ReadList {
  const list: RateList = { reader, path: 'list.tsv', state, source: 'invented' };
  return readList(list, {
    files: { text: () => text },
    gazetteer: createGazetteer([STATE, OTHER], COUNTIES, PLACES, []),
    sources: [SOURCE],
    names: [],
  });
}

test('a list without rows, or with none that its state has, is refused', () => {
  for (const text of [CODED, `${CODED}\n\n`, `${CODED}county\tGamma County\t\t\t\t2\t\t\n`]) {
    assert.throws(() => listed('coded', text), /^Error: list\.tsv: it has no rows of XX$/, text);
  }
});

test('a list of another state is refused by its codes', () => {
  const text = `${COMBINED}county\tAlpha\t99001\t\t0.02\texact\t2026-01-01\t\n`;
  assert.ok(listed('combined', text).rows.length > 0);
  assert.throws(() => listed('combined', text, 'YY'), /of another state: .* 99001, none of YY$/);
  const sst = '99,00,001,0.01,0.01,0,0,20200101,99991231\n';
  assert.equal(listed('sst', sst).rows.length, 1);
  assert.throws(() => listed('sst', sst, 'YY'), /of another state: .* 99001, none of YY$/);
});

test('lines may end with a return alone; a table parted by another sign is refused', () => {
  const rows = brief(listed('coded', CODED + ALPHA).rows);
  assert.equal(rows.length, 1);
  for (const end of ['\r', '\r\n']) {
    assert.deepEqual(brief(listed('coded', (CODED + ALPHA).replaceAll('\n', end)).rows), rows);
  }
  const commas = (CODED + ALPHA).replaceAll('\t', ',');
  assert.throws(() => listed('coded', commas), /list\.tsv: .*columns are not parted by tabs$/);
});

test('cdtfa: a city whose figure or county cannot be read is refused and not left out', () => {
  const list = (figure: string, county = 'Alpha'): string =>
    'Location,Rate,County,Type\nAlpha County Unincorporated Area,0.08,Alpha,County\n' +
    `Arden,${figure},${county},City\n`;
  const asked = (text: string): number => read('cdtfa', text, { floor: '7.25' }).rows.length;
  assert.equal(asked(list('0.09')), 2);
  for (const figure of ['', '0', '9%', '"0,09"', 'n/a', '-0.09', '9e-2']) {
    assert.throws(() => asked(list(figure)), RangeError, figure);
  }
  const cut = list('0.09').replace(/Alpha County.*\n/, '');
  assert.throws(() => asked(cut), /lacks the row of the county that Arden lies in/);
  // Counties have a row that points at their others, with its columns shifted.
  assert.equal(asked(`${list('0.09')}Alpha County,0,County,Please refer to the others\n`), 2);
});
