/**
 * What a lookup costs inside a worker: locating and finding the rates, and the complete answer as
 * bytes.
 */
import { Bench } from 'tinybench';
import { openDataset } from '../../src/dataset/open.js';
import { Engine } from '../../src/engine/engine.js';
import { RequestFrame } from '../../src/pool/frame.js';
import { AnswerWriter } from '../../src/pool/lane-server.js';
import { GRANT_ALL } from '../../src/pool/types.js';
import type { LookupQuery } from '../../src/engine/lookup-query.js';
import { isFailure } from '../../src/failure.js';
import { answerInto } from '../../src/worker.js';
import { openWire } from '../../src/api/lookup/context.js';
import { addressLines } from './addresses.js';
import { sink, type BenchInput, type Figure } from './case.js';
import { sampleQueries, type QueryKind } from './queries.js';
import { parseQuery } from '../../src/api/lookup/query-answer.js';

/** How many microseconds a lookup of each kind may take in the engine. */
const TARGET_MICROSECONDS: Readonly<Record<QueryKind, number>> = { zip: 3, point: 4, address: 15 };

/** How many requests a frame has, where complete answers are measured. */
const FRAME = 32;
const ANSWERS_BYTES = 512 * 1024;
const LOOKUP = { kind: 'lookup', version: 60, grants: GRANT_ALL } as const;

async function measure(
  name: string,
  seconds: number,
  batch: number,
  run: () => void,
): Promise<number> {
  const bench = new Bench({ time: seconds * 1000, warmupTime: 500 });
  bench.add(name, run, { async: false });
  await bench.run();
  const { result } = bench.tasks[0]!;
  if (result.state !== 'completed') throw new Error(`${name} did not finish`);
  return (result.latency.p50 * 1000) / batch;
}

/** Figures for one kind of lookup. */
export async function engineCase(kind: QueryKind, input: BenchInput): Promise<readonly Figure[]> {
  const dataset = openDataset(input.datasetDir);
  const lines = kind === 'address' ? await addressLines(dataset, input.datasetDir) : [];
  const raw = sampleQueries(kind, dataset, input.datasetDir, lines);
  const queries = raw.map((text): LookupQuery => {
    const parsed = parseQuery(text, 60, GRANT_ALL);
    if (isFailure(parsed)) throw new Error(`a sampled query does not parse: ${text}`);
    return parsed.query;
  });
  const now = Date.now();
  const engine = new Engine(dataset);
  let at = 0;
  const alone = await measure(`engine ${kind}`, input.seconds, FRAME, () => {
    for (let turn = 0; turn < FRAME; turn += 1) {
      sink.value = engine.lookup(queries[at]!, now);
      at = (at + 1) % queries.length;
    }
  });
  // As in a worker, shared memory is used again and again.
  const frame = new RequestFrame();
  const memory = Buffer.from(new SharedArrayBuffer(ANSWERS_BYTES));
  const writer = new AnswerWriter(FRAME, memory);
  const context = openWire();
  const whole = await measure(`answer ${kind}`, input.seconds, FRAME, () => {
    frame.reset(0);
    for (let turn = 0; turn < FRAME; turn += 1) {
      frame.add(LOOKUP, raw[at]!);
      at = (at + 1) % raw.length;
    }
    writer.begin(FRAME, memory);
    answerInto(writer, engine, frame.bytes(), now, context);
    sink.value = writer.bytes();
  });
  dataset.close();
  return [
    {
      name: `engine ${kind}`,
      value: alone,
      unit: 'µs',
      target: { atMost: TARGET_MICROSECONDS[kind] },
      note: 'locate and rate, one lookup',
    },
    { name: `answer ${kind}`, value: whole, unit: 'µs', note: 'query string to body, one lookup' },
  ];
}
