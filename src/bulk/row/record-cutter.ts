/**
 * Cuts a body into records. The result does not depend on the pieces in which the body arrives.
 * Nothing is decoded here; a record is its bytes including its line end.
 *
 * CSV: a quote opens at the beginning of a field, two quotes stand for one inside, and any other
 * one closes. A record that stays open beyond the limit or to the end of the body has lost its
 * closing quote: it ends with its first line, so that the rows after it can be read.
 * NDJSON: each line is a record, even a blank one; so is text after the last line end.
 */
import {
  type CutPosition,
  type CutterOptions,
  type RawChunk,
  type RecordForm,
  type Rescan,
  ROW_BYTES_MAX,
} from './record-form.js';
import { grown } from '../../base/growing-bytes.js';

const LF = 10;
const CR = 13;
const QUOTE = 34;
const EMPTY: Buffer = Buffer.alloc(0);

/** States of the scan within a CSV record. */
const FIELD_START = 0;
const IN_FIELD = 1;
const IN_QUOTES = 2;
/** After a quote within quotes: a second one is text, anything else has closed the field. */
const QUOTE_SEEN = 3;
/** After a CR, in files where a CR alone ends records; an LF directly after it belongs to it. */
const CR_SEEN = 4;
/** Within a record that is too long. */
const SKIPPING = 5;

function nextOf(bytes: Buffer, byte: number, from: number): number {
  const found = bytes.indexOf(byte, from);
  return found < 0 ? bytes.length : found;
}

export class RecordCutter {
  readonly #form: RecordForm;
  readonly #rowBytesMax: number;
  /** The bytes that are still needed. */
  #held: Buffer = EMPTY;
  /** How far `#held` was scanned. */
  #at = 0;
  /** Where the record that is being scanned begins. */
  #start = 0;
  #state = FIELD_START;
  #tooLong = false;
  /** The first quote after the start of the last search; the end of `#held` if there was none. */
  #quote = -1;
  /** Position of `#held` in the body. */
  #offset: number;
  /** Position in the body before which all bytes were scanned twice and are not rescanned. */
  #rescanned: number;
  /** Rescans from the end of the taken records on. */
  #rescans: Rescan[] = [];
  /** The end of the taken records in the body, and `#rescanned` as it was there. */
  #takenTo: number;
  #takenRescanned: number;
  /** Beginning and end of complete records. Those before `#taken` were taken. */
  #starts: number[] = [];
  #ends: number[] = [];
  #taken = 0;
  #line: number;
  #bytes = 0;

  constructor({
    form,
    firstLine = 1,
    rowBytesMax = ROW_BYTES_MAX,
    from = { at: 0, rescanned: 0 },
  }: CutterOptions) {
    this.#form = form;
    this.#offset = this.#takenTo = from.at;
    this.#rescanned = this.#takenRescanned = from.rescanned;
    this.#line = firstLine;
    this.#rowBytesMax = rowBytesMax;
  }

  /** How many complete records were not taken yet. */
  get rows(): number {
    return this.#ends.length - this.#taken;
  }

  /** How many bytes these records have. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Number of the record that `take` begins with. */
  get line(): number {
    return this.#line;
  }

