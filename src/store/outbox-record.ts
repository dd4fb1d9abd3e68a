/**
 * Records of the outbox, which wait to be sent. They are personal data: a mail contains its
 * address.
 */
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
  /** The same for every attempt; it begins with the prefix of its kind. */
  id: text,
  account: text,
  /** Milliseconds since 1970. */
  createdAt: number,
  /** When to attempt it; in the dead-letter list, when it was put there. */
  dueAt: number,
  /** Number of failed attempts since it was added or replayed. */
  attempts: number,
  /** The status of the last attempt's answer; null when there was none. */
  status: orNull(number),
  /** Why the last attempt failed, without any address or URL. */
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
     * JSON, kept as text so that each attempt sends the same bytes, and sealed. It is plain text
     * where version 1 of the record stored it, until the server starts.
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

/** The number of records of a kind. */
export type OutboxCount = Pick<ReturnType<typeof readCount>, 'waiting' | 'dead'>;

/** Reads the counts of a kind; before the first record there are none. */
export function parseOutboxCount(value: unknown): OutboxCount {
  if (value === undefined) return { waiting: 0, dead: 0 };
  const { waiting, dead } = readCount(value);
  return { waiting, dead };
}

/** An event to be sent. */
export interface NewEvent {
  readonly account: string;
  /** Words of letters, digits and underscores, separated by dots. */
  readonly type: string;
  readonly data: object;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** What the mail that invites a merchant is made of. */
export interface Invitation {
  /** Made unless given. */
  readonly id?: string | undefined;
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

/** The outcome of a failed attempt. */
export interface Attempt {
  readonly status: number | null;
  readonly error: string;
}
