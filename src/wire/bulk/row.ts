/** A row and its answer, whatever its kind. */
import type { Dataset } from '../../dataset/dataset.js';
import type { BodyPart } from '../../engine/frame.js';
import { fail, type Failure } from '../../failure.js';
import type { WireContext } from '../context.js';
import { failureBytes } from '../failure-body.js';
import type { RawParameters } from '../query-string.js';
import { failureMessage, RESPONSE_CODES } from '../response-code.js';
import type { BulkJob } from './job.js';
import { isRowProblem, jsonParameters } from './parameters.js';
import { fieldOf } from './row-line.js';
import type { Counted } from './tally.js';

export type JsonObject = Readonly<Record<string, unknown>>;

/** The body is a JSON object, the same bytes as the answer to a single request. */
export interface RowAnswer extends Counted {
  readonly body: readonly BodyPart[];
  /** The member at fault where the code alone does not tell. */
  readonly field?: string | null;
  /** Why it is refused, where the body is empty. */
  readonly message?: string;
}

/** What rows are answered with. */
export interface RowEngine {
  readonly context: WireContext;
  readonly dataset: Dataset;
  readonly job: BulkJob;
  readonly grants: number;
  /** Answers as version 60 does. */
  lookup(raw: RawParameters): RowAnswer;
}

/** Answers an NDJSON row; `text` is the row as it was sent. */
export type JsonRow = (
  engine: RowEngine, row: JsonObject, text: string, line: number,
) => RowAnswer;

/** The same of a cart, which has a sentence and no body. */
export function refusedCart(failure: Failure, field?: string | null): RowAnswer {
  const { code } = RESPONSE_CODES[failure.failure];
  // The sentence of the code itself speaks of query strings.
  const message = failure.failure === 'invalid-format' && failure.detail !== undefined
    ? failure.detail : failureMessage(failure);
  return {
    code, geo: false, body: [], message,
    field: field === undefined ? fieldOf(code, message) : field,
  };
}

/** The answer to a row that is refused whatever it asks. */
export function refused(
  { context: { baseUrl }, job }: RowEngine, failure: Failure, field?: string | null,
): RowAnswer {
  const { code } = RESPONSE_CODES[failure.failure];
  if (job.kind === 'cart') return refusedCart(failure, field);
  const body = [failureBytes(60, failure, 'json', baseUrl)];
  return field === undefined ? { code, geo: false, body } : { code, geo: false, body, field };
}

/** The answer to a row that is no request. */
export function malformed(
  engine: RowEngine, detail: string, field: string | null = null,
): RowAnswer {
  return refused(engine, fail('invalid-format', detail), field);
}

/** Runs `answer`; what it throws is a bug, is reported and answered with 106. */
export function guarded(engine: RowEngine, answer: () => RowAnswer): RowAnswer {
  try {
    return answer();
  } catch (error) {
    engine.context.report(error);
    return refused(engine, fail('internal'), null);
  }
}

/** A row that is a lookup: the parameters of version 60 as members. */
export function answerLookupRow(engine: RowEngine, row: JsonObject): RowAnswer {
  const raw = jsonParameters(row, engine.job.defaults);
  return isRowProblem(raw) ? malformed(engine, raw.problem, raw.field) : engine.lookup(raw);
}
