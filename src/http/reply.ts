/** What handlers see and give. Nothing here knows the server underneath. */
import { statusLine } from './status.js';

export interface Request {
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  /** Raw query string without the question mark. */
  readonly query: string;
  /** A header by lower-case name, empty when absent. On routes without a body: ask at once. */
  header(name: string): string;
  /** Address of the client, empty when unknown. On routes without a body: ask at once. */
  client(): string;
  /** Whether a trusted proxy passed it on; told of routes whose body and answer are both open. */
  readonly isProxied?: boolean;
  /**
   * Told by the gate whose request it is: the first characters of its key, the query without the
   * key where that may stand in it, and the key.
   */
  identified?(keyPrefix: string, query: string, key: string): void;
  /**
   * Where windows are shared with other processes: how many requests are left to the key, or that
   * it is refused, as was asked before the handler was called.
   */
  readonly taken?: number;
  /**
   * Empty on routes that take none. Routes that wait for anything take it at once: it is let go of
   * when the handler returns, so that only what is still needed stays in memory.
   */
  readonly body: Uint8Array;
  /**
   * Calls back once when the request was answered or its client has gone, so that work nobody waits
   * for can be given up. Absent where that cannot be told.
   */
  onClosed?(closed: () => void): void;
}

declare const headBrand: unique symbol;

/**
 * The Content-Type and every further header field of an answer in one text. The native server pays
 * for each call and not for each byte, so fields that repeat are joined once and kept.
 */
export type Head = string & { readonly [headBrand]: true };

export interface Reply {
  readonly status: number;
  /** Bytes are ASCII, and may be a view that the next answer overwrites. */
  readonly head: Head | Uint8Array;
  /**
   * The head behind a status line of 200, as bytes, where it is kept so (`NumberedHead`); the next
   * answer overwrites it.
   */
  readonly joined?: ArrayBuffer;
  readonly body: string | Uint8Array;
  /** For those who count: the response code, of lookups and where a refusal has one. */
  readonly code?: number;
  /** Of lookups and carts: how the place was found, as an index. */
  readonly precision?: number;
  /** The release that answered. */
  readonly dataset?: string;
}

/** What is noted of an answer that is written bit by bit; 0 as long as it has no status. */
export type Answered = Pick<Reply, 'status' | 'code' | 'dataset'>;

/** Takes one answer. The first wins; one that comes after the client has gone is dropped. */
export interface Answerer {
  send(reply: Reply): void;
}

export type Handle = (request: Request, answer: Answerer) => void;

/**
 * Decides by the head of a request, before its body is read: the answer that refuses it, or what is
 * called with the body. The body of the request it is given is empty.
 */
export type Admit = (request: Request) => Reply | Handle;

/** What a handler is told that reads a body and writes its answer at once. */
export interface DuplexEvents {
  /** `piece` is emptied when this returns. */
  data(piece: Uint8Array, isLast: boolean): void;
  /** What was written has been taken. */
  drained(): void;
  /** Whether nothing can be done until the client sends or takes something. */
  waiting(): boolean;
  /** The client has sent nothing for the idle time. */
  idle(): void;
  /** The client has gone, or everything was sent. */
  closed(): void;
}

export interface DuplexLimits {
  /** Longest time that a client may send or take nothing; told in steps of a few seconds. */
  readonly idleMs: number;
  /** How often an upload is kept from being cut; every few seconds unless given. */
  readonly tickMs?: number;
  /** Ends without the rest of the upload: for clients that read while they send. */
  readonly atOnce?: boolean;
}

/** Tells an answer from whatever else a step may give. */
export function isReply(value: object | null): value is Reply {
  return value !== null && (value as Partial<Reply>).head !== undefined;
}

/** The handler that looks at the head and goes on with the body, where both are there. */
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

/** Fields of answers that are the service's own: pages of other origins may read them all. */
export const OWN_HEADERS = {
  /** How the place was found. */
  precision: 'X-Situs-Precision',
  /** The release that answered. */
  dataset: 'X-Situs-Dataset',
  /** What the answer depended on. */
  receipt: 'X-Situs-Receipt',
  /** Under which name the rows of a file or of a session can be asked for again. */
  job: 'X-Situs-Job',
  /** What answers rows, and in which layout. */
  engine: 'X-Situs-Engine',
  /** Where the next page begins; absent with the last one. */
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

/** A head of bytes with one field more. */
export function withField(head: Uint8Array, name: string, value: string): Uint8Array {
  return Buffer.concat([head, Buffer.from(`\r\n${checked(name)}: ${checked(value)}`, 'latin1')]);
}

const ZERO = 48;
/** What stands before a head where it is joined with the status. */
const STATUS_LINE = `${statusLine(200)}\r\nContent-Type: `;

/** A head whose number has so many digits: with the status, and the part behind that. */
interface Digits {
  readonly joined: ArrayBuffer;
  readonly bytes: Uint8Array;
  readonly head: Uint8Array;
}

/**
 * A head that ends in one numeric field. It is kept as bytes and the digits are written in place:
 * the native server takes bytes as they are, where a text is joined and converted each time. The
 * status stands before it, since each value that is handed to that server costs 35 ns and more; a
 * buffer as a whole costs less than a part of one.
 */
export class NumberedHead {
  readonly #start: Buffer;
  /** By the number of digits. */
  readonly #known: (Digits | undefined)[] = [];
  /** Those of the number written last, that number, and the next one that has more. */
  #now: Digits;
  #value = 0;
  #bound = 10;

  constructor(head: Head, name: string) {
    this.#start = Buffer.from(`${STATUS_LINE}${head}\r\n${checked(name)}: `, 'latin1');
    this.#now = this.#of(1);
  }

  /** The head for a safe integer from 0 up; a view that the next call overwrites. */
  with(value: number): Uint8Array {
    if (value !== this.#value) this.#write(value);
    return this.#now.head;
  }

  /** What `with` gave last, behind a status line of 200. */
  get joined(): ArrayBuffer {
    return this.#now.joined;
  }

  /** The head for numbers of so many digits, with zeros for them at first. */
  #of(digits: number): Digits {
    const joined = new ArrayBuffer(this.#start.length + digits);
    const bytes = new Uint8Array(joined).fill(ZERO);
    bytes.set(this.#start);
    const made = { joined, bytes, head: bytes.subarray(STATUS_LINE.length) };
    this.#known[digits] = made;
    return made;
  }

  /** Writes digits from the last one on, up to where the number before had the same. */
  #write(value: number): void {
    let before = this.#value;
    if (value >= this.#bound || value < this.#bound / 10) {
      // Of another length, none of the digits stands where it did.
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

/** What an answer is about that no handler gives. */
export type Asking = Pick<Request, 'path' | 'query' | 'header'>;

/** The rate fields of answers that no handler gives: unknown paths, wrong methods, faults. */
export type RefusalFields = (asking: Asking) => Fields;
