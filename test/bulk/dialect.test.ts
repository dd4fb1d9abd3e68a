/** How a file is written, and which of its columns is what. */
import assert from 'node:assert/strict';
import { isProblem } from '../../src/base/problem.js';
import { test } from 'node:test';
import { csvCell, isWide, readCsvHead, sniffDelimiter } from '../../src/bulk/row/dialect.js';
import { COLUMNS_MAX, HEADER_BYTES_MAX } from '../../src/bulk/row/record-form.js';
import { mapColumns } from '../../src/bulk/row/mapping.js';
import { cellReader } from '../../src/bulk/row/row-parameters.js';

test('the delimiter is the one that makes most cells', () => {
  const cases: readonly (readonly [header: string, delimiter: string])[] = [
    ['a,b,c', ','],
    ['a;b, c;d', ';'],
    ['a\tb', '\t'],
    ['a|b|c', '|'],
    ['one', ','],
    ['"a;b;c;d",e', ','],
    ['a;b,c', ','],
    ['size ";zip;a,b', ';'],
    ['x,"a;b;c;d"', ','],
  ];
  for (const [header, delimiter] of cases) {
    assert.equal(sniffDelimiter(Buffer.from(header)), delimiter, header);
  }
});

test('the header line is read once it is complete', () => {
  const read = (text: string, whole = false): ReturnType<typeof readCsvHead> =>
    readCsvHead(Buffer.from(text), whole);
  assert.equal(read('a,b'), null);
  assert.equal(read('a,b\r'), null);
  assert.equal(read('"a\n'), null);
  const head = read('\ufeff"a\nx";"b"\r\nrow');
  assert.ok(head !== null && head !== 'too-long');
  assert.deepEqual(head.dialect, { delimiter: ';', newline: '\r\n', quoteAll: true });
  assert.equal(head.bom, true);
  assert.equal(head.header.toString(), '"a\nx";"b"');
  assert.equal(head.bytes, 3 + 9 + 2);
  const old = read('a,b\rc');
  assert.ok(old !== null && old !== 'too-long');
  assert.equal(old.dialect.newline, '\r');
  const alone = read('a,b', true);
  assert.ok(alone !== null && alone !== 'too-long');
  assert.equal(alone.bytes, 3);
});

test('an inch mark in a header line is text, and the line ends where it ends', () => {
  const read = (text: string, delimiter: ',' | null = null): unknown => {
    const head = readCsvHead(Buffer.from(text), true, delimiter);
    return head === null || head === 'too-long' ? head : head.header.toString();
  };
  const rows = '92694,6\n92618,7"\n';
  for (const header of ['zip,size (")', 'size 5",zip', '"a""\nb",zip "', 'a,zip,size;"']) {
    assert.equal(read(`${header}\n${rows}`), header);
    assert.equal(read(`${header}\r\n${rows}`, ','), header);
  }
  assert.equal(read(`"zip,size\n92694,6\n`), '"zip,size\n92694,6\n');
});

test('a header line has a limit, wherever its end is', () => {
  const long = 'x'.repeat(HEADER_BYTES_MAX);
  assert.notEqual(readCsvHead(Buffer.from(`${long}\n`), false), 'too-long');
  assert.equal(readCsvHead(Buffer.from(`${long}x\n`), false), 'too-long');
  assert.equal(readCsvHead(Buffer.from(`${long}x`), false), 'too-long');
});

test('marks of wide encodings are told', () => {
  assert.ok(isWide(Buffer.from([0xff, 0xfe, 0x61])) && isWide(Buffer.from([0xfe, 0xff])));
  assert.ok(!isWide(Buffer.from('\ufeffa')) && !isWide(Buffer.alloc(0)));
});

test('cells are quoted as the file does', () => {
  const plain = { delimiter: ';', newline: '\n', quoteAll: false } as const;
  assert.equal(csvCell('a, b', plain), 'a, b');
  assert.equal(csvCell('a; b', plain), '"a; b"');
  assert.equal(csvCell('say "a"', plain), '"say ""a"""');
  assert.equal(csvCell(' a', plain), '" a"');
  assert.equal(csvCell('a', { ...plain, quoteAll: true }), '"a"');
});

