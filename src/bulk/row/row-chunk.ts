/**
 * Answers a chunk of rows in a worker, from bytes to bytes. A row that cannot be read, or whose
 * answer fails, gets an answer like any other and does not affect the others.
 */
import { wireWith, type WireContext } from '../../api/lookup/context.js';
import type { Engine } from '../../engine/engine.js';
import { FLAG_GEO, type Answer } from '../../pool/types.js';
import { fail, isFailure } from '../../failure.js';
import { refusalOf, SUCCESS } from '../../wire/response-code.js';
import { answerBulkCart, answerCartMessage } from './cart-row.js';
import { ByteWriter } from '../../base/byte-writer.js';
import { answerCsvCart } from './cart-cells.js';
import { LookupColumns } from './columns.js';
import {
  csvReader,
  lineWriter,
  placesOf,
  readLine,
  readMessage,
  tableWriter,
  type WriteRow,
} from './text-rows.js';
import type { RawChunk } from './record-form.js';
import {
  type BulkKind,
  type ChunkTally,
  decodeChunk,
  encodeResult,
  type RefusedRow,
  type RunFacts,
  type Table,
} from './chunk-payload.js';
import { cellReader, memberReader } from './row-parameters.js';
import {
  type AnswerRow,
  type CsvRow,
  type JsonRow,
  type Place,
  refused,
  refusedCart,
  type Row,
  type RowAnswer,
  type RowEngine,
} from './row.js';
import { wordProblem } from './stream-word.js';
import type { RawParameters } from '../../api/lookup/parameter-table.js';

/** Answers the parameters of a row with the same bytes as a single lookup. */
type AnswerParameters = (
  context: WireContext,
  engine: Engine,
  raw: RawParameters,
  grants: number,
  nowMs: number,
) => Answer;

/** Enough for the rows of most chunks, even where their answers are whole bodies. */
const OUTPUT_BYTES = 524_288;

/** The memory that every chunk is answered in. An answer is copied before the next one begins. */
let written: ByteWriter | null = null;

function outputWriter(): ByteWriter {
  written ??= new ByteWriter(OUTPUT_BYTES);
  written.clear();
  return written;
}

/** Answers JSON rows that are lookups: their members are the parameters of version 60. */
function jsonLookup({ defaults }: RunFacts): AnswerRow<JsonRow> {
  const read = memberReader(defaults);
  return (engine, { object }) => {
    const raw = read(object);
    return isFailure(raw) ? refused(engine, raw) : engine.lookup(raw);
  };
}

/** Answers messages: lookups, or carts where they have a member `items`. */
function message(run: RunFacts): AnswerRow<JsonRow> {
  const lookup = jsonLookup(run);
  const { refusal } = run;
  return (engine, row, place) => {
    const isCart = 'items' in row.object;
    if (refusal !== undefined) return isCart ? refusedCart(refusal) : refused(engine, refusal);
    if (isCart) return answerCartMessage(engine, row);
    const wrong = wordProblem(row.object);
    return wrong === null ? lookup(engine, row, place) : refused(engine, wrong);
  };
}

/** Answers rows of a table. */
function csvKind({ kind, defaults }: RunFacts, table: Table): AnswerRow<CsvRow> {
  if (kind === 'cart') return (engine, row, place) => answerCsvCart(engine, table, row, place);
  const read = cellReader(table.mapping, defaults);
  return (engine, { cells, decoded }) => engine.lookup(read(cells, decoded));
}

/** Counts the rows of a chunk. */
class Tally {
  #rows = 0;
  #core = 0;
  #geo = 0;
  #merchant = 0;
  /** Every refused message is reported, but only the first refused row of a file. */
  readonly #refusalsMax: number;
  readonly #refusals: RefusedRow[] = [];
  readonly #codes = new Map<number, number>();

  constructor(kind: BulkKind) {
    this.#refusalsMax = kind === 'message' ? Infinity : 1;
  }

  /** Counts a row. Only a row that was answered with success counts as usage. */
  add(line: number, { code, geo, merchant = false, refusal }: RowAnswer): void {
    this.#rows += 1;
    this.#codes.set(code, (this.#codes.get(code) ?? 0) + 1);
    if (refusal !== null && this.#refusals.length < this.#refusalsMax) {
      this.#refusals.push({ line, ...refusal });
    }
    if (code !== SUCCESS.code) return;
    if (merchant) {
      this.#merchant += 1;
      return;
    }
    this.#core += 1;
    if (geo) this.#geo += 1;
  }