  /** The position that `take` begins at. */
  get position(): CutPosition {
    return { line: this.#line, at: this.#takenTo, rescanned: this.#takenRescanned };
  }

  /** Adds a piece, which is copied. */
  push(piece: Uint8Array): void {
    this.#compact();
    this.#held = grown(this.#held, piece, { again: true });
    this.#quote = -1;
    this.#scan();
  }

  /** Tells that the body is complete: what is left is the last record. */
  end(): void {
    while (this.#start < this.#held.length || this.#tooLong) {
      if (this.#state === IN_QUOTES && this.#endAtFirstLine()) this.#scan();
      else {
        this.#close(this.#held.length);
        break;
      }
    }
  }

  /** Takes records up to both limits, at least one where there is any; otherwise returns null. */
  take(rowsMax: number, bytesMax: number): RawChunk | null {
    const from = this.#taken;
    let total = 0;
    let to = from;
    while (to < this.#ends.length && to - from < rowsMax) {
      const size = this.#ends[to]! - this.#starts[to]!;
      if (to > from && total + size > bytesMax) break;
      total += size;
      to += 1;
    }
    if (to === from) return null;
    const bytes = Buffer.allocUnsafeSlow(total);
    const ends = new Uint32Array(to - from);
    let used = 0;
    const first = this.#starts[from]!;
    // Records follow each other without gaps unless one of them was too long.
    const isWhole = this.#ends[to - 1]! - first === total;
    if (isWhole) this.#held.copy(bytes, 0, first, first + total);
    for (let index = from; index < to; index += 1) {
      const start = this.#starts[index]!;
      const end = this.#ends[index]!;
      if (!isWhole) this.#held.copy(bytes, used, start, end);
      used += end - start;
      ends[index - from] = used;
    }
    const line = this.#line;
    this.#line += to - from;
    this.#taken = to;
    this.#bytes -= total;
    this.#takenTo = this.#offset + this.#ends[to - 1]!;
    this.#passRescans();
    return { line, bytes, ends };
  }

  #passRescans(): void {
    for (let [next] = this.#rescans; next !== undefined; [next] = this.#rescans) {
      if (next.start >= this.#takenTo) return;
      this.#takenRescanned = next.to;
      this.#rescans.shift();
    }
  }

  /**
   * Frees taken records once they are more than those that are left. The cost grows with what is
   * left, so doing it after each piece would be too slow: pieces may have one byte.
   */
  #compact(): void {
    const left = this.#starts.length - this.#taken;
    const from = this.#taken < this.#starts.length ? this.#starts[this.#taken]! : this.#start;
    if (from === 0 || (this.#taken < left && 2 * from < this.#held.length)) return;
    this.#starts = this.#starts.slice(this.#taken).map((at) => at - from);
    this.#ends = this.#ends.slice(this.#taken).map((at) => at - from);
    this.#taken = 0;
    this.#held = this.#held.subarray(from);
    this.#offset += from;
    this.#at -= from;
    this.#start -= from;
  }

  #scan(): void {
    if (this.#form.kind === 'ndjson') this.#scanLines();
    else this.#scanCsv(this.#form.delimiter, this.#form.loneCr);
  }

  #scanLines(): void {
    for (;;) {
      const found = this.#held.indexOf(LF, this.#at);
      const end = found < 0 ? this.#held.length : found + 1;
      if (end - this.#start > this.#rowBytesMax) this.#tooLong = true;
      this.#at = end;
      if (found >= 0) this.#close(end);
      else {
        if (this.#tooLong) this.#start = end;
        return;
      }
    }
  }

  #scanCsv(delimiter: number, loneCr: boolean): void {
    const held = this.#held;
    let state = this.#state;
    let at = this.#at;
    let limit = this.#start + this.#rowBytesMax;
    for (; at < held.length; at += 1) {
      if (state === FIELD_START && at === this.#start && !loneCr) {
        at = this.#closePlain(at);
        limit = this.#start + this.#rowBytesMax;
        if (at === held.length) break;
      }
      const byte = held[at]!;
      if (state === CR_SEEN) {
        const withLf = byte === LF;
        this.#close(withLf ? at + 1 : at);
        limit = this.#start + this.#rowBytesMax;
        state = FIELD_START;
        if (withLf) continue;
      }
      if (at >= limit && state !== SKIPPING) {
        this.#at = at;
        if (this.#endAtFirstLine()) {
          at = this.#at - 1;
          limit = this.#start + this.#rowBytesMax;
          state = FIELD_START;
          continue;
        }
        this.#tooLong = true;
        state = SKIPPING;
      }
      if (state === QUOTE_SEEN && byte !== QUOTE) state = IN_FIELD;
      if (state === IN_QUOTES) {
        if (byte === QUOTE) state = QUOTE_SEEN;
      } else if (state === QUOTE_SEEN) {
        state = IN_QUOTES;
      } else if (byte === LF) {
        this.#close(at + 1);
        limit = this.#start + this.#rowBytesMax;
        state = FIELD_START;
      } else if (byte === CR && loneCr) {
        state = CR_SEEN;
      } else if (state !== SKIPPING) {
        if (byte === delimiter) state = FIELD_START;
        else state = state === FIELD_START && byte === QUOTE ? IN_QUOTES : IN_FIELD;
      }
    }
    this.#state = state;
    this.#at = at;
    if (state === SKIPPING) this.#start = at;
  }

  /** Closes records without quotes from `from` on, by their line ends. Returns where it stops. */
  #closePlain(from: number): number {
    const held = this.#held;
    if (this.#quote < from) this.#quote = nextOf(held, QUOTE, from);
    let at = from;
    for (;;) {
      const end = held.indexOf(LF, at);
      if (end < 0 || end > this.#quote || end - at >= this.#rowBytesMax) return at;
      at = end + 1;
      this.#close(at);
    }
  }

  /**
   * Ends a record that is too long or never closes with its first line, and scans on from there.
   * False where it has one line only or was rescanned before: no body is scanned more than twice.
   */
  #endAtFirstLine(): boolean {
    const held = this.#held;
    if (this.#offset + this.#start < this.#rescanned) return false;
    let end = held.indexOf(LF, this.#start) + 1;
    if (this.#form.kind === 'csv' && this.#form.loneCr) {
      const cr = held.indexOf(CR, this.#start) + 1;
      // A CR directly before the LF belongs to the same line end.
      if (cr > 0 && (end === 0 || cr < end - 1)) end = cr;
    }
    if (end === 0 || end >= this.#at) return false;
    this.#rescanned = this.#offset + this.#at;
    this.#rescans.push({ start: this.#offset + this.#start, to: this.#rescanned });
    this.#at = end;
    this.#state = FIELD_START;
    this.#close(end);
    return true;
  }

  #close(end: number): void {
    const start = this.#tooLong ? end : this.#start;
    this.#starts.push(start);
    this.#ends.push(end);
    this.#bytes += end - start;
    this.#start = end;
    this.#tooLong = false;
  }
}
