/** `situs events …`: what waits to be sent and what could not be, also while a server runs. */
import { enableEndpoint, endpointOf } from '../store/endpoint.js';
import { listOutbox, replay, replayDead } from '../store/outbox.js';
import {
  OUTBOX_KINDS, OUTBOX_LISTS, type OutboxList, type OutboxRecord,
} from '../store/outbox-record.js';
import { print, progress } from './line.js';
import { withStore } from './open-store.js';
import { UsageError } from './usage.js';

interface Listed {
  readonly list: OutboxList;
  readonly record: OutboxRecord;
}

/** What it is about: never the address a mail goes to. */
function subject(record: OutboxRecord): string {
  return record.kind === 'event' ? record.type : `invitation ${record.merchantId}`;
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}

function line({ list, record }: Listed): string {
  const { id, account, createdAt, dueAt, attempts, error } = record;
  return [
    id, list, subject(record), account, `since ${timeOf(createdAt)}`, `attempts ${attempts}`,
    list === 'waiting' ? `due ${timeOf(dueAt)}` : `given up ${timeOf(dueAt)}`,
    ...(error === null ? [] : [error]),
  ].join('  ');
}

/** One for programs. The data of an event name a connection and are not shown. */
function shown({ list, record }: Listed): object {
  const { kind, id, account, createdAt, dueAt, attempts, status, error } = record;
  const about = record.kind === 'event'
    ? { event: record.type }
    : { merchantId: record.merchantId };
  return {
    id, kind, list, account, ...about, createdAt: timeOf(createdAt), attempts, status, error,
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
    listed: lists.flatMap((each) => OUTBOX_KINDS.flatMap((kind) =>
      listOutbox(store, each, kind).map((record): Listed => ({ list: each, record })))),
    disabledAt: endpointOf(store)?.disabledAt ?? null,
  }));
  if (json) print(JSON.stringify(listed.map(shown)));
  else for (const each of listed) print(line(each));
  if (disabledAt === null) return;
  progress(`The endpoint said at ${timeOf(disabledAt)} that it is gone; situs events enable`);
}

/** Runs `situs events replay ID` or `--dead`. */
export async function replayCommand(
  id: string | undefined, { dead = false }: { readonly dead?: boolean },
): Promise<void> {
  if ((id === undefined) !== dead) throw new UsageError('replay takes an ID or --dead');
  const now = Date.now();
  if (id === undefined) {
    print(`${await withStore((store) => replayDead(store, now))} to be sent again`);
    return;
  }
  if (!await withStore((store) => replay(store, id, now))) {
    throw new Error('no such event or mail; situs events list shows them');
  }
  print(`${id} to be sent again`);
}

/** Runs `situs events enable`. */
export async function enableCommand(): Promise<void> {
  print(await withStore(enableEndpoint) ? 'the endpoint is in use again' : 'it was in use');
}
