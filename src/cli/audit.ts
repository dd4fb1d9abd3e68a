/** `situs audit …`: who did what to keys, credentials, merchants, nexus, releases and secrets. */
import { listAudit, type Actor, type AuditRecord } from '../store/audit.js';
import { print } from './line.js';
import { withStore } from './open-store.js';
import { UsageError } from './usage.js';

function timeOf(text: string | undefined): number {
  if (text === undefined) return 0;
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(time)) {
    throw new UsageError(`--since "${text}" is no day or moment, such as 2026-05-31`);
  }
  return time;
}

function actorText(actor: Actor): string {
  switch (actor.kind) {
    case 'key': return `key ${actor.prefix}… (${actor.id})`;
    case 'cli': return `cli ${actor.user === '' ? '' : `${actor.user} `}(uid ${actor.uid})`;
    case 'server': return 'server';
  }
}

function line({ at, actor, account, action, object }: AuditRecord): string {
  return [
    new Date(at).toISOString(), actorText(actor), account ?? '-', action, object,
  ].join('  ');
}

/** Runs `situs audit list`. */
export async function auditCommand(
  { since, json }: { readonly since?: string; readonly json?: boolean },
): Promise<void> {
  const from = timeOf(since);
  const records = await withStore((store) => listAudit(store, from, Date.now()));
  if (json) {
    print(JSON.stringify(records.map(({ at, ...entry }) =>
      ({ at: new Date(at).toISOString(), ...entry }))));
  } else for (const record of records) print(line(record));
}
