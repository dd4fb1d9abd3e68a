/** Bodies that name a file: what is read of them, and how each is refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isProblem } from '../../src/base/problem.js';
import { JOB_REFERENCE, parseReference, type AskedJob } from '../../src/bulk/job/job-request.js';
import { checker } from '../support/schema-check.js';

const isDescribed = checker().compile(JOB_REFERENCE.schema);

function asked(members: object): AskedJob {
  const job = parseReference(Buffer.from(JSON.stringify(members)));
  assert.ok(!isProblem(job), JSON.stringify(job));
  return job;
}

test('a file is a job of lookups, read by its name and answered alike', () => {
  const { file, bulk } = asked({ file: 'may/rows.JSONL' });
  assert.deepEqual(
    [bulk.kind, file, bulk.input, bulk.output],
    ['lookup', 'may/rows.JSONL', 'ndjson', 'ndjson'],
  );
  const other = asked({ file: 'rows', kind: 'cart', format: 'csv', output: 'ndjson' });
  assert.deepEqual(
    [other.bulk.kind, other.bulk.input, other.bulk.output],
    ['cart', 'csv', 'ndjson'],
  );
});

test('a member that is null is as one that is absent', () => {
  const nothing = { kind: null, format: null, output: null, map: null, strict: null };
  assert.deepEqual(asked({ file: 'rows.csv', ...nothing }), asked({ file: 'rows.csv' }));
});

test('other members are the options of a query, each once or in a list', () => {
  const { bulk } = asked({ file: 'rows.csv', map: ['zip:PLZ', 'city:Ort'], strict: true });
  assert.deepEqual([bulk.map, bulk.strict], [['zip:PLZ', 'city:Ort'], true]);
  assert.deepEqual(asked({ file: 'rows.csv', map: 'zip:PLZ' }).bulk.map, ['zip:PLZ']);
  const { bulk: cart } = asked({ file: 'rows.csv', kind: 'cart', explain: 'true' });
  assert.deepEqual(cart.defaults, { explain: 'true' });
});

type Fault = readonly [members: object, location: string, message: string];

// biome-ignore format: a fault in each row
const OF_SHAPE: readonly Fault[] = [
  [{}, 'body.file', 'expected required property file'],
  [{ file: 7 }, 'body.file', 'expected a string'],
  [{ file: 'a', kind: 'message' }, 'body.kind', 'expected lookup or cart'],
  [{ file: 'a', kind: 'constructor' }, 'body.kind', 'expected lookup or cart'],
  [{ file: 'a', format: 'xml' }, 'body.format', 'expected csv or ndjson'],
  [{ file: 'a', output: ['csv'] }, 'body.output', 'expected csv or ndjson'],
  [{ file: 'a', map: [1] }, 'body.map[0]', 'expected a string'],
];

// biome-ignore format: a fault in each row
const OF_OPTIONS: readonly Fault[] = [
  [{ file: 'a', strict: { a: 1 } }, 'body.strict', 'strict: text, a number, true or false.'],
  [{ file: 'a', strict: 'yes' }, 'body.strict', 'strict is true or false.'],
  [{ file: 'a', kind: 'cart', merchantId: '7' }, 'body.merchantId', 'merchantId is a UUID.'],
];

interface Refused {
  readonly status: number;
  readonly location: string;
  readonly message: string;
}

function errorOf(members: object): Refused {
  const found = parseReference(Buffer.from(JSON.stringify(members)));
  assert.ok(isProblem(found), JSON.stringify(members));
  const { status, errors = [] } = found;
  const { location, message } = errors.at(-1)!;
  return { status, location, message };
}

test('a body that has not the shape is refused as the schema of it says', () => {
  for (const [members, location, message] of OF_SHAPE) {
    assert.deepEqual(errorOf(members), { status: 422, location, message });
    assert.equal(isDescribed(members), false, JSON.stringify(members));
  }
});

test('options that cannot be used are named as members of the body', () => {
  for (const [members, location, message] of OF_OPTIONS) {
    assert.deepEqual(errorOf(members), { status: 422, location, message });
  }
  const { status, location } = errorOf({ file: 'a.ndjson', output: 'csv' });
  assert.deepEqual([status, location], [406, 'body.output']);
});

test('what is no JSON object is refused as any other body is', () => {
  for (const [text, detail] of [
    ['', 'The body is empty; it must be a JSON object.'],
    ['[', 'The body is not JSON.'],
    ['[]', 'The body is not a JSON object.'],
  ] as const) {
    assert.deepEqual(parseReference(Buffer.from(text)), { kind: 'problem', status: 400, detail });
  }
});
