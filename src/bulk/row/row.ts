/** A row of any kind: its place in a chunk, what is read from it, and its answer. */
import type { JsonObject } from '../../base/json-object.js';
import type { WireContext } from '../../api/lookup/context.js';
import type { Engine } from '../../engine/engine.js';
import type { BodyPart } from '../../pool/types.js';
import type { Failure } from '../../failure.js';
import { failureBytes } from '../../wire/failure-body.js';
import { refusalOf, type RowRefusal } from '../../wire/response-code.js';
import type { RunFacts } from './chunk-payload.js';
import type { RawParameters } from '../../api/lookup/parameter-table.js';

/** The id that the caller gives a row. */
export type RowId = string | number | null;

/** The place of a record in its chunk. */
export interface Place {
  /** Number of the record in its chunk, from 0, and in its file, from 1. */
  readonly index: number;
  readonly line: number;
  /** The bytes of all records of the chunk. */
  readonly bytes: Buffer;
  readonly start: number;
  /** Where the line end begins. */
  readonly stop: number;
  /** Equal to `start` where the record was too long and has been left out. */
  readonly end: number;
}

/** What is read from a record. */
export interface Row {
  readonly id: RowId;
  /** Why the record is not a request; null where it is. */
  readonly problem: Failure | null;
}

/** A row of a table. */
export interface CsvRow extends Row {
  readonly cells: readonly string[];
  /** Whether the record is valid UTF-8. */
  readonly decoded: boolean;
}

/** A row that is a JSON object. `text` is the row as it was sent. */
export interface JsonRow extends Row {
  readonly object: JsonObject;
  readonly text: string;
}

/** The answer to a row. */
export interface RowAnswer {
  readonly code: number;
  /** Whether the row was located by address or coordinates. */
  readonly geo: boolean;
  /** Whether it counts as a merchant operation and not as a lookup. */
  readonly merchant?: boolean;
  /**
   * In lines, a JSON object with the same bytes as the answer to a single request; in CSV, the
   * added columns. Empty where only the refusal is written.
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
  /** Answers a lookup as version 60 does, in the output format of the run. */
  lookup(raw: RawParameters): RowAnswer;
}

/** Answers a row that is a request. */
export type AnswerRow<R extends Row> = (engine: RowEngine, row: R, place: Place) => RowAnswer;

/** The answer to a refused row, with a body where the format has one beside the refusal. */
export function refusedRow(refusal: RowRefusal, body: readonly BodyPart[] = []): RowAnswer {
  return { code: refusal.code, geo: false, body, refusal };
}

/** The answer to a refused cart: a sentence and no body. */
export function refusedCart(failure: Failure): RowAnswer {
  const { failure: kind, detail } = failure;
  // The standard sentence of this code is about query strings, so the detail replaces it.
  return refusedRow(refusalOf(failure, kind === 'invalid-format' ? detail : undefined));
}

/** The answer to a row that is refused without being looked up. */
export function refused({ context: { baseUrl }, run }: RowEngine, failure: Failure): RowAnswer {
  if (run.kind === 'cart') return refusedCart(failure);
  const body = run.output === 'csv' ? [] : [failureBytes(60, failure, 'json', baseUrl)];
  return refusedRow(refusalOf(failure), body);
}
