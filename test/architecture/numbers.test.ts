/** The numbers and rooms that docs/architecture.md and CONTRIBUTING.md tell are those there are. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sourceNumbers } from '../support/source-numbers.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const ARCHITECTURE = readFileSync(join(ROOT, 'docs', 'architecture.md'), 'utf8');

/** Sizes are told as of some day: they may be off by this share, counts of files by so many. */
const SHARE_OFF_MAX = 0.02;
const FILES_OFF_MAX = 3;

/** The numbers at the head of the last cell of a row of the table. */
function told(row: string): readonly number[] {
  const line = ARCHITECTURE.split('\n').find((each) => each.startsWith(`| ${row} |`));
  const cell = line?.split('|')[4] ?? assert.fail(row);
  const numbers = /^[\d, ]+/.exec(cell.trim())?.[0].split(', ') ?? [];
  return numbers.map((each) => Number(each.replaceAll(',', '')));
}

test('the table of the architecture tells what there is', () => {
  const numbers = sourceNumbers();
  const [files = 0, lines = 0] = told('files and lines of `src`');
  assert.ok(Math.abs(files / numbers.files - 1) <= SHARE_OFF_MAX, `${files}, ${numbers.files}`);
  assert.ok(Math.abs(lines / numbers.lines - 1) <= SHARE_OFF_MAX, `${lines}, ${numbers.lines}`);
  const near: readonly (readonly [string, number])[] = [
    ['files that one other imports', numbers.oneImporter],
    ['files under 30 lines', numbers.short],
    ['files of `test/support`', numbers.support],
  ];
  for (const [row, there] of near) {
    const [number = 0] = told(row);
    assert.ok(Math.abs(number - there) <= FILES_OFF_MAX, `${row}: ${number}, there are ${there}`);
  }
  assert.deepEqual(told('runtime dependencies'), [numbers.dependencies]);
  assert.deepEqual(told('base names that stand in several folders'), [numbers.repeated]);
});

test('each folder of the source has its line', () => {
  const folders = readdirSync(join(ROOT, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  const contributing = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
  for (const [name, text] of Object.entries({ ARCHITECTURE, contributing })) {
    // As "`api`", "`src/api`" or "`api/cart`".
    const isTold = (folder: string): boolean =>
      new RegExp(`^\\| [^|]*\`(?:src/)?${folder}[\`/]`, 'm').test(text);
    const missing = folders.filter((folder) => !isTold(folder));
    assert.deepEqual(missing, [], name);
  }
});
