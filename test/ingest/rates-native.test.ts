/**
 * Readers of rate lists on files laid out as their publishers lay them out; which description each
 * file was written from stands beside them, in published/README.md.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { SourceFiles } from '../../src/ingest/source-files.js';
import { readPacked } from '../../src/ingest/source/container.js';
import { sheetRows, splitRows } from '../../src/ingest/source/table-text.js';
import { brief, read } from '../support/listed-rates.js';
import { type CellValue, pdfOf, workbookOf, zipOf } from '../support/made-files.js';
import { NATIVE } from './native-lists.js';

const FILES = join(import.meta.dirname, '../../../test/ingest/published');
const DIR = mkdtempSync(join(tmpdir(), 'situs-native-'));

after(() => rmSync(DIR, { recursive: true, force: true }));

function fixture(name: string): string {
  return readFileSync(join(FILES, name), 'utf8');
}

/** The text of a sheet after it was in a workbook, where figures are numbers. */
async function sheet(csv: string): Promise<string> {
  const cells = sheetRows(csv).map((row) =>
    row.every((cell) => cell === '')
      ? []
      : row.map(
          (cell): CellValue =>
            cell === '' ? null : /^\d*\.?\d+$/.test(cell) ? Number(cell) : cell,
        ),
  );
  const file = join(DIR, 'list.xlsx');
  writeFileSync(file, workbookOf({ Rates: cells }));
  return readPacked(file);
}

/** The text of a PDF with the pieces of a fixture: page, points from left and bottom, text. */
async function pdf(tsv: string): Promise<string> {
  const pieces = splitRows(tsv, '\t').map(([page, x, y, text = '']) => ({
    page: Number(page),
    piece: [Number(x), Number(y), text] as const,
  }));
  const pages = [...new Set(pieces.map(({ page }) => page))].map((page) =>
    pieces.filter((one) => one.page === page).map(({ piece }) => piece),
  );
  const file = join(DIR, 'list.pdf');
  writeFileSync(file, pdfOf(pages));
  return readPacked(file);
}

for (const [reader, native] of Object.entries(NATIVE)) {
  test(`${reader}: the file as published, and what is wrong with others`, async () => {
    const text = fixture(native.file);
    const isSheet = native.file.endsWith('.csv') && !/^(?:nm|ok)-/.test(native.file);
    const isPdf = native.file.endsWith('.tsv');
    const at = async (changed: string): Promise<string> =>
      isSheet ? sheet(changed) : isPdf ? pdf(changed) : changed;
    const { rows, members, report } = read(reader, await at(text), native.options);
    assert.deepEqual(brief(rows), native.rows);
    assert.deepEqual(
      members.map(({ code, scope, county, place }) => [code, scope, county, place].join(' ')),
      native.members ?? [],
    );
    assert.deepEqual(report.unmatched, native.unmatched ?? []);
    assert.deepEqual(
      report.unplaced.map(({ name }) => name),
      native.unplaced ?? [],
    );
    assert.equal(report.dropped.length, native.dropped ?? 0);
    for (const [from, to, told] of native.faults) {
      const changed = text.replace(from, to);
      assert.notEqual(changed, text, String(from));
      const given = await at(changed);
      assert.throws(() => read(reader, given, native.options), told);
    }
    if (reader !== 'nm-grt') assert.throws(() => read(reader, '', native.options), RangeError);
  });
}

test('the pages of a folder are one list, and each of them is told to the manifest', async () => {
  const [first, second = ''] = fixture('la-domiciles.html').split(/(?=<!DOCTYPE)/);
  mkdirSync(join(DIR, 'la-rates'));
  writeFileSync(join(DIR, 'la-rates/0100.html'), first ?? '');
  writeFileSync(join(DIR, 'la-rates/0200.html'), second);
  writeFileSync(join(DIR, 'la-rates/notes.txt'), 'fetched by hand');
  const files = new SourceFiles(DIR, DIR);
  await files.unpack(['la-rates/*.html']);
  const { rows } = read('la-domiciles', files.text('la-rates/*.html'));
  assert.deepEqual(brief(rows), NATIVE['la-domiciles']?.rows);
  assert.deepEqual(
    files.list().map(({ path }) => path),
    ['la-rates/0100.html', 'la-rates/0200.html'],
  );
  // GeoNames has a readme.txt in each of its archives.
  mkdirSync(join(DIR, 'geonames'));
  for (const name of ['US', 'PR']) {
    writeFileSync(
      join(DIR, `geonames/${name}.zip`),
      zipOf([
        { name: 'readme.txt', data: 'notes' },
        { name: `${name}.txt`, data: `${name}\t00601\tA\n` },
      ]),
    );
  }
  await files.unpack(['geonames/*.zip']);
  assert.equal(files.text('geonames/*.zip'), 'PR\t00601\tA\n\nUS\t00601\tA\n');
  await assert.rejects(
    () => files.unpack(['la-rates/*.htm']),
    /needs la-rates\/\*\.htm, and none is in/,
  );
});
