/** The records of kept answers, as idempotency.ts lists them. */
import type { StoreKey } from './format.js';
import {
  AS_IT_IS, damaged, isFields, number, optional, orNull, recordReader, since, text,
  type RecordFields,
} from './record-reader.js';
import { parseSealed, type Sealed, type SealPlace } from './sealed.js';

export const KEPT_PREFIX = 'idempotency';
export const AGE_PREFIX = 'idempotency-age';

const TIME_DIGITS = 15;

/** An answer as it is given again. */
export interface KeptAnswer {
  readonly status: number;
  /** Header fields by name, the content type among them. */
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** Key of what is kept of a request. */
export function keptKey(account: string, hash: string): StoreKey {
  return [KEPT_PREFIX, account, hash];
}

/** Key of its age. */
export function ageKey(
  { at, account, hash }: Pick<AgeRecord, 'at' | 'account' | 'hash'>,
): StoreKey {
  return [AGE_PREFIX, String(at).padStart(TIME_DIGITS, '0'), account, hash];
}

const KIND = 'idempotency';

function answerOf({ status, fields, body }: RecordFields): KeptAnswer {
  if (
    typeof status !== 'number' || typeof fields !== 'object' || fields === null ||
    (typeof body !== 'string' && !(body instanceof Uint8Array))
  ) {
    throw damaged(KIND);
  }
  const texts = Object.entries(fields).map(([name, text]) => [name, String(text)] as const);
  return { status, fields: Object.fromEntries(texts), body };
}

/** Version 1 kept the answer as members of its own, unsealed. */
function gathered({ status, fields, body, ...rest }: RecordFields): RecordFields {
  return { ...rest, answer: { status, fields, body } };
}

/** A request of a key. Version 2 had none without an answer. */
export type KeptRecord = ReturnType<typeof parseKept>;

export const parseKept = recordReader(KIND, 3, {
  /** Keyed hash of path and body. */
  fingerprint: text,
  at: number,
  /** Where there is no answer: the server that waits for it; empty where none does. */
  by: optional(text),
  /**
   * Sealed: what the compliance provider answered names the connection. Null from the moment a
   * request is sent elsewhere until its answer is known.
   */
  answer: orNull<Sealed | KeptAnswer>((value) =>
    (isFields(value) && 'status' in value ? answerOf(value) : parseSealed(value))),
}, [gathered, AS_IT_IS]);

/** An answer as the text that is sealed. Bodies of bytes come back as the same bytes. */
export function answerText({ status, fields, body }: KeptAnswer): string {
  return JSON.stringify(typeof body === 'string'
    ? { status, fields, text: body }
    : { status, fields, base64: Buffer.from(body).toString('base64') });
}

/** The answer of such a text. */
export function readAnswer(text: string): KeptAnswer {
  const { text: plain, base64, ...rest }: RecordFields = JSON.parse(text);
  return answerOf({
    ...rest, body: typeof base64 === 'string' ? Buffer.from(base64, 'base64') : plain,
  });
}

/** Where an answer is sealed for. */
export function placeOf(account: string, hash: string): SealPlace {
  return { account, merchant: hash, field: 'kept answer' };
}

/** When a key was used, for sweeping. */
export type AgeRecord = ReturnType<typeof parseAge>;

export const parseAge = recordReader('idempotency age', 1, {
  account: text,
  hash: text,
  at: number,
  /** What it counts for in the share of its account; zero where it is older than shares. */
  bytes: since(number, 0),
});
