/** A body that is gone on with at any record: the same records as if it had been read at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecordCutter } from '../../src/bulk/row/record-cutter.js';
import type { CutPosition, RecordForm } from '../../src/bulk/row/record-form.js';
import { below, cut, type Random } from '../support/bulk-bodies.js';
import { seeded } from '../../bench/case/case.js';

const ROW_BYTES_MAX = 24;
const BODIES = 3_000;
const PIECES = ['"', '""', ',', '\n', '\r\n', '\r', 'a', 'bc', 'long enough to be too long', ' '];

interface Taken {
  readonly line: number;
  readonly text: string;
  /** Whether it was left out for its size. */
  readonly empty: boolean;
  readonly after: CutPosition;
}

function records(
  random: Random,
  form: RecordForm,
  body: Buffer,
  from?: CutPosition,
): readonly Taken[] {
  const cutter = new RecordCutter({
    form,
    rowBytesMax: ROW_BYTES_MAX,
    ...(from === undefined ? {} : { firstLine: from.line, from }),
  });
  const found: Taken[] = [];
  const take = (): void => {
    for (;;) {
      const chunk = cutter.take(1, 1);
      if (chunk === null) return;
      found.push({
        line: chunk.line,
        text: Buffer.from(chunk.bytes).toString('latin1'),
        empty: chunk.bytes.length === 0,
        after: cutter.position,
      });
    }
  };
  for (const piece of cut(random, body.subarray(from?.at ?? 0))) {
    cutter.push(piece);
    if (random() < 0.5) take();
  }
  cutter.end();
  take();
  return found;
}

test('records after any position are those of the whole body', () => {
  const random = seeded(20_260_601);
  let rescans = 0;
  for (let count = 0; count < BODIES; count += 1) {
    const body = Buffer.from(
      Array.from({ length: below(random, 60) }, () => PIECES[below(random, PIECES.length)]!).join(
        '',
      ),
      'latin1',
    );
    const form: RecordForm =
      random() < 0.2 ? { kind: 'ndjson' } : { kind: 'csv', delimiter: 44, loneCr: random() < 0.5 };
    const whole = records(random, form, body);
    whole.forEach(({ after }, index) => {
      if (after.rescanned > after.at) rescans += 1;
      assert.deepEqual(
        records(random, form, body, after),
        whole.slice(index + 1),
        `${JSON.stringify(body.toString('latin1'))} from ${JSON.stringify(after)}`,
      );
    });
  }
  assert.ok(rescans > 100, 'some positions were inside what is not scanned another time');
});
