/** What waits to be sent, as it is kept. Personal data: a mail holds the address it goes to. */

export const OUTBOX_KINDS = ['event', 'mail'] as const;
export type OutboxKind = (typeof OUTBOX_KINDS)[number];

export const OUTBOX_LISTS = ['waiting', 'dead'] as const;
export type OutboxList = (typeof OUTBOX_LISTS)[number];

interface Attempted {
  readonly v: 1;
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
  readonly kind: 'event';
  readonly type: string;
  /** JSON, kept as text so that each attempt sends the same bytes. */
  readonly data: string;
}

export interface MailRecord extends Attempted {
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
    v: 1,
    id: textOf(fields, 'id'),
    account: textOf(fields, 'account'),
    createdAt: numberOf(fields, 'createdAt'),
    dueAt: numberOf(fields, 'dueAt'),
    attempts: numberOf(fields, 'attempts'),
    status: fields['status'] === null ? null : numberOf(fields, 'status'),
    error: fields['error'] === null ? null : textOf(fields, 'error'),
  };
}

/**
 * Reads a record of the outbox.
 * @throws Error when the record has another shape: the store is damaged or from a newer program.
 */
export function parseOutboxRecord(value: unknown): OutboxRecord {
  if (!isFields(value) || value['v'] !== 1) {
    throw new Error('unreadable outbox record in the store');
  }
  const attempted = attemptedOf(value);
  if (value['kind'] === 'event') {
    return {
      ...attempted, kind: 'event', type: textOf(value, 'type'), data: textOf(value, 'data'),
    };
  }
  if (value['kind'] !== 'mail') throw new Error('damaged outbox record in the store');
  return {
    ...attempted,
    kind: 'mail',
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
