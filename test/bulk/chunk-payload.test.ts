/** What is told of rows between threads, and between machines: all of it, and as it was. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentChunk, sentResult, takenChunk, takenResult } from '../../src/bulk/fleet/sent-form.js';
import {
  type ChunkTally,
  decodeChunk,
  decodeResult,
  encodeChunk,
  encodeResult,
  encodeRun,
  type RefusedRow,
  rowsOf,
  type RunFacts,
} from '../../src/bulk/row/chunk-payload.js';
import { fail } from '../../src/failure.js';

const PLAIN: RunFacts = {
  name: 'bulk_test',
  kind: 'message',
  release: { id: '2026-11-21-000000000000', dir: '/där/日' },
  nowMs: 1_764_288_000_123.5,
  output: 'ndjson',
  table: null,
  defaults: {},
};
/** Every member that a run may have. */
const FULL: RunFacts = {
  ...PLAIN,
  kind: 'lookup',
  output: 'csv',
  table: {
    dialect: { delimiter: '\t', newline: '\r\n', quoteAll: true },
    columns: 70_000,
    mapping: { address: 3, id: 0 },
  },
  defaults: { countryCode: 'CA', origin: '1 Rue Étroite, Montréal' },
  refusal: fail('feature-not-enabled', 'Used up – “for now”', 'a.b'),
  subject: 'merchants',
  settings: { baseUrl: '', precisionMin: 'street', refuseUnruled: true },
};
const CHUNK = { line: 7, bytes: Buffer.from('ab\nc\n'), ends: Uint32Array.of(3, 5) };

const FIRST: RefusedRow = {
  line: 8,
  code: 109,
  message: 'No such “door”: \ud800',
  field: 'address',
};
const TALLY: ChunkTally = {
  rows: 70_000,
  codes: { 100: 69_998, 105: 1, 109: 1 },
  core: 69_000,
  geo: 5,
  merchant: 998,
  refusals: [FIRST, { line: 70_001, code: 105, message: '', field: null }],
};
const OUTPUT = Buffer.from([0, 255, 10]);

test('a run is the same in the worker, with every member or with few', () => {
  for (const run of [PLAIN, FULL, { ...PLAIN, refusal: fail('internal') }]) {
    const payload = encodeChunk(encodeRun(run), CHUNK);
    assert.deepEqual(rowsOf(payload), { line: 7, rows: 2 });
    const read = decodeChunk(payload);
    assert.deepEqual(read.run, run);
    assert.deepEqual(read.chunk.ends, CHUNK.ends);
    assert.deepEqual(Buffer.from(read.chunk.bytes), CHUNK.bytes);
  }
});

test('a result brings back each count and each refusal, whatever its text', () => {
  for (const tally of [TALLY, { ...TALLY, refusals: [] }]) {
    const read = decodeResult(Buffer.concat(encodeResult(tally, OUTPUT)));
    assert.deepEqual(read.tally, tally);
    assert.deepEqual(read.output, OUTPUT);
  }
});

test('what a run keeps for the next chunk is not written over by the one of another', () => {
  const first = encodeRun(FULL);
  encodeRun({ ...PLAIN, name: 'x'.repeat(5_000) });
  assert.deepEqual(decodeChunk(encodeChunk(first, CHUNK)).run, FULL);
});

test('between machines run and tally are JSON, and the rest as it is', () => {
  const jsonOf = (bytes: Buffer): unknown =>
    JSON.parse(bytes.subarray(4, 4 + bytes.readUInt32LE(0)).toString('utf8'));
  const sent = sentChunk(encodeChunk(encodeRun(FULL), CHUNK));
  assert.deepEqual(jsonOf(sent), FULL);
  assert.deepEqual(rowsOf(sent), { line: 7, rows: 2 });
  const here = { id: FULL.release.id, dir: '/here' };
  const taken = decodeChunk(takenChunk(sent, here));
  assert.deepEqual(taken.run, { ...FULL, release: here });
  assert.deepEqual(Buffer.from(taken.chunk.bytes), CHUNK.bytes);
  assert.throws(() => takenChunk(sent, { id: 'another', dir: '' }), /rows are of the dataset 2026/);

  const result = sentResult(Buffer.concat(encodeResult(TALLY, OUTPUT)));
  const { refusals, ...counts } = TALLY;
  assert.deepEqual(jsonOf(result), { ...counts, refusal: FIRST });
  assert.equal(refusals[0], FIRST);
  const back = decodeResult(takenResult(result));
  assert.deepEqual(back, { tally: { ...TALLY, refusals: [FIRST] }, output: OUTPUT });
});
