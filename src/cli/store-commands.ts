/**
 * `situs store …`: backs up a store, also while a server runs; verifies and restores backups;
 * prepares and copies stores in databases.
 */
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Config, loadConfig } from '../config.js';
import { messageOf } from '../log.js';
import {
  type BackupFacts,
  backupStore,
  obstacle,
  removeLeftStores,
  restoreStore,
  verifyBackup,
} from '../store/backup.js';
import { copyStore } from '../store/copy.js';
import { KekFile } from '../store/kek-file.js';
import { kekPath, openKekSource } from '../store/kek-source.js';
import { databasePlace } from '../store/postgres/place.js';
import { DAMAGED_CODE, requireStore, tellDamaged } from './open-store.js';
import {
  print,
  progress,
  READER_GONE,
  removeOnSignal,
  UsageError,
  watched,
} from './command-line.js';

/** Prints what a backup contains, and which keys are needed to use it. */
function describe(config: Config, facts: BackupFacts): void {
  print(`${facts.records} records, ${facts.bytes} bytes`);
  if (!facts.checked) {
    progress(
      'warning: it has no checksum, as backups of earlier versions: whether it was damaged ' +
        'cannot be verified',
    );
  }
  if (facts.keks.length === 0) return print('no sealed secrets: no key is needed to restore it');
  const ids = facts.keks.join(', ');
  const known = new Set(knownKeks(config));
  const missing = facts.keks.filter((id) => !known.has(id));
  print(`its secrets need the key-encryption key ${ids}; keep it apart from the backup`);
  if (missing.length > 0) {
    const place = config.kek === null ? kekPath(config) : 'SITUS_KEK';
    progress(
      `warning: ${missing.join(', ')} is not in ${place}; ` +
        'without it the server will not start',
    );
  }
}

function knownKeks(config: Config): readonly string[] {
  if (config.kek === null && !existsSync(kekPath(config))) return [];
  try {
    const source =
      config.kek === null ? KekFile.open(kekPath(config), null) : openKekSource(config, null);
    return source.all().map(({ id }) => id);
  } catch (error) {
    progress(`warning: ${messageOf(error)}`);
    return [];
  }
}

/** @throws UsageError for a store in a database, which has backups of its own. */
function refuseDatabase({ storeUrl }: Config): void {
  if (storeUrl === null) return;
  throw new Error(
    `the store is in ${databasePlace(storeUrl).shown}: back it up and put it back ` +
      'with pg_dump and pg_restore, or with what else the database has for it; "situs store ' +
      'copy" makes a store in a folder of it',
  );
}

/** The path for a backup: a new name in a folder, or the file as given. */
function backupFile(target: string, now: Date): string {
  const isFolder = target.endsWith('/') || (existsSync(target) && statSync(target).isDirectory());
  const stamp = now.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  return isFolder ? join(resolve(target), `situs-store-${stamp}.mdb`) : resolve(target);
}

/** Runs `situs store backup FILE|DIR`; the exit code tells whether every record could be read. */
export async function backupCommand(target: string): Promise<number> {
  const config = loadConfig();
  refuseDatabase(config);
  requireStore(config);
  const file = backupFile(target, new Date());
  const facts = await backupStore(config.varDir, file, removeOnSignal);
  print(file);
  describe(config, facts);
  return tellDamaged(facts.damaged, 'in the backup as in the store; everything else is whole');
}

/** @throws Error where there is no backup to be read. */
function requireFile(file: string): void {
  if (!existsSync(file)) throw new Error(`there is no ${file}`);
  if (!statSync(file).isFile()) throw new Error(`${file} is no file of a backup`);
}

/**
 * Reads a backup in a process of its own, because a damaged file may end the process that reads it.
 */
async function verify(config: Config, file: string): Promise<number> {
  const { code, signal, interrupted } = await watched(
    [process.argv[1]!, 'store', 'verify', '--in-this-process', file],
    () => removeLeftStores(config.varDir),
  );
  if (interrupted > 0) process.exit(interrupted);
  if (signal === 'SIGPIPE') return READER_GONE;
  if (code === null) progress('the file is damaged: reading it ended the process');
  return code ?? 1;
}

/** Runs `situs store verify FILE`. */
export async function verifyCommand(
  path: string,
  { inThisProcess }: { readonly inThisProcess?: boolean },
): Promise<number> {
  const [config, file] = [loadConfig(), resolve(path)];
  requireFile(file);
  if (!inThisProcess) return verify(config, file);
  const facts = await verifyBackup(config.varDir, file);
  describe(config, facts);
  return tellDamaged(facts.damaged, 'as in the store it was made of; everything else is whole');
}

/** Runs `situs store restore FILE`. */
export async function restoreCommand(
  path: string,
  { force = false }: { readonly force?: boolean },
): Promise<void> {
  const [config, file] = [loadConfig(), resolve(path)];
  refuseDatabase(config);
  requireFile(file);
  const problem = await obstacle(config.varDir, force);
  if (problem !== null) throw new Error(problem);
  const code = await verify(config, file);
  if (code === DAMAGED_CODE && !force) {
    throw new Error(`${file} holds damaged records; nothing was changed. --force restores it`);
  }
  if (code !== 0 && code !== DAMAGED_CODE) {
    throw new Error(`${file} is not sound; nothing was changed`);
  }
  restoreStore(config.varDir, file, removeOnSignal);
  print(`restored into ${join(config.varDir, 'store')}`);
}

/** Longest wait for one step, which may change every record. */
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
    use: 'migrate',
    queryMs: MIGRATE_QUERY_MS_MAX,
  });
  try {
    const { before, version } = await migrate(connection, place);
    print(
      before === version
        ? `${place.shown} has tables of version ${version} already`
        : `${place.shown} has tables of version ${version} now, of ${before} before`,
    );
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
