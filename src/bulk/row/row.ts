/** A row, whatever its kind: where it lies, what its reader makes of it, and its answer. */
import type { JsonObject } from '../../base/json-object.js';
import type { WireContext } from '../../api/lookup/context.js';
import type { Engine } from '../../engine/engine.js';
import type { BodyPart } from '../../pool/types.js';
import type { Failure } from '../../failure.js';
import { failureBytes } from '../../wire/failure-body.js';
import { refusalOf, type RowRefusal } from '../../wire/response-code.js';
import type { RunFacts } from './chunk-payload.js';
import type { RawParameters } from '../../api/lookup/parameter-table.js';

/** What names a row to its caller. */
export type RowId = string | number | null;

/** Where a record lies in its chunk. */
export interface Place {
  /** Number of the record in its chunk, from 0, and in its file, from 1. */
  readonly index: number;
  readonly line: number;
  /** All records of the chunk. */
  readonly bytes: Buffer;
  readonly start: number;
  /** Where its line end begins. */
  readonly stop: number;
  /** Equal to `start` where the record was too long and has been left out. */
  readonly end: number;
}

/** What a reader makes of a record. */
export interface Row {
  readonly id: RowId;
  /** Why it is no request; null where it is one. */
  readonly problem: Failure | null;
}

/** A row of a table. */
export interface CsvRow extends Row {
  readonly cells: readonly string[];
  /** Whether the chunk is valid UTF-8. */
  readonly decoded: boolean;
}

/** A row that is a JSON object; `text` is the row as it was sent. */
export interface JsonRow extends Row {
  readonly object: JsonObject;
  readonly text: string;
}

/** What became of a row. */
export interface RowAnswer {
  readonly code: number;
  /** It was located by address or coordinates. */
  readonly geo: boolean;
  /** It is an operation of a merchant and no lookup. */
  readonly merchant?: boolean;
  /**
   * In lines a JSON object, the same bytes as the answer to a single request; in CSV the columns.
   * Empty where the refusal is all there is.
   */
  readonly body: readonly BodyPart[];
  readonly refusal: RowRefusal | null;
}

/** What rows are answered with. */
export interface RowEngine {
  readonly context: WireContext;
  readonly engine: Engine;
  readonly run: RunFacts;
  readonly grants: number;
  /** Answers as version 60 does, in the format of the run. */
  lookup(raw: RawParameters): RowAnswer;
}

/** Answers a row that is a request. */
export type AnswerRow<R extends Row> = (engine: RowEngine, row: R, place: Place) => RowAnswer;

/** The answer to a row that is refused, with what its format has beside the refusal. */
export function refusedRow(refusal: RowRefusal, body: readonly BodyPart[] = []): RowAnswer {
  return { code: refusal.code, geo: false, body, refusal };
}

/** The answer to a cart that is refused: a sentence and no body. */
export function refusedCart(failure: Failure): RowAnswer {
  const { failure: kind, detail } = failure;
  // The sentence of the code itself speaks of query strings.
  return refusedRow(refusalOf(failure, kind === 'invalid-format' ? detail : undefined));
}

/** The answer to a row that is refused whatever it asks. */
export function refused({ context: { baseUrl }, run }: RowEngine, failure: Failure): RowAnswer {
  if (run.kind === 'cart') return refusedCart(failure);
  const body = run.output === 'csv' ? [] : [failureBytes(60, failure, 'json', baseUrl)];
  return refusedRow(refusalOf(failure), body);
}
