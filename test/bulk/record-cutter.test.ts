/** Records out of bytes: limits, lost quotes and line ends. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecordCutter } from '../../src/bulk/row/record-cutter.js';
import { CHUNK_BYTES_MAX, type RecordForm, ROW_BYTES_MAX } from '../../src/bulk/row/record-form.js';

const CSV: RecordForm = { kind: 'csv', delimiter: 44, loneCr: false };
const OLD_CSV: RecordForm = { kind: 'csv', delimiter: 44, loneCr: true };
const NDJSON: RecordForm = { kind: 'ndjson' };

/** Records of a text, sent in pieces of a size; null for one that was too long. */
function records(
  form: RecordForm,
  text: string,
  size = text.length,
  rowBytesMax = ROW_BYTES_MAX,
): readonly (string | null)[] {
  const cutter = new RecordCutter({ form, rowBytesMax });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) cutter.push(bytes.subarray(at, at + size));
  cutter.end();
  const found: (string | null)[] = [];
  for (;;) {
    const chunk = cutter.take(3, CHUNK_BYTES_MAX);
    if (chunk === null) return found;
    assert.equal(chunk.line, found.length + 1);
    let start = 0;
    for (const end of chunk.ends) {
      found.push(end === start ? null : Buffer.from(chunk.bytes).toString('utf8', start, end));
      start = end;
    }
  }
}

/** The same at every cut. */
function atAnyCut(
  form: RecordForm,
  text: string,
  expected: readonly (string | null)[],
  rowBytesMax?: number,
): void {
  for (let size = 1; size <= Buffer.byteLength(text); size += 1) {
    assert.deepEqual(records(form, text, size, rowBytesMax), expected, `pieces of ${size}`);
  }
}

test('lines of NDJSON, blank ones too, and the last without its end', () => {
  atAnyCut(NDJSON, '{}\n\n{"a":"ü"}\r\n{', ['{}\n', '\n', '{"a":"ü"}\r\n', '{']);
  assert.deepEqual(records(NDJSON, ''), []);
  atAnyCut(NDJSON, '\n', ['\n']);
});

test('quoted line ends are part of a row, others end it', () => {
  atAnyCut(CSV, 'a,"b\nc"\r\n"x""\n",y\n', ['a,"b\nc"\r\n', '"x""\n",y\n']);
  atAnyCut(CSV, 'a "b\nc" d\n', ['a "b\n', 'c" d\n']);
  atAnyCut(CSV, 'a\rb\n\nc', ['a\rb\n', '\n', 'c']);
});

test('a file with lone CRs ends its rows with them', () => {
  atAnyCut(OLD_CSV, 'a,b\r"c\rd"\r\re\r\nf\r', ['a,b\r', '"c\rd"\r', '\r', 'e\r\n', 'f\r']);
});

test('a row that lost its closing quote ends with its line', () => {
  atAnyCut(CSV, 'a\n"b,\nc\nd\n', ['a\n', '"b,\n', 'c\n', 'd\n']);
  atAnyCut(CSV, '"b,\nc\n"d', ['"b,\nc\n"d']);
  atAnyCut(CSV, '"open\n"closed"\nlast\n', ['"open\n"closed"\n', 'last\n']);
  atAnyCut(OLD_CSV, '"b\rc\rd', ['"b\r', 'c\r', 'd']);
});

test('beyond the limit of a row it ends with its line, however much follows', () => {
  const rows = ['1234\n', '5678\n', '"b,\n', 'cccc\n', 'dddd\n', 'eeee\n', '"f\n"\n'];
  atAnyCut(CSV, rows.join(''), rows, 16);
  const closed = ['"b,\n', 'c",d",e,f,g,h,\n', 'i\n'];
  atAnyCut(CSV, closed.join(''), closed, 16);
});