  result(): ChunkTally {
    return {
      rows: this.#rows,
      codes: Object.fromEntries(this.#codes),
      core: this.#core,
      geo: this.#geo,
      merchant: this.#merchant,
      refusals: this.#refusals,
    };
  }
}

/** How the rows of a chunk are read, answered and written. */
interface RowSteps<R extends Row> {
  read(place: Place): R;
  readonly answer: AnswerRow<R>;
  readonly write: WriteRow<R>;
}

/**
 * Answers a row. An exception of `answer` is a bug: it is reported, and the row is answered with
 * 106.
 */
function answerRow<R extends Row>(
  engine: RowEngine,
  answer: AnswerRow<R>,
  row: R,
  place: Place,
): RowAnswer {
  try {
    return row.problem === null ? answer(engine, row, place) : refused(engine, row.problem);
  } catch (error) {
    engine.context.report(error);
    return refused(engine, fail('internal'));
  }
}

/**
 * Answers the rows of a chunk in one loop, whatever their format and kind and the format of the
 * answers.
 */
function answerRows<R extends Row>(
  engine: RowEngine,
  chunk: RawChunk,
  { read, answer, write }: RowSteps<R>,
): ChunkTally {
  const tally = new Tally(engine.run.kind);
  for (const place of placesOf(chunk)) {
    const row = read(place);
    const found = answerRow(engine, answer, row, place);
    write(row, found, place);
    tally.add(place.line, found);
  }
  return tally.result();
}

function answerChunk(engine: RowEngine, chunk: RawChunk, into: ByteWriter): ChunkTally {
  const { kind, table, output, refusal } = engine.run;
  if (kind === 'message') {
    return answerRows(engine, chunk, {
      read: readMessage,
      answer: message(engine.run),
      write: lineWriter(into, 'seq'),
    });
  }
  const refuse = refusal === undefined ? null : (): RowAnswer => refused(engine, refusal);
  if (table === null) {
    return answerRows(engine, chunk, {
      read: readLine,
      answer: refuse ?? (kind === 'cart' ? answerBulkCart : jsonLookup(engine.run)),
      write: lineWriter(into, 'line'),
    });
  }
  const answer = refuse ?? csvKind(engine.run, table);
  return output === 'csv'
    ? answerRows(engine, chunk, {
        read: csvReader(chunk, table, undefined),
        answer,
        write: tableWriter(into, table, kind),
      })
    : answerRows(engine, chunk, {
        read: csvReader(chunk, table, table.mapping.id),
        answer,
        write: lineWriter(into, 'line'),
      });
}

/** How a lookup is answered: with columns, or with the bytes of a single lookup. */
function lookupOf(
  context: WireContext,
  engine: Engine,
  { output, table, nowMs }: RunFacts,
  grants: number,
  answerParameters: AnswerParameters,
): RowEngine['lookup'] {
  if (output === 'csv' && table !== null) {
    const columns = new LookupColumns(context, engine, table.dialect);
    return (raw) => columns.answer(raw, grants, nowMs);
  }
  return (raw) => {
    const { code, flags, body, failure } = answerParameters(context, engine, raw, grants, nowMs);
    const refusal = failure === undefined ? null : refusalOf(failure);
    return { code, geo: (flags & FLAG_GEO) !== 0, body, refusal };
  };
}

/** Answers the payload of a chunk with a result; chunk-payload.ts describes both. */
export function answerBulk(
  own: WireContext,
  given: Engine,
  payload: Buffer,
  grants: number,
  answerParameters: AnswerParameters,
): Answer {
  const { run, chunk } = decodeChunk(payload);
  const context = wireWith(own, run.settings);
  const engine = run.release.id === given.id ? given : context.open(run.release);
  const lookup = lookupOf(context, engine, run, grants, answerParameters);
  const into = outputWriter();
  const tally = answerChunk({ context, engine, run, grants, lookup }, chunk, into);
  return {
    status: SUCCESS.http,
    code: SUCCESS.code,
    precision: 0,
    flags: 0,
    body: encodeResult(tally, into.bytes()),
  };
}
