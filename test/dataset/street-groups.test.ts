/** Groups of streets that are kept: the same bytes as the table has, whatever was read between. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { StreetKey } from '../../src/dataset/street-bytes.js';
import { type Group, zipGroupKey } from '../../src/dataset/street-format.js';
import { KeptGroups } from '../../src/dataset/street-index.js';

const key = new StreetKey();

function textOf(group: Group | null): string | null {
  if (group === null) return null;
  return Buffer.from(group.bytes.subarray(group.start, group.end)).toString('latin1');
}

const groupOf = (number: number, length: number): Buffer =>
  Buffer.from(`${number}:`.padEnd(length, 'x'));

/** Asks for a key as the reader of the table does, which reads what is not kept. */
function ask(kept: KeptGroups, own: StreetKey, group: Buffer): { text: string; found: boolean } {
  const found = kept.find(own);
  return { text: textOf(found ?? kept.keep(own, group))!, found: found !== null };
}

test('what was kept is found by its key alone', () => {
  const kept = new KeptGroups();
  const own = Buffer.from('first');
  assert.deepEqual(ask(kept, key.zipGroup('QA', 91_010, 'ASH'), own), {
    text: 'first',
    found: false,
  });
  own.fill(0);
  assert.equal(
    ask(kept, key.ofLocality('t|', 'QA', 7, 'ASH'), Buffer.from('second')).text,
    'second',
  );
  assert.equal(ask(kept, key.ofLocality('c|', 'QA', 7, 'ASH'), Buffer.alloc(0)).text, '');
  assert.equal(textOf(kept.find(key.zipGroup('QA', 91_010, 'ASH'))), 'first');
  assert.equal(textOf(kept.find(key.ofLocality('t|', 'QA', 7, 'ASH'))), 'second');
  assert.equal(textOf(kept.find(key.ofLocality('c|', 'QA', 7, 'ASH'))), '');
  for (const other of ['AS', 'ASHE', 'ASI', '']) {
    assert.equal(kept.find(key.zipGroup('QA', 91_010, other)), null);
  }
  assert.equal(kept.find(key.zipGroup('QA', 91_011, 'ASH')), null);
});

test('of memory that is larger than its length only the group is kept', () => {
  const kept = new KeptGroups();
  const memory = Buffer.from('a group and what was read before');
  Object.defineProperty(memory, 'length', { value: 7 });
  assert.equal(ask(kept, key.zipGroup('QA', 1, 'ASH'), memory).text, 'a group');
  assert.equal(textOf(kept.find(key.zipGroup('QA', 1, 'ASH'))), 'a group');
});

test('a key is found after one that is longer was put together', () => {
  const kept = new KeptGroups();
  for (let length = 0; length < 12; length += 1) {
    ask(kept, key.zipGroup('QA', 1, 'A'.repeat(length)), Buffer.from(String(length)));
  }
  for (let length = 0; length < 12; length += 1) {
    key.zipGroup('QB', 99_999, 'Z'.repeat(60));
    assert.equal(textOf(kept.find(key.zipGroup('QA', 1, 'A'.repeat(length)))), String(length));
  }
});

const numbered = (number: number): StreetKey => key.zipGroup('QA', number % 90_000, `ST${number}`);

/** Asks for so many, each as often as told in a row; every answer must be its own. */
function askFor(kept: KeptGroups, count: number, times: number): void {
  for (let number = 0; number < count; number += 1) {
    const group = groupOf(number, 20 + (number % 300));
    for (let time = 0; time < times; time += 1) {
      assert.equal(ask(kept, numbered(number), group).text, group.toString('latin1'));
    }
  }
}

test('of more than there is room for, the oldest are lost and none becomes another', () => {
  const kept = new KeptGroups();
  const count = 150_000;
  askFor(kept, count, 2);
  let found = 0;
  for (let number = 0; number < count; number += 1) {
    const text = textOf(kept.find(numbered(number)));
    if (text === null) continue;
    found += 1;
    assert.equal(text, groupOf(number, 20 + (number % 300)).toString('latin1'));
  }
  assert.ok(found > 30_000 && found < 100_000, `${found} of ${count} are kept`);
  assert.notEqual(kept.find(numbered(count - 1)), null);
});

test('none is kept for a while where hardly one is asked for again', () => {
  const kept = new KeptGroups();
  askFor(kept, 60_000, 1);
  assert.equal(ask(kept, numbered(1), groupOf(1, 20)).found, false);
  assert.equal(ask(kept, numbered(1), groupOf(1, 20)).found, false);
  for (let asked = 0; asked < 1_000_000; asked += 1) kept.find(numbered(2));
  assert.equal(ask(kept, numbered(3), groupOf(3, 20)).text, groupOf(3, 20).toString('latin1'));
  assert.equal(ask(kept, numbered(3), groupOf(3, 20)).found, true);
});

test('a group that is as large as many is handed out as it is, and not kept', () => {
  const kept = new KeptGroups();
  const large = Buffer.alloc(600_000, 'y');
  assert.equal(kept.find(key.zipGroup('QA', 91_010, 'ASH')), null);
  const group = kept.keep(key, large);
  assert.deepEqual([group.bytes === large, group.isLasting], [true, false]);
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
