/** What `situs doctor` says of the store: it opens, how full it is, who may read its file. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { databasePlace } from '../store/postgres/place.js';
import { STORE_BYTES_MAX, storeDir } from '../store/store.js';
import { STORE_FILE } from '../store/store-file.js';
import type { Checked, Finding, Level } from './doctor-checks.js';

const MIB = 1_048_576;
/** Share of the store's size limit from which it is told. */
const STORE_SHARE_LOW = 0.8;

const found = (level: Level, text: string): readonly Finding[] => [{ level, text }];

function databaseState(url: string, bytes: number): readonly Finding[] {
  const level = bytes > STORE_BYTES_MAX * STORE_SHARE_LOW ? 'warning' : 'ok';
  const text = `the store in ${databasePlace(url).shown} opens, ${Math.ceil(bytes / MIB)} MiB`;
  return found(bytes > STORE_BYTES_MAX ? 'fault' : level, text);
}

/** The store, in a folder or a database. */
export function storeState({ config, store }: Checked): readonly Finding[] {
  if (config.storeUrl !== null) return databaseState(config.storeUrl, store?.bytes() ?? 0);
  const path = storeDir(config.varDir);
  if (store === null) return found('note', `there is no store in ${path} yet`);
  const bytes = store.bytes();
  const text = `the store in ${path} opens, ${Math.ceil(bytes / MIB)} MiB in use`;
  if (bytes > STORE_BYTES_MAX) return found('fault', `${text}: full, nothing new is taken`);
  const { mode } = statSync(join(path, STORE_FILE));
  const folderMode = statSync(path).mode;
  if ((folderMode & 0o077) !== 0 && (mode & 0o077) !== 0) {
    return found('warning', `${text}, but others may read it; run: chmod 700 ${path}`);
  }
  return found(bytes > STORE_BYTES_MAX * STORE_SHARE_LOW ? 'warning' : 'ok', text);
}
