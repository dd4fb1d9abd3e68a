/** The case `bulk-rows` of `npm run torture`, as short as a test may be, and what it would find. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { bulkRows } from '../../bench/torture/bulk-rows.js';
import type { Trailer } from '../../src/bulk/row/envelope.js';
import { RowCheck } from '../../bench/torture/row-check.js';
import { drawing, POOL_HEADER, type PoolRow } from '../../bench/torture/row-pool.js';
import { APPENDED_COLUMNS } from '../../src/bulk/row/columns.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';

const SEED = 5;
const ROWS = 40;
const POOL: readonly PoolRow[] = Array.from({ length: 4 }, (_, index) => ({
  body: Buffer.from(`${index} Main St,Elmton,QA,91010,,`),
  query: null,
}));

let built: Built;

before(() => {
  built = buildRecipe('fixture');
});

after(() => {
  built.remove();
});

test('rows come back as they were sent while both sides rest', async () => {
  const { summary, codes, wrong } = await bulkRows(built.varDir, 12_000, SEED, 30);
  assert.deepEqual(wrong, [], summary);
  assert.equal(
    [...codes.values()].reduce((sum, count) => sum + count, 0),
    12_000,
  );
  assert.ok((codes.get(100) ?? 0) > 6_000 && codes.size > 2, summary);
});

/** The lines that a server would answer with: the code tells the row of the pool. */
function answered(): string[] {
  const draw = drawing(POOL, SEED);
  const rows = Array.from({ length: ROWS }, (_, id) => {
    const drawn = draw();
    const appended = APPENDED_COLUMNS.map((name) => (name === 'situs_code' ? 100 + drawn : ''));
    return `${id},${POOL[drawn]!.body.toString()},${appended.join(',')}`;
  });
  return [`${POOL_HEADER.trimEnd()},${APPENDED_COLUMNS.join(',')}`, ...rows];
}

/** What a check says of lines, with a trailer that is true but for what is given. */
function faultsOf(lines: readonly string[], change: Partial<Trailer> = {}): readonly string[] {
  const output = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  const check = new RowCheck(POOL, SEED);
  for (let at = 0; at < output.length; at += 17) check.push(output.subarray(at, at + 17));
  const codes: Record<string, number> = {};
  for (const [code, count] of [...check.counts].sort(([one], [other]) => one - other)) {
    codes[code] = count;
  }
  check.end(ROWS, {
    complete: true,
    rows: check.rows,
    codes,
    bytes: output.length,
    sha256: createHash('sha256').update(output).digest('hex'),
    stopped: null,
    ...change,
  });
  return check.wrong;
}

test('the check finds rows that are lost, moved, changed or answered in two ways', () => {
  const lines = answered();
  assert.deepEqual(faultsOf(lines), []);
  const changed = (change: (lines: string[]) => void): readonly string[] => {
    const own = [...lines];
    change(own);
    return faultsOf(own);
  };
  for (const [change, fault] of [
    [(own) => own.splice(7, 1), /^row 6 has the id 7$/],
    [(own) => own.pop(), /^40 rows in, 39 out$/],
    [(own) => own.splice(3, 2, own[4]!, own[3]!), /^row 2 has the id 3$/],
    [(own) => own.splice(9, 1, own[9]!.replace('Elmton', 'Elmtom')), /^row 8 came back as 8,/],
    [(own) => own.splice(40, 1, own[40]!.replace(/10\d,$/, '110,')), /^row 39 was answered /],
    [(own) => own.splice(1, 1, `${own[1]},x`), /^row 0 has 20 columns appended$/],
    [(own) => own.splice(0, 1, 'id'), /^the header line is id$/],
  ] as readonly (readonly [(own: string[]) => void, RegExp])[]) {
    const faults = changed(change);
    assert.ok(
      faults.some((each) => fault.test(each)),
      `${fault}: ${faults.join('\n')}`,
    );
  }
  for (const change of [
    { complete: false },
    { rows: 41 },
    { codes: { 100: 40 } },
    { bytes: 1 },
    { sha256: '' },
    { stopped: { code: 106, message: '', line: 1 } },
  ]) {
    const [name] = Object.keys(change);
    assert.match(
      faultsOf(lines, change).join('\n'),
      new RegExp(`^${name} is .*, the trailer says`),
    );
  }
});
