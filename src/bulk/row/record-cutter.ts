/**
 * Cuts a body into records, whatever the pieces it arrives in: the same bytes give the same records
 * at any cut. Nothing is decoded here; a record is its bytes with its line end.
 *
 * CSV: a quote opens at the beginning of a field, doubles inside, and any other one closes. A
 * record that stays open beyond the limit, or to the end of the body, has lost its closing quote:
 * it ends with its first line, so that the rows after it are rows again.
 * NDJSON: each line is a record, a blank one too. What follows the last line end is a record if it
 * is not empty.
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

/** Where in a CSV record the scan is. */
const FIELD_START = 0;
const IN_FIELD = 1;
const IN_QUOTES = 2;
/** After a quote inside quotes: a second one doubles it, anything else has closed the field. */
const QUOTE_SEEN = 3;
/** After a CR, in files where a CR alone ends records: an LF right behind it belongs to it. */
const CR_SEEN = 4;
/** Inside a record that is too long. */
const SKIPPING = 5;

function nextOf(bytes: Buffer, byte: number, from: number): number {
  const found = bytes.indexOf(byte, from);
  return found < 0 ? bytes.length : found;
}

export class RecordCutter {
  readonly #form: RecordForm;
  readonly #rowBytesMax: number;
  /** Bytes that were not taken yet. */
  #held: Buffer = EMPTY;
  /** Scanned up to here. */
  #at = 0;
  /** Where the record being scanned begins. */
  #start = 0;
  #state = FIELD_START;
  #tooLong = false;
  /** The first quote at or behind where it was last looked for; the end where there is none. */
  #quote = -1;
  /** Where `#held` begins in the body. */
  #offset: number;
  /** What lies before this in the body has been scanned twice and is not scanned again. */
  #rescanned: number;
  /** Rescans of records that were not taken yet, or were just taken. */
  #rescans: Rescan[] = [];
  /** End of what was taken, in the body, and what was scanned twice by records before it. */
  #takenTo: number;
  #takenRescanned: number;
  /** Begin and end of complete records, those from `#taken` on. */
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

  /** Complete records that were not taken yet. */
  get rows(): number {
    return this.#ends.length - this.#taken;
  }

  /** Bytes of these. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Number of the record that `take` begins with. */
  get line(): number {
    return this.#line;
  }

  /** Where `take` begins. */
  get position(): CutPosition {
    return { line: this.#line, at: this.#takenTo, rescanned: this.#takenRescanned };
  }

  /** Adds a piece; it is copied. */
  push(piece: Uint8Array): void {
    this.#compact();
    this.#held = grown(this.#held, piece, { again: true });
    this.#quote = -1;
    this.#scan();
  }

  /** No more pieces: what is left is the last record. */
  end(): void {
    while (this.#start < this.#held.length || this.#tooLong) {
      if (this.#state === IN_QUOTES && this.#endAtFirstLine()) this.#scan();
      else {
        this.#close(this.#held.length);
        break;
      }
    }
  }

  /** Takes at most so many records and, beyond the first, bytes; null when there are none. */
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
    // Records lie behind one another but for those that were too long.
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
   * Lets go of what was taken, once that is more than what is left: doing so costs as much as there
   * is left, and pieces may have one byte each.
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

  /** Closes the records from here on that have no quote, by their line ends; where others begin. */
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
   * Ends a record that is too long or never closes with its first line, and goes back to there.
   * False where it has one line only, or where this was done for the same bytes before: no body
   * costs more than two scans.
   */
  #endAtFirstLine(): boolean {
    const held = this.#held;
    if (this.#offset + this.#start < this.#rescanned) return false;
    let end = held.indexOf(LF, this.#start) + 1;
    if (this.#form.kind === 'csv' && this.#form.loneCr) {
      const cr = held.indexOf(CR, this.#start) + 1;
      // A CR that the LF follows at once belongs to it.
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
