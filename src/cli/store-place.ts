/** `situs store migrate` and `situs store copy`: stores in databases. */
import { loadConfig } from '../config.js';
import { copyStore } from '../store/copy.js';
import { databasePlace } from '../store/postgres/place.js';
import { print } from './line.js';
import { removeOnSignal, UsageError } from './usage.js';

/** Longest wait for a step: it may change every record. */
const MIGRATE_QUERY_MS_MAX = 600_000;

/** Runs `situs store migrate`. */
export async function migrateCommand(): Promise<void> {
  const { storeUrl } = loadConfig();
  if (storeUrl === null) {
    throw new UsageError('SITUS_STORE names no database: a store in SITUS_VAR needs no migration');
  }
  const place = databasePlace(storeUrl);
  const { Connection } = await import('../store/postgres/connection.js');
  const { migrate } = await import('../store/postgres/schema.js');
  const connection = await Connection.open(place, {
    use: 'migrate', queryMs: MIGRATE_QUERY_MS_MAX,
  });
  try {
    const { before, version } = await migrate(connection, place);
    print(before === version ? `${place.shown} has tables of version ${version} already`
      : `${place.shown} has tables of version ${version} now, of ${before} before`);
  } finally {
    connection.close();
  }
}

/** Runs `situs store copy FROM TO`. */
export async function copyCommand(from: string, to: string): Promise<void> {
  if (from === to) throw new UsageError('FROM and TO are the same place');
  const { records, sha256 } = await copyStore(from, to, removeOnSignal);
  print(`${records} records, read again and the same; sum ${sha256}`);
  print('its secrets need the key-encryption key that they needed before; every server of it, too');
}
