/** `situs events …`: what waits to be sent and what could not be, also while a server runs. */
import { parseArgs } from 'node:util';
import { enableEndpoint, endpointOf } from '../store/endpoint.js';
import { listOutbox, replay, replayDead } from '../store/outbox.js';
import {
  OUTBOX_KINDS, OUTBOX_LISTS, type OutboxList, type OutboxRecord,
} from '../store/outbox-record.js';
import { withStore } from './open-store.js';
import { refuseExtra, UsageError } from './usage.js';

export const USAGE =
  `situs events list [--dead|--waiting|--all] [--json]   --all unless said otherwise
situs events replay ID                 send one again, with all its attempts
situs events replay --dead             send all again that were given up
situs events enable                    use an endpoint again that said it was gone
Events go to SITUS_WEBHOOK_URL, invitation mails to SITUS_SMTP_URL. What was sent is not kept.
A running server follows within a second.
`;

const OPTIONS = {
  dead: { type: 'boolean', default: false },
  waiting: { type: 'boolean', default: false },
  all: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const;

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

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function list(lists: readonly OutboxList[], json: boolean): Promise<void> {
  const { listed, disabledAt } = await withStore((store) => ({
    listed: lists.flatMap((each) => OUTBOX_KINDS.flatMap((kind) =>
      listOutbox(store, each, kind).map((record): Listed => ({ list: each, record })))),
    disabledAt: endpointOf(store)?.disabledAt ?? null,
  }));
  if (json) print(JSON.stringify(listed.map(shown)));
  else for (const each of listed) print(line(each));
  if (disabledAt === null) return;
  process.stderr.write(
    `The endpoint said at ${timeOf(disabledAt)} that it is gone; situs events enable\n`,
  );
}

async function again(id: string | undefined, dead: boolean): Promise<void> {
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

/** Runs `situs events ARGS`. */
export async function eventsCommand(args: readonly string[]): Promise<number> {
  const [verb, ...rest] = args;
  if (verb === undefined) throw new UsageError(USAGE);
  const { values, positionals } = parseArgs({
    args: rest, allowPositionals: true, options: OPTIONS,
  });
  const { dead, waiting, all, json } = values;
  const lists = OUTBOX_LISTS.filter((each) => (each === 'dead' ? dead : waiting));
  const [id] = positionals;
  const takesId = verb === 'replay' ? 1 : 0;
  refuseExtra(positionals, takesId);
  if (verb !== 'list' && (waiting || all || json)) throw new UsageError(USAGE);
  if (verb === 'list') await list(all || lists.length === 0 ? OUTBOX_LISTS : lists, json);
  else if (verb === 'replay') await again(id, dead);
  else if (verb === 'enable' && !dead) {
    print(await withStore(enableEndpoint) ? 'the endpoint is in use again' : 'it was in use');
  } else throw new UsageError(USAGE);
  return 0;
}
