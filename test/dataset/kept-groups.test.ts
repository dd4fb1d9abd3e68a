/** Groups of streets that are kept: the same bytes as the table has, whatever was read between. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type Group, KeptGroups } from '../../src/dataset/kept-groups.js';
import { StreetKey, zipGroupKey } from '../../src/dataset/street-format.js';

const key = new StreetKey();

function textOf(group: Group | null): string | null {
  if (group === null) return null;
  return Buffer.from(group.bytes.subarray(group.start, group.end)).toString('latin1');
}

const groupOf = (number: number, length: number): Buffer =>
  Buffer.from(`${number}:`.padEnd(length, 'x'));

test('what was kept is found by its key alone', () => {
  const kept = new KeptGroups();
  assert.equal(kept.find(key.zipGroup('QA', 91_010, 'ASH')), null);
  const own = Buffer.from('first');
  assert.equal(textOf(kept.keep(key.zipGroup('QA', 91_010, 'ASH'), own)), 'first');
  own.fill(0);
  assert.equal(textOf(kept.keep(key.townGroup('QA', 7, 'ASH'), Buffer.from('second'))), 'second');
  assert.equal(textOf(kept.keep(key.city('QA', 7, 'ASH'), Buffer.alloc(0))), '');
  assert.equal(textOf(kept.find(key.zipGroup('QA', 91_010, 'ASH'))), 'first');
  assert.equal(textOf(kept.find(key.townGroup('QA', 7, 'ASH'))), 'second');
  assert.equal(textOf(kept.find(key.city('QA', 7, 'ASH'))), '');
  for (const other of ['AS', 'ASHE', 'ASI', '']) {
    assert.equal(kept.find(key.zipGroup('QA', 91_010, other)), null);
  }
  assert.equal(kept.find(key.zipGroup('QA', 91_011, 'ASH')), null);
});

test('a key is found after one that is longer was put together', () => {
  const kept = new KeptGroups();
  for (let length = 0; length < 12; length += 1) {
    kept.keep(key.zipGroup('QA', 1, 'A'.repeat(length)), Buffer.from(String(length)));
  }
  for (let length = 0; length < 12; length += 1) {
    key.zipGroup('QB', 99_999, 'Z'.repeat(60));
    assert.equal(textOf(kept.find(key.zipGroup('QA', 1, 'A'.repeat(length)))), String(length));
  }
});

test('of more than there is room for, the oldest are lost and none becomes another', () => {
  const kept = new KeptGroups();
  const count = 200_000;
  const lengthOf = (number: number): number => 20 + (number % 300);
  for (let number = 0; number < count; number += 1) {
    const asked = key.zipGroup('QA', number % 90_000, `ST${number}`);
    assert.equal(kept.find(asked), null);
    kept.keep(asked, groupOf(number, lengthOf(number)));
  }
  let found = 0;
  for (let number = 0; number < count; number += 1) {
    const text = textOf(kept.find(key.zipGroup('QA', number % 90_000, `ST${number}`)));
    if (text === null) continue;
    found += 1;
    assert.equal(text, groupOf(number, lengthOf(number)).toString('latin1'));
  }
  assert.ok(found > 30_000 && found < 100_000, `${found} of ${count} are kept`);
  const last = count - 1;
  assert.notEqual(kept.find(key.zipGroup('QA', last % 90_000, `ST${last}`)), null);
});

test('a group that is as large as many is handed out, and not kept', () => {
  const kept = new KeptGroups();
  const large = Buffer.alloc(600_000, 'y');
  const group = kept.keep(key.zipGroup('QA', 91_010, 'ASH'), large);
  large.fill(0);
  assert.equal(textOf(group), 'y'.repeat(600_000));
  assert.equal(kept.find(key.zipGroup('QA', 91_010, 'ASH')), null);
});

test('the hash of a key is that of its text', () => {
  const hashes = new Set<number>();
  for (let zip = 0; zip < 20_000; zip += 1) {
    const hash = key.zipGroup('QA', zip, 'MAIN').hash();
    key.zipGroup('QB', 1, 'LONGERTHANTHAT');
    assert.equal(key.zipGroup('QA', zip, 'MAIN').hash(), hash);
    assert.equal(String(key), zipGroupKey('QA', zip, 'MAIN'));
    hashes.add(hash);
  }
  assert.ok(hashes.size > 19_990, `${hashes.size} of 20,000 differ`);
});