test('a row that is too long is left out, and those around it stay', () => {
  const text = 'aaaa\n1234567890\nbbbb\n';
  atAnyCut(NDJSON, text, ['aaaa\n', null, 'bbbb\n'], 8);
  atAnyCut(CSV, text, ['aaaa\n', null, 'bbbb\n'], 8);
  atAnyCut(OLD_CSV, text.replaceAll('\n', '\r'), ['aaaa\r', null, 'bbbb\r'], 8);
  atAnyCut(CSV, 'aaaa\n"123456789012"\nb\n', ['aaaa\n', null, 'b\n'], 8);
  atAnyCut(NDJSON, 'aaaa\n1234567890', ['aaaa\n', null], 8);
  atAnyCut(CSV, '1234567890', [null], 8);
});

test('the limit is the last size that passes', () => {
  const row = (bytes: number): string => `${'x'.repeat(bytes - 1)}\n`;
  for (const form of [CSV, NDJSON]) {
    assert.deepEqual(records(form, row(ROW_BYTES_MAX) + row(3)), [row(ROW_BYTES_MAX), row(3)]);
    assert.deepEqual(records(form, row(ROW_BYTES_MAX + 1) + row(3)), [null, row(3)]);
  }
});

test('chunks keep to their rows and bytes, but for a single larger row', () => {
  const cutter = new RecordCutter({ form: NDJSON, firstLine: 5 });
  cutter.push(Buffer.from('12345\n12345\n12345\n1234567890123\n1\n'));
  const sizes: (readonly [line: number, rows: number])[] = [];
  for (;;) {
    const chunk = cutter.take(2, 12);
    if (chunk === null) break;
    sizes.push([chunk.line, chunk.ends.length]);
  }
  assert.deepEqual(sizes, [
    [5, 2],
    [7, 1],
    [8, 1],
    [9, 1],
  ]);
  assert.equal(cutter.rows, 0);
  assert.equal(cutter.bytes, 0);
  assert.equal(cutter.line, 10);
});

test('lost quotes far apart spoil their own rows alone', () => {
  const text = `"x,\n${'y\n'.repeat(40_000)}`.repeat(20);
  const cutter = new RecordCutter({ form: CSV });
  cutter.push(Buffer.from(text));
  cutter.end();
  assert.equal(cutter.rows, 20 * 40_001);
});

test('no body is scanned more than twice', () => {
  // Begun inside quotes or outside, each of these lines ends inside: no row ever ends by itself.
  const line = '"x","\n';
  const rows = records(CSV, line.repeat(100), 50, 70);
  const again = records(CSV, line.repeat(100), 700, 70);
  assert.deepEqual(rows, again);
  // Eleven lines at a time: the first by itself, the rest left out as one.
  assert.ok(rows.length < 25, `${rows.length} rows`);
  assert.equal(rows[0], line);
});

test('a long record in tiny pieces is the record, and each byte is copied a few times alone', () => {
  const cutter = new RecordCutter({ form: { kind: 'ndjson' }, rowBytesMax: 1_048_576 });
  const line = Buffer.from(`${'x'.repeat(1_000_000)}\n`);
  for (let at = 0; at < line.length; at += 16) cutter.push(line.subarray(at, at + 16));
  assert.ok(Buffer.from(cutter.take(1, line.length)!.bytes).equals(line));
});

test('rows that wait are not gone through again with every piece', (context) => {
  const own = Object.getOwnPropertyDescriptor(Array.prototype, 'map');
  const { map } = Array.prototype;
  let looked = 0;
  context.after(() => Object.defineProperty(Array.prototype, 'map', own ?? {}));
  Object.defineProperty(Array.prototype, 'map', {
    ...own,
    value(this: readonly unknown[], each: (value: unknown) => unknown) {
      looked += this.length;
      return map.call(this, each);
    },
  });
  const cutter = new RecordCutter({ form: { kind: 'ndjson' } });
  const rows = 5_000;
  let taken = 0;
  for (let row = 0; row < rows; row += 1) {
    cutter.push(Buffer.from('\n'));
    if (row % 7 === 0) taken += cutter.take(1, CHUNK_BYTES_MAX)?.ends.length ?? 0;
  }
  assert.ok(looked < 10 * rows, `${looked} places of rows moved for ${rows} pieces`);
  while (cutter.rows > 0) {
    const chunk = cutter.take(64, CHUNK_BYTES_MAX);
    assert.equal(chunk?.line, taken + 1);
    taken += chunk.ends.length;
  }
  assert.equal(taken, rows);
});
