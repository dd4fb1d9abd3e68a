/** What handlers see and give. Nothing here knows the server underneath. */

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
  /** Empty on routes that take none. */
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
  readonly body: string | Uint8Array;
}

/** Takes one answer. The first wins; one that comes after the client has gone is dropped. */
export interface Answerer {
  send(reply: Reply): void;
}

export type Handle = (request: Request, answer: Answerer) => void;

export type Fields = Readonly<Record<string, string | number>>;

export const JSON_TYPE = 'application/json';
export const XML_TYPE = 'application/xml; charset=utf-8';
export const PROBLEM_TYPE = 'application/problem+json';

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

const ZERO = 48;
const DIGITS_MAX = 16;

/**
 * A head that ends in one numeric field. It is kept as bytes and the digits are written in place:
 * the native server takes bytes as they are, where a text is joined and converted each time.
 */
export class NumberedHead {
  readonly #bytes: Buffer;
  readonly #digitsAt: number;
  /** Views of the bytes by the number of digits. */
  readonly #views: (Uint8Array | undefined)[] = [];

  constructor(head: Head, name: string) {
    const text = `${head}\r\n${checked(name)}: `;
    this.#digitsAt = text.length;
    this.#bytes = Buffer.from(text + '0'.repeat(DIGITS_MAX), 'latin1');
  }

  /** The head for a safe integer from 0 up; a view that the next call overwrites. */
  with(value: number): Uint8Array {
    let digits = 1;
    for (let bound = 10; value >= bound; bound *= 10) digits += 1;
    let rest = value;
    for (let at = this.#digitsAt + digits - 1; at >= this.#digitsAt; at -= 1) {
      const next = Math.floor(rest / 10);
      this.#bytes[at] = ZERO + (rest - next * 10);
      rest = next;
    }
    return (this.#views[digits] ??= this.#bytes.subarray(0, this.#digitsAt + digits));
  }
}

/** The fields of a head by lower-case name; for tests and logs. */
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
