/** The pump between a body, workers and an output, each driven by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BulkPump, CHUNKS_IN_FLIGHT_MAX } from '../../src/bulk/run/pump.js';
import type { AdmittedRows } from '../../src/bulk/run/pump-options.js';
import { ChunkSchedule } from '../../src/bulk/run/schedule.js';
import { RecordCutter } from '../../src/bulk/row/record-cutter.js';
import { decodeChunk } from '../../src/bulk/row/chunk-payload.js';
import { CHUNK_BYTES_MAX, CHUNK_ROWS_MAX } from '../../src/bulk/row/record-form.js';
import { HandPool, RELEASE, rig, rows, UNMETERED } from './hand-pool.js';

test('what the workers answer in any order is written in that of the rows', () => {
  const { pump, pool, written, ends } = rig();
  for (const name of ['a', 'b', 'c']) pump.push(rows(CHUNK_ROWS_MAX, name));
  pump.end();
  assert.equal(pool.held.length, 3);
  pool.answer(2);
  pool.answer(1);
  assert.equal(written.length, 0);
  pool.answer(0);
  assert.deepEqual(
    written.map((text) => text.slice(0, 1)),
    ['h', 'A', 'B', 'C'],
  );
  assert.equal(ends[0]?.rows, 3 * CHUNK_ROWS_MAX);
  assert.equal(ends[0]?.complete, true);
});

test('a few rows go at once while nothing is under way, and gather while something is', () => {
  const { pump, pool } = rig();
  pump.push(rows(1));
  assert.equal(pool.held.length, 1);
  pump.push(rows(1));
  pump.push(rows(1));
  assert.equal(pool.held.length, 1);
  pool.answer();
  assert.equal(pool.held.length, 1);
  assert.equal(decodeChunk(Buffer.from(pool.held[0]!.payload)).chunk.ends.length, 2);
});

test('stalled workers stop the body, and what is held stays small', () => {
  const { pump, pool, flow } = rig();
  const piece = rows(CHUNK_ROWS_MAX);
  let sent = 0;
  while (flow.at(-1) !== 'pause') {
    pump.push(piece);
    sent += 1;
    assert.ok(sent < 20, 'the body was never stopped');
  }
  assert.equal(pool.held.length, CHUNKS_IN_FLIGHT_MAX);
  assert.ok(sent <= CHUNKS_IN_FLIGHT_MAX + 2);
  assert.equal(pump.waiting, false);
  while (pool.held.length > 0) pool.answer();
  assert.equal(flow.at(-1), 'resume');
});

test('a client that takes nothing stops the body too, until it does', () => {
  const held = rig();
  held.ready = false;
  held.pump.push(rows(2));
  held.pool.answer();
  assert.deepEqual(held.written, ['header\n', 'R\nR\n']);
  held.pump.push(rows(1));
  assert.equal(held.flow.at(-1), 'pause');
  assert.equal(held.pool.held.length, 0);
  assert.equal(held.pump.waiting, true);
  held.ready = true;
  held.pump.drained();
  assert.equal(held.flow.at(-1), 'resume');
  held.pool.answer();
  held.pump.end();
  assert.equal(held.ends[0]?.rows, 3);
});

test('large rows count by their bytes', () => {
  const { pump, pool } = rig();
  const row = rows(1, 'x'.repeat(CHUNK_BYTES_MAX / 4));
  for (let index = 0; index < 9; index += 1) pump.push(row);
  assert.deepEqual(
    pool.held.map(({ payload }) => decodeChunk(Buffer.from(payload)).chunk.ends.length),
    [1, 3, 3],
  );
});

test('streams take turns, whatever their size', () => {
  const pool = new HandPool();
  const schedule = new ChunkSchedule(pool, 2);
  const large = rig({ pool, schedule });
  const small = rig({ pool, schedule });
  for (let index = 0; index < 4; index += 1) large.pump.push(rows(CHUNK_ROWS_MAX, 'l'));
  small.pump.push(rows(3, 's'));
  assert.equal(schedule.busy, 2);
  pool.answer();
  pool.answer();
  const names = pool.held.map(({ payload }) =>
    Buffer.from(decodeChunk(Buffer.from(payload)).chunk.bytes)
      .toString()
      .slice(0, 1),
  );
  assert.deepEqual(names, ['l', 's']);
});

test('a lost chunk ends the stream in order, with the row it began with', () => {
  for (const [failure, code] of [
    ['internal', 106],
    ['overloaded', 106],
  ] as const) {
    const { pump, pool, ends, written } = rig();
    for (const name of ['a', 'b', 'c']) pump.push(rows(CHUNK_ROWS_MAX, name));
    pool.fail(failure, 1);
    pool.answer(1);
    assert.equal(ends.length, 0);
    pool.answer(0);
    assert.deepEqual(ends[0]?.stopped?.line, CHUNK_ROWS_MAX + 1);
    assert.equal(ends[0]?.stopped?.code, code);
    assert.equal(ends[0]?.rows, CHUNK_ROWS_MAX);
    assert.deepEqual(
      written.map((text) => text.slice(0, 1)),
      ['h', 'A'],
    );
  }
});

test('after an abort nothing is written, and rows under way are still settled', () => {
  const settled: (number | null)[] = [];
  const { pump, pool, written, ends } = rig({
    admit: (count) => ({
      rows: count,
      grants: 0,
      scarce: false,
      settle: (tally) => settled.push(tally?.core ?? null),
    }),
  });
  pump.push(rows(5));
  const end = pump.abort('internal', 'gone');
  assert.deepEqual([end?.complete, end?.stopped?.line], [false, 6]);
  pool.answer();
  pump.push(rows(5));
  pump.drained();
  pump.end();
  assert.deepEqual([written, ends, settled], [[], [], [5]]);
  assert.equal(pump.abort('internal', 'again'), null);
});

test('near the end of a quota rows wait for those under way', () => {
  let left = 6;
  let held = 0;
  const admit = (wanted: number): AdmittedRows => {
    const count = Math.min(wanted, left - held);
    const scarce = count < wanted && held > 0;
    held += count;
    return {
      rows: count,
      grants: 15,
      scarce,
      settle: (tally) => {
        held -= count;
        left -= tally?.core ?? 0;
      },
    };
  };
  const { pump, pool, ends } = rig({ admit });
  pump.push(rows(4));
  pump.push(rows(9));
  pump.end();
  const sizes: number[] = [];
  while (pool.held.length > 0) {
    sizes.push(decodeChunk(Buffer.from(pool.held[0]!.payload)).chunk.ends.length);
    pool.answer();
  }
  assert.deepEqual(sizes, [4, 2, 1]);
  assert.deepEqual([ends[0]?.rows, ends[0]?.codes], [7, { 100: 6, 107: 1 }]);
  assert.deepEqual([ends[0]?.stopped?.code, ends[0]?.stopped?.line], [107, 7]);
  assert.equal(held, 0);
});

test('rows that the key has no right to end the run with that, not with a quota', () => {
  const admit = (): AdmittedRows => ({
    rows: 0,
    grants: 0,
    scarce: false,
    lacking: true,
    settle: () => undefined,
  });
  const { pump, pool, ends } = rig({ admit });
  pump.push(rows(2));
  pump.end();
  pool.answer();
  assert.match(ends[0]?.stopped?.message ?? '', / The key has no geocoded lookups.*this one on/);
  assert.equal(ends[0]?.stopped?.code, 107);
});

test('stopping lets what is under way be written first', () => {
  const { pump, pool, ends } = rig();
  pump.push(rows(3));
  pump.stop('internal', 'The service is stopping.');
  assert.equal(ends.length, 0);
  pool.answer();
  assert.deepEqual([ends[0]?.rows, ends[0]?.stopped?.message], [3, 'The service is stopping.']);
});

test('memory of outputs is used again, and never while the sink may need it', () => {
  for (const isPassing of [true, false]) {
    const seen: { readonly bytes: Uint8Array; readonly text: string }[] = [];
    const pool = new HandPool(true);
    let ready = true;
    const pump = new BulkPump({
      run: {
        name: 'j',
        kind: 'lookup',
        release: RELEASE,
        nowMs: 0,
        output: 'ndjson',
        table: null,
        defaults: {},
      },
      cutter: new RecordCutter({ form: { kind: 'ndjson' } }),
      schedule: new ChunkSchedule(pool, 8),
      sink: {
        isPassing,
        write: (output) => {
          seen.push({ bytes: output, text: Buffer.from(output).toString() });
          return ready;
        },
      },
      body: { pause: () => undefined, resume: () => undefined },
      admit: UNMETERED,
      rowsMax: 1_000_000,
      strict: false,
      header: Buffer.from('header\n'),
      done: () => undefined,
    });
    const isAsWritten = (at: number): boolean =>
      Buffer.from(seen[at]!.bytes).toString() === seen[at]!.text;
    pump.push(rows(CHUNK_ROWS_MAX, 'a'));
    pool.answer();
    for (const name of ['b', 'c', 'd']) pump.push(rows(CHUNK_ROWS_MAX, name));
    ready = false;
    pool.answer();
    assert.equal(seen[2]!.bytes.buffer === seen[1]!.bytes.buffer, isPassing);
    // Not taken yet: what comes meanwhile has memory of its own.
    pool.answer();
    assert.ok(isAsWritten(2));
    ready = true;
    pump.drained();
    pool.answer();
    assert.deepEqual(
      seen.slice(1).map(({ text }) => text.charAt(0)),
      ['A', 'B', 'C', 'D'],
    );
    assert.equal(new Set(seen.slice(1).map(({ bytes }) => bytes.buffer)).size, isPassing ? 2 : 4);
    assert.equal(
      seen.every((_, at) => isAsWritten(at)),
      !isPassing,
    );
  }
});
