/** Sends one lookup through a frame, as the pool does, and reads its answer. */
import type { Dataset } from '../../src/dataset/dataset.js';
import { readAnswers, RequestFrame } from '../../src/pool/frame.js';
import { GRANT_ALL, type RequestFields } from '../../src/pool/types.js';
import { answerFrame } from '../../src/worker.js';
import { openWire, type WireContext } from '../../src/api/lookup/context.js';
import { memoryDataset, NOW_MS } from '../support/memory-dataset.js';
import { engineOf } from '../support/engine-of.js';

export const BASE_URL = 'https://rates.example';

interface Asked {
  readonly status: number;
  readonly code: number;
  readonly precision: number;
  readonly flags: number;
  readonly text: string;
}

export interface AskOptions {
  readonly dataset?: Dataset;
  readonly context?: WireContext;
  readonly grants?: number;
  readonly nowMs?: number;
  readonly fields?: RequestFields;
}

const DATASET = memoryDataset();
const CONTEXT = openWire({ baseUrl: BASE_URL });

/** Sends several queries in one frame. */
export function askAll(
  version: number,
  queries: readonly (string | Uint8Array)[],
  options: AskOptions = {},
): Asked[] {
  const {
    dataset = DATASET,
    context = CONTEXT,
    grants = GRANT_ALL,
    nowMs = NOW_MS,
    fields = { kind: 'lookup', version, grants } as const,
  } = options;
  const frame = new RequestFrame();
  for (const query of queries) frame.add(fields, query);
  const packed = answerFrame(engineOf(dataset), frame.bytes(), nowMs, context);
  const answers: Asked[] = [];
  readAnswers(packed, queries.length, (_index, slice) => {
    const { status, code, precision, flags, body } = slice;
    answers.push({ status, code, precision, flags, text: Buffer.from(body).toString('utf8') });
  });
  return answers;
}

/** Sends one query. */
export function ask(version: number, query: string | Uint8Array, options?: AskOptions): Asked {
  const [answer] = askAll(version, [query], options);
  if (answer === undefined) throw new Error('no answer');
  return answer;
}
