/** The beginning of a CSV body: the same whatever the pieces it comes in. */
import assert from 'node:assert/strict';
import { isProblem } from '../../src/base/problem.js';
import { test } from 'node:test';
import fc from 'fast-check';
import { CsvBeginning } from '../../src/bulk/run/csv-beginning.js';
import { HeaderEnd } from '../../src/bulk/row/dialect.js';
import { HEADER_BYTES_MAX } from '../../src/bulk/row/record-form.js';

/** What a beginning comes to, and how many bytes it took. */
function readIn(body: Buffer, size: number): string {
  const beginning = new CsvBeginning([], null);
  for (let at = 0; at < body.length; at += size) {
    const found = beginning.push(body.subarray(at, at + size), false);
    if (found === null) continue;
    if (isProblem(found)) return `${found.status} ${found.detail}`;
    const {
      head: { bytes, header, bom },
      table,
      rest,
    } = found;
    const after = Buffer.concat([rest, body.subarray(at + size)]);
    assert.ok(after.equals(body.subarray(bytes)));
    return JSON.stringify([header.toString('latin1'), bom, table.columns, bytes]);
  }
  const last = beginning.push(new Uint8Array(0), true);
  return last === null ? 'open' : isProblem(last) ? `${last.status}` : `${last.head.bytes}`;
}

test('pieces of any size begin the same table', () => {
  const part = fc.constantFrom('zip', ',', '"', '\r', '\n', '\r\n', 'a', ';', '\u00e9', '""');
  fc.assert(
    fc.property(
      fc.boolean(),
      fc.array(part, { maxLength: 30 }),
      fc.integer({ min: 1, max: 9 }),
      (bom, parts, size) => {
        // The last line end is of a row, so that what follows a CR is always known.
        const body = Buffer.from(`${bom ? '\ufeff' : ''}zip${parts.join('')}\nrow\n`);
        assert.equal(readIn(body, size), readIn(body, body.length));
      },
    ),
  );
});

test('a header that never ends is refused at its limit, in single bytes too', () => {
  const body = Buffer.alloc(HEADER_BYTES_MAX + 10, 'x');
  for (const size of [1, 4_096, body.length]) assert.match(readIn(body, size), /^413/);
});

test('a row is no part of the header whose last column has an inch mark', () => {
  const body = Buffer.from('zip,size (")\n92694,6\n92618,7\n');
  for (const size of [1, 5, body.length]) {
    assert.equal(readIn(body, size), JSON.stringify(['zip,size (")', false, 2, 13]));
  }
});

test('the end of a header is told from its bytes, each looked at once', () => {
  const end = new HeaderEnd();
  const told = ['zip,"a', '\n', '"', '"b"', '\r', '\n'].map((piece) =>
    end.passed(Buffer.from(piece)),
  );
  assert.deepEqual(told, [false, false, false, false, true, true]);
});
