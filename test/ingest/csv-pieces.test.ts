import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvRows } from '../../src/ingest/source/rows.js';

async function* pieces(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Buffer> {
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    yield bytes.subarray(from, cut);
    from = cut;
  }
}

async function rowsOf(text: string, cuts: readonly number[]): Promise<(readonly string[])[]> {
  const rows = [];
  for await (const row of csvRows(pieces(Buffer.from(text), cuts))) rows.push(row);
  return rows;
}

const EXPECTED = [
  ['Straße', 'a "b" €, c', '12'],
  ['', 'x\ny\r\nz', ''],
  ['Ñuñoa 𝔸', 'it"s', 'end'],
];

for (const [name, end] of [
  ['LF', '\n'],
  ['CRLF', '\r\n'],
  ['CR', '\r'],
] as const) {
  test(`rows with ${name} are the same wherever the bytes are cut`, async () => {
    const text =
      `\uFEFFStraße,"a ""b"" €, c",12${end}${end},"x\ny\r\nz",${end}` + `Ñuñoa 𝔸,it"s,end`;
    const { length } = Buffer.from(text);
    for (let cut = 0; cut <= length; cut += 1) {
      assert.deepEqual(await rowsOf(text, [cut]), EXPECTED, `cut at ${cut}`);
    }
    const every = Array.from({ length }, (_, at) => at);
    assert.deepEqual(await rowsOf(text + end, every), EXPECTED);
  });
}

test('nothing gives no rows, and a quote that is never closed is refused', async () => {
  assert.deepEqual(await rowsOf('', []), []);
  assert.deepEqual(await rowsOf('\n\n', [1]), []);
  const text = `a,b\n"c,${'d'.repeat((1 << 24) + 9)}`;
  await assert.rejects(rowsOf(text, [4, 1 << 20]), /quote is not closed/);
});

test('lines that are no UTF-8 are Windows-1252, as whole lists are read', async () => {
  const bytes = Buffer.concat([
    Buffer.from('12,Calle Ni\xf1o\n', 'latin1'),
    Buffer.from('14,Calle Niño\n16,Ca\xf1on', 'latin1'),
    Buffer.from('\n18,Niño Dr\n', 'utf8'),
  ]);
  const expected = [
    ['12', 'Calle Niño'],
    ['14', 'Calle Niño'],
    ['16', 'Cañon'],
    ['18', 'Niño Dr'],
  ];
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const rows = [];
    for await (const row of csvRows(pieces(bytes, [cut]))) rows.push(row);
    assert.deepEqual(rows, expected, `cut at ${cut}`);
  }
});
