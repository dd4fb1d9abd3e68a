/** Checks the table that answers a bulk file. */
import type { Trailer } from '../../src/bulk/row/envelope.js';
import { createHash } from 'node:crypto';
import Papa from 'papaparse';
import { APPENDED_COLUMNS } from '../../src/bulk/row/columns.js';
import { drawing, POOL_HEADER, type PoolRow } from './row-pool.js';

const FAULTS_TOLD_MAX = 20;
const COMMA = 44;
const LINE_END = 10;
const DIGIT_ZERO = 48;
const CODE_COLUMN = APPENDED_COLUMNS.indexOf('situs_code');
/** The columns that a single lookup's answer contains too. */
const TOLD = ['situs_code', 'situs_rate', 'situs_use_rate', 'situs_address'] as const;
const TOLD_COLUMNS = TOLD.map((name) => APPENDED_COLUMNS.indexOf(name));

/**
 * Every line must be the row that was sent at its place, byte for byte, with columns appended; rows
 * that differ only in their id must have the same columns.
 */
export class RowCheck {
  rows = 0;
  bytes = 0;
  /** SHA-256 of all output, once it has ended. */
  sha256 = '';
  /** The first faults, in one sentence each. */
  readonly wrong: string[] = [];
  readonly #pool: readonly PoolRow[];
  readonly #draw: () => number;
  readonly #hash = createHash('sha256');
  /** The columns appended to each row of the pool, and its code. */
  readonly #answers: (Buffer | undefined)[];
  readonly #codes: number[];
  readonly #told: (string | undefined)[];
  readonly #counts = new Map<number, number>();
  #held: Buffer = Buffer.alloc(0);
  #headerSeen = false;

  constructor(pool: readonly PoolRow[], seed: number) {
    this.#pool = pool;
    this.#draw = drawing(pool, seed);
    this.#answers = Array.from(pool, () => undefined);
    this.#codes = Array.from(pool, () => 0);
    this.#told = Array.from(pool, () => undefined);
  }

  /** How many rows had each code. */
  get counts(): ReadonlyMap<number, number> {
    return this.#counts;
  }

  /** Code, rates and address of each row of the pool; undefined where it has not come yet. */
  get told(): readonly (string | undefined)[] {
    return this.#told;
  }

  push(piece: Buffer): void {
    this.bytes += piece.length;
    this.#hash.update(piece);
    const text = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
    let from = 0;
    for (let end = text.indexOf(LINE_END); end >= 0; end = text.indexOf(LINE_END, from)) {
      if (this.#headerSeen) this.#line(text, from, end);
      else this.#header(text.toString('utf8', from, end));
      from = end + 1;
    }
    this.#held = Buffer.from(text.subarray(from));
  }

  /** Compares what was read with what was sent, and with the trailer. */
  end(rowsSent: number, trailer: Trailer): void {
    if (this.#held.length > 0) this.#fault('the output does not end with a line end');
    if (this.rows !== rowsSent) this.#fault(`${rowsSent} rows in, ${this.rows} out`);
    const counts = Object.fromEntries([...this.#counts].sort(([one], [other]) => one - other));
    const sum = [...this.#counts.values()].reduce((total, count) => total + count, 0);
    if (sum !== rowsSent) this.#fault(`the codes sum up to ${sum}`);
    this.sha256 = this.#hash.digest('hex');
    const found: Trailer = {
      complete: true,
      rows: this.rows,
      codes: counts,
      bytes: this.bytes,
      sha256: this.sha256,
      stopped: null,
    };
    for (const name of ['complete', 'rows', 'codes', 'bytes', 'sha256', 'stopped'] as const) {
      const [own, told] = [JSON.stringify(found[name]), JSON.stringify(trailer[name])];
      if (own !== told) this.#fault(`${name} is ${own}, the trailer says ${told}`);
    }
  }

  #fault(text: string): void {
    if (this.wrong.length < FAULTS_TOLD_MAX) this.wrong.push(text);
  }

  #header(text: string): void {
    this.#headerSeen = true;
    const expected = `${POOL_HEADER.trimEnd()},${APPENDED_COLUMNS.join(',')}`;
    if (text !== expected) this.#fault(`the header line is ${text}`);
  }

  #line(text: Buffer, from: number, end: number): void {
    const row = this.rows;
    const drawn = this.#draw();
    this.rows += 1;
    let at = from;
    let id = 0;
    for (; at < end && text[at] !== COMMA; at += 1) id = id * 10 + text[at]! - DIGIT_ZERO;
    const { body } = this.#pool[drawn]!;
    const after = at + 1 + body.length;
    if (id !== row) this.#fault(`row ${row} has the id ${id}`);
    else if (after >= end || text[after] !== COMMA || body.compare(text, at + 1, after) !== 0) {
      this.#fault(`row ${row} came back as ${text.toString('utf8', from, end)}`);
    } else this.#appended(row, drawn, text.subarray(after + 1, end));
  }

  #appended(row: number, drawn: number, answer: Buffer): void {
    const known = this.#answers[drawn];
    if (known === undefined) {
      const { data } = Papa.parse<readonly string[]>(answer.toString(), { delimiter: ',' });
      const [cells = []] = data;
      if (cells.length !== APPENDED_COLUMNS.length) {
        this.#fault(`row ${row} has ${cells.length} columns appended`);
      }
      this.#answers[drawn] = Buffer.from(answer);
      this.#codes[drawn] = Number(cells[CODE_COLUMN]);
      this.#told[drawn] = TOLD_COLUMNS.map((column) => cells[column]).join('|');
    } else if (!known.equals(answer)) {
      this.#fault(`row ${row} was answered ${answer.toString()} and before ${known.toString()}`);
    }
    const code = this.#codes[drawn]!;
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1);
  }
}
