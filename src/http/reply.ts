/** Requests and answers as handlers see them, independent of the HTTP server. */
import { statusLine } from './status.js';

export interface Request {
  readonly method: string;
  /** The path as it was sent, without the query. */
  readonly path: string;
  /** Raw query string without the question mark. */
  readonly query: string;
  /**
   * A header field by its lower-case name; empty when absent. On routes without a body, call this
   * within the handler.
   */
  header(name: string): string;
  /**
   * Address of the client, empty when unknown. On routes without a body, call this within the
   * handler.
   */
  client(): string;
  /** Whether a trusted proxy passed the request on; set on duplex routes only. */
  readonly isProxied?: boolean;
  /**
   * Called by the gate when it knows whose request it is: with the first characters of the key, the
   * query without the key (on routes that accept it there), and the key.
   */
  identified?(keyPrefix: string, query: string, key: string): void;
  /**
   * Where windows are shared with other processes: how many requests the key has left, or REFUSED,
   * as answered before the handler was called.
   */
  readonly taken?: number;
  /**
   * Empty on routes without a body. It is released when the handler returns, so that only what is
   * still needed stays in memory: a handler that waits for anything takes it first.
   */
  readonly body: Uint8Array;
  /**
   * Calls back once when the request was answered or its client has left, so that work nobody waits
   * for can be given up. Absent where that cannot be known.
   */
  onClosed?(closed: () => void): void;
}

declare const headBrand: unique symbol;

/**
 * The Content-Type and all further header fields of an answer in one text. For the native server
 * each call costs time, and not each byte, so fields that repeat are joined once and kept.
 */
export type Head = string & { readonly [headBrand]: true };

export interface Reply {
  readonly status: number;
  /** Bytes are ASCII, and may be a view that the next answer overwrites. */
  readonly head: Head | Uint8Array;
  /**
   * The same head after a status line of 200, as bytes, where those are kept (`NumberedHead`); the
   * next answer overwrites it.
   */
  readonly joined?: ArrayBuffer;
  readonly body: string | Uint8Array;
  /** For the log and the counts: the response code, of lookups and of refusals that have one. */
  readonly code?: number;
  /** For lookups and carts: how the place was found, as an index. */
  readonly precision?: number;
  /** The release that answered. */
  readonly dataset?: string;
}

/** What is noted of an answer that is written in parts; its status is 0 until it begins. */
export type Answered = Pick<Reply, 'status' | 'code' | 'dataset'>;

/** Takes one answer. The first one counts; one that comes after the client has left is dropped. */
export interface Answerer {
  send(reply: Reply): void;
}

export type Handle = (request: Request, answer: Answerer) => void;

/**
 * Decides by the head of a request, before its body is read: returns the answer that refuses it, or
 * the handler for the body. The request passed here has an empty body.
 */
export type Admit = (request: Request) => Reply | Handle;

/** What a handler receives that reads a body and writes its answer at the same time. */
export interface DuplexEvents {
  /** Called with a piece of the body, which is emptied when this returns. */
  data(piece: Uint8Array, isLast: boolean): void;
  /** Called when the client has taken what was written. */
  drained(): void;
  /** Whether the handler can do nothing until the client sends or takes something. */
  waiting(): boolean;
  /** Called when the client has sent nothing for the idle time. */
  idle(): void;
  /** Called when the client has left, or everything was sent. */
  closed(): void;
}

export interface DuplexLimits {
  /** Longest time in which a client may send or take nothing, checked every few seconds. */
  readonly idleMs: number;
  /** How often the idle timer of an upload is restarted; every few seconds unless given. */
  readonly tickMs?: number;
  /**
   * Whether to end without reading the rest of the upload, for clients that read while they send.
   */
  readonly atOnce?: boolean;
}

/** Tells an answer from any other result of a step. */
export function isReply(value: object | null): value is Reply {
  return value !== null && (value as Partial<Reply>).head !== undefined;
}

/** Makes a handler that decides by the head and goes on with the body, where both have arrived. */
export function handleOf(admit: Admit): Handle {
  return (request, answer) => {
    const admitted = admit(request);
    if (isReply(admitted)) answer.send(admitted);
    else admitted(request, answer);
  };
}

export type Fields = Readonly<Record<string, string | number>>;

export const JSON_TYPE = 'application/json';
export const XML_TYPE = 'application/xml; charset=utf-8';
export const PROBLEM_TYPE = 'application/problem+json';

