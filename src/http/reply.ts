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
}

declare const headBrand: unique symbol;

/**
 * The Content-Type and every further header field of an answer in one text. The native server pays
 * for each call and not for each byte, so fields that repeat are joined once and kept.
 */
export type Head = string & { readonly [headBrand]: true };

export interface Reply {
  readonly status: number;
  readonly head: Head;
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

/** Adds one numeric field, which cannot hold a line break. */
export function withNumber(head: Head, name: string, value: number): Head {
  return `${head}\r\n${name}: ${value}` as Head;
}

/** The fields of a head by lower-case name; for tests and logs. */
export function fieldsOf(head: Head): ReadonlyMap<string, string> {
  const [type = '', ...rest] = head.split('\r\n');
  const fields = new Map([['content-type', type]]);
  for (const line of rest) {
    const colon = line.indexOf(': ');
    fields.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 2));
  }
  return fields;
}
