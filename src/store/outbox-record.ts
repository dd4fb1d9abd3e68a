/** What waits to be sent, as it is kept. Personal data: a mail holds the address it goes to. */
import { isObject } from '../base/json-object.js';
import {
  AS_IT_IS,
  choice,
  damaged,
  member,
  number,
  orNull,
  recordReader,
  text,
} from './record-reader.js';
import { isSealed, type Sealed } from './sealed.js';

export const OUTBOX_KINDS = ['event', 'mail'] as const;
export type OutboxKind = (typeof OUTBOX_KINDS)[number];

export const OUTBOX_LISTS = ['waiting', 'dead'] as const;
export type OutboxList = (typeof OUTBOX_LISTS)[number];

const ATTEMPTED = {
  /** Says the same on every attempt; the beginning is that of its kind. */
  id: text,
  account: text,
  /** Milliseconds since 1970. */
  createdAt: number,
  /** When it is to be attempted; in the dead-letter list, when it got there. */
  dueAt: number,
  /** Attempts that failed since it was added or replayed. */
  attempts: number,
  /** What the last attempt was answered; null when there was no answer. */
  status: orNull(number),
  /** Why the last attempt failed, in words that hold no address and no URL. */
  error: orNull(text),
};

const isData = (value: unknown): value is Sealed | string =>
  typeof value === 'string' || isSealed(value);

const readEvent = recordReader(
  'outbox',
  2,
  {
    ...ATTEMPTED,
    kind: choice(['event']),
    type: text,
    /**
     * JSON, kept as text so that each attempt sends the same bytes, and sealed. A plain text where
     * version 1 of the record kept it, until the server starts.
     */
    data: member(isData),
  },
  [AS_IT_IS],
);

const readMail = recordReader('outbox', 1, {
  ...ATTEMPTED,
  kind: choice(['mail']),
  merchantId: text,
  merchantName: text,
  contactFirst: orNull(text),
  contactLast: orNull(text),
  email: text,
});

export type EventRecord = ReturnType<typeof readEvent>;
export type MailRecord = ReturnType<typeof readMail>;
export type OutboxRecord = EventRecord | MailRecord;

/**
 * Reads a record of the outbox.
 * @throws Error when the record has another shape: the store is damaged or from a newer program.
 */
export function parseOutboxRecord(value: unknown): OutboxRecord {
  if (!isObject(value) || value['kind'] !== 'event') return readMail(value);
  const event = readEvent(value);
  if (value['v'] !== 1 && !isSealed(event.data)) throw damaged('outbox');
  return event;
}

const readCount = recordReader('outbox count', 1, { waiting: number, dead: number });

/** How many of a kind there are. */
export type OutboxCount = Pick<ReturnType<typeof readCount>, 'waiting' | 'dead'>;

/** Reads the counts of a kind; none were kept before the first record. */
export function parseOutboxCount(value: unknown): OutboxCount {
  if (value === undefined) return { waiting: 0, dead: 0 };
  const { waiting, dead } = readCount(value);
  return { waiting, dead };
}

/** An event to be told. */
export interface NewEvent {
  readonly account: string;
  /** Words of letters, digits and underscores with dots between them. */
  readonly type: string;
  readonly data: object;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The mail that invites a merchant, as it is asked for. */
export interface Invitation {
  readonly account: string;
  readonly merchantId: string;
  readonly merchantName: string;
  readonly contactFirst?: string;
  readonly contactLast?: string;
  /** The merchant's contactEmail. */
  readonly email: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** What an attempt that failed left behind. */
export interface Attempt {
  readonly status: number | null;
  readonly error: string;
}