/** Fields of answers that are special to this service; pages of other origins may read them all. */
export const OWN_HEADERS = {
  /** How the place was found. */
  precision: 'X-Situs-Precision',
  /** The release that answered. */
  dataset: 'X-Situs-Dataset',
  /** What the answer depended on. */
  receipt: 'X-Situs-Receipt',
  /** The id under which the rows of a file or a session can be asked for again. */
  job: 'X-Situs-Job',
  /** The program that answers rows, and the version of their layout. */
  engine: 'X-Situs-Engine',
  /** Where the next page begins; absent on the last page. */
  cursor: 'X-Situs-Next-Cursor',
} as const;

/** Characters that would end a field and begin another one. */
const LINE_BREAK = /[\r\n\0]/;

function checked(text: string): string {
  if (LINE_BREAK.test(text)) throw new Error('a header field holds a line break');
  return text;
}

/** Joins a content type and further fields. */
export function headOf(type: string, fields: Fields = {}): Head {
  let head = checked(type);
  for (const [name, value] of Object.entries(fields)) {
    head += `\r\n${checked(name)}: ${checked(String(value))}`;
  }
  return head as Head;
}

/** A head of bytes with one more field. */
export function withField(head: Uint8Array, name: string, value: string): Uint8Array {
  return Buffer.concat([head, Buffer.from(`\r\n${checked(name)}: ${checked(value)}`, 'latin1')]);
}

const ZERO = 48;
/** Precedes a head where it is joined with the status. */
const STATUS_LINE = `${statusLine(200)}\r\nContent-Type: `;

/**
 * A head whose number has a certain count of digits: with the status line, and the part after it.
 */
interface Digits {
  readonly joined: ArrayBuffer;
  readonly bytes: Uint8Array;
  readonly head: Uint8Array;
}

/**
 * A head that ends in a numeric field. It is kept as bytes, and only the digits are written: the
 * native server takes bytes as they are, while a text is joined and converted each time. The status
 * line precedes the head, since each value passed to that server costs 35 ns or more; a whole
 * buffer costs less than a part of one.
 */
export class NumberedHead {
  readonly #start: Buffer;
  /** Heads by their number of digits. */
  readonly #known: (Digits | undefined)[] = [];
  /** The head of the last number, that number, and the next one with more digits. */
  #now: Digits;
  #value = 0;
  #bound = 10;

  constructor(head: Head, name: string) {
    this.#start = Buffer.from(`${STATUS_LINE}${head}\r\n${checked(name)}: `, 'latin1');
    this.#now = this.#of(1);
  }

  /** The head for a safe integer from 0 on; a view that the next call overwrites. */
  with(value: number): Uint8Array {
    if (value !== this.#value) this.#write(value);
    return this.#now.head;
  }

  /** What `with` returned last, after a status line of 200. */
  get joined(): ArrayBuffer {
    return this.#now.joined;
  }

  /** Makes the head for numbers of so many digits, which are zeros at first. */
  #of(digits: number): Digits {
    const joined = new ArrayBuffer(this.#start.length + digits);
    const bytes = new Uint8Array(joined).fill(ZERO);
    bytes.set(this.#start);
    const made = { joined, bytes, head: bytes.subarray(STATUS_LINE.length) };
    this.#known[digits] = made;
    return made;
  }

  /** Writes digits from the last one on, until they are those of the number before. */
  #write(value: number): void {
    let before = this.#value;
    if (value >= this.#bound || value < this.#bound / 10) {
      // With another count of digits, none of them has its former place.
      before = -1;
      let digits = 1;
      for (this.#bound = 10; value >= this.#bound; this.#bound *= 10) digits += 1;
      this.#now = this.#known[digits] ?? this.#of(digits);
    }
    let rest = value;
    const { bytes } = this.#now;
    for (let at = bytes.length - 1; at >= this.#start.length && rest !== before; at -= 1) {
      const next = Math.floor(rest / 10);
      bytes[at] = ZERO + (rest - next * 10);
      rest = next;
      if (before >= 0) before = Math.floor(before / 10);
    }
    this.#value = value;
  }
}

/** The fields of a head by lower-case name. */
export function fieldsOf(head: Head | Uint8Array): ReadonlyMap<string, string> {
  const text = typeof head === 'string' ? head : Buffer.from(head).toString('latin1');
  const [type = '', ...rest] = text.split('\r\n');
  const fields = new Map([['content-type', type]]);
  for (const line of rest) {
    const colon = line.indexOf(': ');
    fields.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 2));
  }
  return fields;
}

/** The parts of a request that an answer without a handler depends on. */
export type Asking = Pick<Request, 'path' | 'query' | 'header'>;

/** The rate fields of answers that come from no handler: unknown paths, wrong methods, faults. */
export type RefusalFields = (asking: Asking) => Fields;