test('columns are known by obvious names', () => {
  assert.deepEqual(mapColumns(['Order ID', 'Street Address', 'City', 'State', 'ZIP Code', 'TIC']), {
    street: 1,
    city: 2,
    state: 3,
    zip: 4,
    taxabilityCode: 5,
  });
  assert.deepEqual(mapColumns(['id', 'Address']), { id: 0, address: 1 });
  assert.deepEqual(mapColumns(['Address', 'Postal_Code']), { street: 0, zip: 1 });
  assert.deepEqual(mapColumns(['Latitude', 'LNG', 'Historical']), {
    lat: 0,
    lng: 1,
    historical: 2,
  });
  assert.deepEqual(mapColumns(['zip', 'zip']), { zip: 0 });
});

test('the caller may say which column is what', () => {
  const headers = ['Ship To', 'a:b', 'zip'];
  assert.deepEqual(mapColumns(headers, ['address:ship to']), { address: 0, zip: 2 });
  assert.deepEqual(mapColumns(headers, ['address:a:b', 'zip:']), { address: 1 });
  assert.deepEqual(mapColumns(headers, ['street:#1', 'zip:#3']), { street: 0, zip: 2 });
});

test('what cannot be mapped is told in a sentence', () => {
  const problem = (headers: readonly string[], map: readonly string[] = []): string => {
    const found = mapColumns(headers, map);
    return isProblem(found) ? found.detail : '';
  };
  assert.match(problem(['a', 'b']), /No column is known to hold a location/);
  assert.match(problem(['lat', 'b']), /No column is known/);
  assert.match(problem(['zip'], ['place:zip']), /no role "place"/);
  assert.match(problem(['zip'], ['city:Town']), /no column "Town"/);
  assert.match(problem(['zip'], ['city:#2']), /no column "#2"/);
  const many = Array.from({ length: COLUMNS_MAX + 1 }, (_, index) =>
    index === 0 ? 'zip' : `c${index}`,
  );
  assert.match(problem(many), new RegExp(`${COLUMNS_MAX} are allowed`));
  assert.equal(problem(many.slice(1).concat('zip').slice(1)), '');
});

/** The location that cells are read as. */
function located(headers: readonly string[], cells: readonly string[]): string {
  const mapping = mapColumns(headers);
  assert.ok(!isProblem(mapping));
  const { address, postalcode, city, state, lat, lng, countryCode } = cellReader(mapping, {})(
    cells,
    true,
  );
  return [address, postalcode, city, state, lat, lng, countryCode]
    .map((part) => part ?? '-')
    .join(' | ');
}

test('parts of an address make one line', () => {
  const parts = ['street', 'street2', 'city', 'state', 'zip', 'country'];
  const of = (...cells: string[]): string => located(parts, cells);
  assert.equal(
    of('1 Main St', '', 'Elmton', 'QA', '91010', ''),
    '1 Main St, Elmton, QA 91010 | - | - | - | - | - | -',
  );
  assert.equal(
    of(' 1 Main St ', 'Apt 2', '', 'QA', '', 'us'),
    '1 Main St, Apt 2, QA | - | - | - | - | - | USA',
  );
  assert.equal(
    of('1 Main St', 'x'.repeat(90), 'Elmton', 'QA', '1010', ''),
    '1 Main St, Elmton, QA 01010 | - | - | - | - | - | -',
  );
  assert.equal(
    of('1 Main St, Elmton, QA 91010', '', 'Elmton', 'QA', '91010-1234', ''),
    '1 Main St, Elmton, QA 91010 | - | - | - | - | - | -',
  );
  assert.equal(
    of('', '', 'Elmton', 'QA', '91010-1234', 'Canada'),
    '- | 91010 | Elmton | QA | - | - | CAN',
  );
  assert.equal(of('', '', '', '', '501', 'XX'), '- | 00501 | - | - | - | - | XX');
  for (const [street, line] of [
    ['91010 Main St, Unit 5', '91010 Main St, Unit 5, Elmton, QA 91010'],
    ['91010 Main St, Elmton, QA 91010', '91010 Main St, Elmton, QA 91010'],
  ] as const) {
    assert.equal(of(street, '', 'Elmton', 'QA', '91010', '').split(' |')[0], line);
  }
  for (const [street, line] of [
    ['1 Main St, Elmton', '1 Main St, Elmton, Elmton, QA'],
    ['1 Main St, Elmton, QA', '1 Main St, Elmton, QA'],
  ] as const) {
    assert.equal(of(street, '', 'Elmton', 'QA', '', '').split(' |')[0], line);
  }
});

test('coordinates go before a ZIP and a whole address before both', () => {
  assert.equal(located(['lat', 'lng', 'zip'], ['1', '2', '91010']), '- | - | - | - | 1 | 2 | -');
  assert.equal(located(['lat', 'lng', 'zip'], ['1', '', '91010']), '- | 91010 | - | - | 1 | - | -');
});
