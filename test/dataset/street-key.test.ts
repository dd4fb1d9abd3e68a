import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { openTables, streetTable } from '../../src/dataset/layout.js';
import { StreetKey } from '../../src/dataset/street-bytes.js';
import { cityKey, townGroupKey, zipGroupKey } from '../../src/dataset/street-format.js';

const FOLDS = ['A', 'MAIN', '1ST', 'STATEROUTE100', 'X'.repeat(1_000)];

test('a key in bytes is the text that the builder writes', () => {
  const key = new StreetKey();
  for (const fold of FOLDS) {
    for (const zip of [1, 501, 5401, 97_001, 99_999]) {
      assert.equal(String(key.zipGroup('QA', zip, fold)), zipGroupKey('QA', zip, fold));
    }
    for (const id of [1, 42, 65_535]) {
      assert.equal(String(key.ofLocality('t|', 'QA', id, fold)), townGroupKey('QA', id, fold));
      assert.equal(String(key.ofLocality('c|', 'QA', id, fold)), cityKey('QA', id, fold));
    }
  }
});

test('what no key can hold is refused and not cut', () => {
  const key = new StreetKey();
  assert.throws(() => key.zipGroup('QA', 97_001, 'X'.repeat(1_900)), /too long/);
  assert.throws(() => key.zipGroup('QA', 97_001, 'CAFÉ'), /letters and figures/);
  assert.throws(() => key.ofLocality('c|', 'QA', 3, '茶'), /letters and figures/);
});

test('keys in bytes and in text find what was written under text, and nothing else', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'situs-keys-'));
  const file = join(dir, 'data.mdb');
  const written = new Map<string, string>();
  const built = openTables(file, 'build');
  for (const fold of FOLDS) {
    for (const zip of [501, 5401, 97_001]) {
      const key = zipGroupKey('QA', zip, fold);
      written.set(key, `${zip} ${fold}`);
      built.text.streets.putSync(key, Buffer.from(`${zip} ${fold}`));
    }
  }
  // Longer than the buffer that reads share.
  const long = Buffer.alloc(100_000, 7);
  built.text.streets.putSync(townGroupKey('QA', 9, 'LONG'), long);
  await built.root.close();

  const tables = openTables(file, 'read');
  const streets = streetTable(tables.text.streets);
  const key = new StreetKey();
  const text = (found: Uint8Array | null): string | null =>
    found === null
      ? null
      : Array.from({ length: found.length }, (_, at) => String.fromCharCode(found[at]!)).join('');
  for (const fold of [...FOLDS].reverse()) {
    for (const zip of [97_001, 501, 5401, 502]) {
      const expected = written.get(zipGroupKey('QA', zip, fold)) ?? null;
      assert.equal(text(streets.group(key.zipGroup('QA', zip, fold))), expected);
      assert.equal(text(streets.get(zipGroupKey('QA', zip, fold))), expected);
    }
  }
  const found = streets.group(key.ofLocality('t|', 'QA', 9, 'LONG'));
  assert.equal(found?.length, long.length);
  assert.ok(
    Array.from({ length: long.length }, (_, at) => found?.[at]).every((byte) => byte === 7),
  );
  const listed = [...tables.text.streets.getKeys()].map(String);
  assert.deepEqual(listed, [...written.keys(), townGroupKey('QA', 9, 'LONG')].sort());
  await tables.root.close();
  rmSync(dir, { recursive: true, force: true });
});
