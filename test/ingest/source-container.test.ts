/** Publishers' files as they come: zip archives, gzip, workbooks, and what only bears the name. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { SourceFiles } from '../../src/ingest/source-files.js';
import { readPacked, readWhole } from '../../src/ingest/source/container.js';
import { readTigerRanges } from '../../src/ingest/source/ranges.js';
import { readLines, readRows } from '../../src/ingest/source/rows.js';
import { decimalText } from '../../src/ingest/source/workbook.js';
import { UNPACK_RATIO_MAX } from '../../src/ingest/source/zip.js';
import { ALDERMARK_FALLEN, ALDERMARK_KEPT, aldermarkFile } from '../support/boundary-rows.js';
import { eventually } from '../support/http-eventually.js';
import { all, type Packed, workbookOf, zipOf } from '../support/made-files.js';

const DIR = mkdtempSync(join(tmpdir(), 'situs-container-'));
const SHARED = join(import.meta.dirname, '../../../../shared/data');
const LIST = 'name,rate\n"Elmton, Old",0.01\nSt. Hazel,0.02\n';

after(() => rmSync(DIR, { recursive: true, force: true }));

function put(name: string, bytes: string | Buffer): string {
  writeFileSync(join(DIR, name), bytes);
  return join(DIR, name);
}

test('rows of a zipped file are those of the file', async () => {
  const plain = await all(readRows(put('list.csv', LIST), ','));
  assert.equal(plain.length, 3);
  const one = put('one.zip', zipOf([{ name: 'LIST.CSV', data: LIST }]));
  const several = put(
    'several.ZIP',
    zipOf([
      { name: 'notes/', data: '' },
      { name: 'readme.pdf', data: '%PDF' },
      { name: '__MACOSX/list.csv', data: 'x' },
      { name: 'data/list.csv', data: LIST },
      { name: 'data/other.csv', data: 'x' },
    ]),
  );
  for (const path of [one, `${one}!*.csv`, `${several}!LIST*`, `${several}!data/list.csv`]) {
    assert.deepEqual(await all(readRows(path, ',')), plain, path);
  }
  assert.deepEqual(
    await all(readLines(put('list.csv.gz', gzipSync(LIST)))),
    LIST.trim().split('\n'),
  );
  assert.equal(await readPacked(one), LIST);
});

test('a boundary file reads the same out of a zip', async () => {
  const plain = put('QAB2026Q4.csv', aldermarkFile());
  const zip = put('QAB2026Q4.zip', zipOf([{ name: 'QAB2026Q4.csv', data: readFileSync(plain) }]));
  const rows = await all(readRows(zip, ','));
  assert.equal(rows.length, ALDERMARK_KEPT + ALDERMARK_FALLEN.length);
  assert.deepEqual(rows, await all(readRows(plain, ',')));
});

test('text keeps its letters and lines across chunks', async () => {
  const lines = [...Array(60_000).keys()].map((at) => `${at}\tCañada ${'é'.repeat(at % 7)}`);
  const text = `\uFEFF${lines.join('\r\n')}`;
  assert.ok(Buffer.byteLength(text) > 1 << 19);
  assert.deepEqual(await all(readLines(put('lines.txt', text))), lines);
  const latin = put(
    'latin.zip',
    zipOf([{ name: 'a.csv', data: Buffer.from('Ca\xf1on\n', 'latin1') }]),
  );
  assert.equal(await readPacked(latin), 'Cañon\n');
});

test('what cannot be read is an error with the file and the reason', async () => {
  const good = zipOf([
    { name: 'a.csv', data: LIST },
    { name: 'b.csv', data: LIST },
  ]);
  const one = zipOf([{ name: 'a.csv', data: LIST.repeat(50) }]);
  const cases: readonly (readonly [string, string | Buffer, RegExp, member?: string])[] = [
    ['page.zip', '<!DOCTYPE html><html>404</html>', /end of central directory/i],
    ['torn.zip', one.subarray(0, one.length - 30), /end of central directory/i],
    ['cut.zip', Buffer.concat([one.subarray(0, 60), Buffer.alloc(40), one.subarray(100)]), /./],
    ['two.zip', good, /2 members \(a\.csv, b\.csv\); say which one: two\.zip!MEMBER/],
    ['none.zip', good, /no member "c\*", but: a\.csv, b\.csv/, 'c*'],
    ['both.zip', good, /"\*\.csv" fits several members: a\.csv, b\.csv/, '*.csv'],
    ['void.zip', zipOf([]), /has 0 members \(none\)/],
    ['empty.zip', zipOf([{ name: 'a.csv', data: '' }]), /is empty/],
    ['locked.zip', zipOf([{ name: 'a.csv', data: LIST }], { flags: 0x801 }), /a\.csv is encrypted/],
    [
      'flipped.zip',
      zipOf([{ name: 'a.csv', data: LIST }], { crc: 1 }),
      /not those that were packed/,
    ],
    [
      'short.zip',
      zipOf([{ name: 'a.csv', data: LIST }], { size: 9999 }),
      /not enough bytes|expected/i,
    ],
    ['long.zip', zipOf([{ name: 'a.csv', data: LIST }], { size: 3 }), /too many bytes|expected/i],
    ['page.csv', '\n <html><body>Not found</body>', /web page, not a table/],
    ['report.csv', '%PDF-1.7', /PDF, not a table/],
    ['named.csv', good, /zip archive or a workbook/],
    ['empty.csv', '', /is empty/],
    ['torn.csv.gz', gzipSync(LIST).subarray(0, 20), /unexpected end/],
    ['none.csv.gz', LIST, /incorrect header/],
  ];
  for (const [name, bytes, reason, member] of cases) {
    const path = put(name, bytes) + (member === undefined ? '' : `!${member}`);
    await assert.rejects(
      () => readWhole(path),
      (error: Error) => {
        assert.ok(error.message.includes(name), `${name}: ${error.message}`);
        assert.match(error.message, reason, name);
        return true;
      },
    );
    const named = (error: Error): boolean => error.message.split(DIR).length === 2;
    await assert.rejects(() => all(readRows(path, ',')), named, `${name} is named once`);
  }
});

test('who reads no further leaves no file open', {
  skip: !existsSync('/proc/self/fd') && 'the system tells of no open files',
}, async () => {
  const line = `${'x'.repeat(99)}\n`;
  const path = put(
    'left.csv.gz',
    gzipSync(Array.from({ length: 99_999 }, (_, at) => `${at}${line}`).join('')),
  );
  const open = (): number =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`) === path;
      } catch {
        return false;
      }
    }).length;
  for await (const row of readLines(path)) {
    assert.ok(row.startsWith('0x'));
    assert.equal(open(), 1);
    break;
  }
  await eventually(() => open() === 0);
});

test('archives that would unpack to far more than they are end early', async () => {
  const zeros = Buffer.alloc(80 * 1_048_576);
  const bomb = new RegExp(`more than ${UNPACK_RATIO_MAX} times its`);
  await assert.rejects(
    () => readWhole(put('bomb.zip', zipOf([{ name: 'a.csv', data: zeros }]))),
    bomb,
  );
  await assert.rejects(() => readWhole(put('bomb.csv.gz', gzipSync(zeros))), bomb);
});

test('workbooks: sheets by name, rows in their places, numbers as they are shown', async () => {
  const book = put(
    'rates.xlsx',
    workbookOf({
      Notes: [['Rates & notes']],
      'By Name ': [
        [],
        ['', 'Place', 'Rate'],
        [null, 'Elmton, "Old"', 0.0725],
        [],
        ['x', null, 46023],
      ],
    }),
  );
  assert.equal(await readPacked(book), 'Rates & notes\n');
  assert.equal(
    await readPacked(`${book}!by name`),
    '\n,Place,Rate\n,"Elmton, ""Old""",0.0725\n\nx,,46023\n',
  );
  await assert.rejects(
    () => readPacked(`${book}!Cities`),
    /rates\.xlsx: it has no sheet "Cities", but: Notes, By Name/,
  );
  await assert.rejects(
    () => readPacked(put('torn.xlsx', readFileSync(book).subarray(0, 500))),
    /torn\.xlsx/,
  );
  assert.deepEqual(
    [
      '7.2499999999999995E-2',
      '1E-3',
      '5.0000000000000001E-4',
      '46023',
      '-1.5',
      '0.30000000000000004',
      '1e-7',
      'n/a',
    ].map(decimalText),
    ['0.0725', '0.001', '0.0005', '46023', '-1.5', '0.3', '0.0000001', 'n/a'],
  );
});

const TIGER = join(SHARED, 'tiger-addrfeat-sample');
const COUNTY = 'tl_2021_30059_addrfeat';
const NO_TIGER = existsSync(TIGER) ? false : `${TIGER} is not there`;

function tigerParts(prj?: string): Packed[] {
  return ['cpg', 'dbf', 'prj', 'shp', 'shx'].map((ending) => ({
    name: `${COUNTY}.${ending}`,
    data:
      ending === 'prj' && prj !== undefined
        ? prj
        : readFileSync(join(TIGER, `${COUNTY}.${ending}`)),
  }));
}

test('a shapefile is read out of the zip it is published in', { skip: NO_TIGER }, async () => {
  const options = { source: 'tiger', state: 'MT' };
  const ranges = await all(readTigerRanges(join(TIGER, `${COUNTY}.shp`), options));
  assert.ok(ranges.length > 500);
  const zip = put(`${COUNTY}.zip`, zipOf(tigerParts()));
  assert.deepEqual(await all(readTigerRanges(zip, options)), ranges);
  assert.deepEqual(await all(readTigerRanges(`${zip}!${COUNTY}.shp`, options)), ranges);
  const feet = 'PROJCS["NAD_1983_StatePlane_Washington_South_FIPS_4602_Feet",GEOGCS["x"]]';
  const projected = put('feet.zip', zipOf(tigerParts(feet)));
  await assert.rejects(
    () => all(readTigerRanges(projected, options)),
    /feet\.zip: its coordinates are those of NAD_1983_StatePlane_Washington/,
  );
  const torn = put('torn-shp.zip', zipOf(tigerParts().filter(({ name }) => !name.endsWith('dbf'))));
  await assert.rejects(
    () => all(readTigerRanges(torn, options)),
    /torn-shp\.zip: it has no member "\*\.dbf"/,
  );
});

test("recipes name archives: the archive is noted, its text is the member's", async () => {
  put('XXR2026Q4.zip', zipOf([{ name: 'XXR2026Q4.csv', data: LIST }]));
  put(
    'list.xlsx',
    workbookOf({
      Rates: [
        ['name', 'rate'],
        ['Elmton', 0.01],
      ],
    }),
  );
  const files = new SourceFiles(DIR, DIR);
  await files.unpack(['XXR2026Q4.zip!*.csv', 'XXR2026Q4.zip', 'list.xlsx!Rates', undefined]);
  assert.equal(files.text('XXR2026Q4.zip'), LIST);
  assert.equal(files.text('XXR2026Q4.zip!*.csv'), LIST);
  assert.equal(files.text('list.xlsx!Rates'), 'name,rate\nElmton,0.01\n');
  assert.deepEqual(
    files.list().map(({ path }) => path),
    ['XXR2026Q4.zip', 'list.xlsx'],
  );
  assert.throws(() => files.note('gone.zip!a.csv'), /needs gone\.zip, which is not in/);
});
