/** What waits to be sent, as it is kept. Personal data: a mail holds the address it goes to. */
import { isSealed, type Sealed } from './sealed.js';

export const OUTBOX_KINDS = ['event', 'mail'] as const;
export type OutboxKind = (typeof OUTBOX_KINDS)[number];

export const OUTBOX_LISTS = ['waiting', 'dead'] as const;
export type OutboxList = (typeof OUTBOX_LISTS)[number];

interface Attempted {
  /** Says the same on every attempt; the beginning is that of its kind. */
  readonly id: string;
  readonly account: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** When it is to be attempted; in the dead-letter list, when it got there. */
  readonly dueAt: number;
  /** Attempts that failed since it was added or replayed. */
  readonly attempts: number;
  /** What the last attempt was answered; null when there was no answer. */
  readonly status: number | null;
  /** Why the last attempt failed, in words that hold no address and no URL. */
  readonly error: string | null;
}

export interface EventRecord extends Attempted {
  readonly v: 2;
  readonly kind: 'event';
  readonly type: string;
  /**
   * JSON, kept as text so that each attempt sends the same bytes, and sealed. A plain text where
   * version 1 of the record kept it, until the server starts.
   */
  readonly data: Sealed | string;
}

export interface MailRecord extends Attempted {
  readonly v: 1;
  readonly kind: 'mail';
  readonly merchantId: string;
  readonly merchantName: string;
  readonly contactFirst: string | null;
  readonly contactLast: string | null;
  readonly email: string;
}

export type OutboxRecord = EventRecord | MailRecord;

/** How many of a kind there are. */
export interface OutboxCount {
  readonly waiting: number;
  readonly dead: number;
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string') throw new Error('damaged outbox record in the store');
  return value;
}

function numberOf(fields: Fields, name: string): number {
  const value = fields[name];
  if (typeof value !== 'number') throw new Error('damaged outbox record in the store');
  return value;
}

function attemptedOf(fields: Fields): Attempted {
  return {
    id: textOf(fields, 'id'),
    account: textOf(fields, 'account'),
    createdAt: numberOf(fields, 'createdAt'),
    dueAt: numberOf(fields, 'dueAt'),
    attempts: numberOf(fields, 'attempts'),
    status: fields['status'] === null ? null : numberOf(fields, 'status'),
    error: fields['error'] === null ? null : textOf(fields, 'error'),
  };
}

/** Newest version of each kind's record. */
const VERSIONS: Readonly<Record<OutboxKind, number>> = { event: 2, mail: 1 };

function isKind(value: unknown): value is OutboxKind {
  return value === 'event' || value === 'mail';
}

/** Of version 2 sealed, of version 1 as it was. */
function dataOf(fields: Fields): Sealed | string {
  if (fields['v'] === 1) return textOf(fields, 'data');
  const { data } = fields;
  if (!isSealed(data)) throw new Error('damaged outbox record in the store');
  return data;
}

/**
 * Reads a record of the outbox.
 * @throws Error when the record has another shape: the store is damaged or from a newer program.
 */
export function parseOutboxRecord(value: unknown): OutboxRecord {
  if (!isFields(value) || typeof value['v'] !== 'number') {
    throw new Error('unreadable outbox record in the store');
  }
  const { v, kind } = value;
  if (!isKind(kind)) throw new Error('damaged outbox record in the store');
  if (!Number.isInteger(v) || v < 1 || v > VERSIONS[kind]) {
    throw new Error('unreadable outbox record in the store');
  }
  const attempted = attemptedOf(value);
  if (kind === 'event') {
    return { v: 2, ...attempted, kind, type: textOf(value, 'type'), data: dataOf(value) };
  }
  return {
    v: 1,
    ...attempted,
    kind,
    merchantId: textOf(value, 'merchantId'),
    merchantName: textOf(value, 'merchantName'),
    contactFirst: value['contactFirst'] === null ? null : textOf(value, 'contactFirst'),
    contactLast: value['contactLast'] === null ? null : textOf(value, 'contactLast'),
    email: textOf(value, 'email'),
  };
}

/** Reads the counts of a kind; none were kept before the first record. */
export function parseOutboxCount(value: unknown): OutboxCount {
  if (value === undefined) return { waiting: 0, dead: 0 };
  if (!isFields(value) || value['v'] !== 1) throw new Error('unreadable outbox count in the store');
  return { waiting: numberOf(value, 'waiting'), dead: numberOf(value, 'dead') };
}
