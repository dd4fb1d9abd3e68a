import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { RowHash } from '../../src/dataset/row-hash.js';

test('rows have the hash of their lengths and bytes one after the other, whatever their size', () => {
  const rows = [0, 3, 65_000, 600, 65_528, 65_529, 300_000, 1].map(
    (bytes, index) => [Buffer.from(`key ${index}`), Buffer.alloc(bytes, index + 1)] as const,
  );
  const plain = createHash('sha256').update('one');
  const gathered = new RowHash();
  gathered.table('one');
  rows.forEach(([key, value], index) => {
    if (index === 4) {
      plain.update('two');
      gathered.table('two');
    }
    const lengths = Buffer.alloc(8);
    lengths.writeUInt32LE(key.length, 0);
    lengths.writeUInt32LE(value.length, 4);
    plain.update(lengths).update(key).update(value);
    gathered.row(key, value);
  });
  assert.equal(gathered.digest(), plain.digest('hex'));
});
