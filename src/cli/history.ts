/**
 * `situs audit` and `situs events`: who did what, and which events and mails wait or have failed.
 */
import { type Actor, type AuditRecord, listAudit } from '../store/audit.js';
import { enableEndpoint, endpointOf } from '../store/endpoint.js';
import {
  OUTBOX_KINDS,
  OUTBOX_LISTS,
  type OutboxList,
  type OutboxRecord,
} from '../store/outbox-record.js';
import { listOutbox, replay, replayDead } from '../store/outbox.js';
import { parseDate } from '../tax/date.js';
import { print, progress, UsageError } from './command-line.js';
import { withStore } from './open-store.js';

function sinceTime(text: string | undefined): number {
  if (text === undefined) return 0;
  const [day = ''] = /^\d{4}-\d{2}-\d{2}/.exec(text) ?? [];
  // The day is checked by itself, because Date.parse reads 30 February as 2 March.
  const time = parseDate(day) === null ? NaN : Date.parse(text);
  if (Number.isNaN(time)) {
    throw new UsageError(`--since "${text}" is no day or moment, such as 2026-05-31`);
  }
  return time;
}

function actorText(actor: Actor): string {
  switch (actor.kind) {
    case 'key':
      return `key ${actor.prefix}… (${actor.id})`;
    case 'cli':
      return `cli ${actor.user === '' ? '' : `${actor.user} `}(uid ${actor.uid})`;
    case 'server':
      return 'server';
  }
}

function auditLine({ at, actor, account, action, object }: AuditRecord): string {
  return [new Date(at).toISOString(), actorText(actor), account ?? '-', action, object].join('  ');
}

/** Runs `situs audit list`. */
export async function auditCommand({
  since,
  json,
}: {
  readonly since?: string;
  readonly json?: boolean;
}): Promise<void> {
  const from = sinceTime(since);
  const records = await withStore((store) => listAudit(store, from, Date.now()));
  if (json) {
    print(
      JSON.stringify(
        records.map(({ at, ...entry }) => ({ at: new Date(at).toISOString(), ...entry })),
      ),
    );
  } else for (const record of records) print(auditLine(record));
}

interface Listed {
  readonly list: OutboxList;
  readonly record: OutboxRecord;
}

/** What a record is about. For a mail this is not the address that it goes to. */
function subject(record: OutboxRecord): string {
  return record.kind === 'event' ? record.type : `invitation ${record.merchantId}`;
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}

function outboxLine({ list, record }: Listed): string {
  const { id, account, createdAt, dueAt, attempts, error } = record;
  return [
    id,
    list,
    subject(record),
    account,
    `since ${timeOf(createdAt)}`,
    `attempts ${attempts}`,
    list === 'waiting' ? `due ${timeOf(dueAt)}` : `given up ${timeOf(dueAt)}`,
    ...(error === null ? [] : [error]),
  ].join('  ');
}

/** A record as JSON. The data of an event contain a connection, so they are left out. */
function shown({ list, record }: Listed): object {
  const { kind, id, account, createdAt, dueAt, attempts, status, error } = record;
  const about =
    record.kind === 'event' ? { event: record.type } : { merchantId: record.merchantId };
  return {
    id,
    kind,
    list,
    account,
    ...about,
    createdAt: timeOf(createdAt),
    attempts,
    status,
    error,
    ...(list === 'waiting' ? { dueAt: timeOf(dueAt) } : { deadAt: timeOf(dueAt) }),
  };
}

interface ListAsked {
  readonly dead?: boolean;
  readonly waiting?: boolean;
  readonly all?: boolean;
  readonly json?: boolean;
}

/** Runs `situs events list`. */
export async function listCommand({ dead, waiting, all, json }: ListAsked): Promise<void> {
  const named = OUTBOX_LISTS.filter((each) => (each === 'dead' ? dead : waiting));
  const lists = all || named.length === 0 ? OUTBOX_LISTS : named;
  const { listed, disabledAt } = await withStore((store) => ({
    listed: lists.flatMap((each) =>
      OUTBOX_KINDS.flatMap((kind) =>
        listOutbox(store, each, kind).map((record): Listed => ({ list: each, record })),
      ),
    ),
    disabledAt: endpointOf(store)?.disabledAt ?? null,
  }));
  if (json) print(JSON.stringify(listed.map(shown)));
  else for (const each of listed) print(outboxLine(each));
  if (disabledAt === null) return;
  progress(`The endpoint said at ${timeOf(disabledAt)} that it is gone; situs events enable`);
}

/** Runs `situs events replay ID` or `--dead`. */
export async function replayCommand(
  id: string | undefined,
  { dead = false }: { readonly dead?: boolean },
): Promise<void> {
  if ((id === undefined) !== dead) throw new UsageError('replay takes an ID or --dead');
  const now = Date.now();
  if (id === undefined) {
    print(`${await withStore((store) => replayDead(store, now))} to be sent again`);
    return;
  }
  if (!(await withStore((store) => replay(store, id, now)))) {
    throw new Error('no such event or mail; situs events list shows them');
  }
  print(`${id} to be sent again`);
}

/** Runs `situs events enable`. */
export async function enableCommand(): Promise<void> {
  print((await withStore(enableEndpoint)) ? 'the endpoint is in use again' : 'it was in use');
}
