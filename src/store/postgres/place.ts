/**
 * Where a store is in PostgreSQL, as an address says it, which may hold a password, and where its
 * replica lies on this machine.
 */
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { bootId } from '../../base/process.js';
import { databaseProblem } from '../../setting.js';
import { makeFolder } from '../folder.js';
import { STORE_FILE, storeFileProblem } from '../store-file.js';
import { errorCode } from '../../base/error-code.js';

export interface DatabasePlace {
  /** As the client takes it. */
  readonly url: string;
  readonly schema: string;
  /** For people: without user and password. */
  readonly shown: string;
}

const DEFAULT_SCHEMA = 'situs';

/** Whether a text means to be the address of a database. */
export function isDatabaseUrl(text: string): boolean {
  return /^postgres(ql)?:/i.test(text);
}

/**
 * Reads an address; `?schema=` names the schema, `situs` where it does not.
 * @throws Error that does not repeat it, when it is not one.
 */
export function databasePlace(text: string): DatabasePlace {
  const problem = databaseProblem(text);
  if (problem !== null) throw new Error(`the address of the database ${problem}`);
  const url = new URL(text);
  const schema = url.searchParams.get('schema') ?? DEFAULT_SCHEMA;
  url.searchParams.delete('schema');
  const shown = `postgres://${url.host}${url.pathname}?schema=${schema}`;
  return { url: url.href, schema, shown };
}

/*
 * Where a replica lies: in a folder that one handle has to itself. Those whose process has ended
 * are taken over, so that a start reads only what came since; the others of them are removed.
 */

const FOLDER = 'store-replica';
const ID_CHARS = 8;

/** Folders that handles of this process have. */
const OWN = new Set<string>();
let handles = 0;

/** Names this start of the machine: of what was not flushed before it nothing is sure. */
function startId(): string {
  return bootId()?.slice(0, ID_CHARS) ?? String(Math.round(Date.now() / 60_000 - uptime() / 60));
}

/** Whether a process runs; this one's earlier life, with the same number, does not. */
function runs(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** Takes a folder over by one rename, which one of those that try it does; not a damaged one. */
function takeOver(from: string, to: string): boolean {
  try {
    renameSync(from, to);
  } catch {
    return false;
  }
  return storeFileProblem(join(to, STORE_FILE)) === null;
}

/** A folder for the replica of a store, in a folder of variables; to be given back. */
export function replicaFolder(varDir: string, storeId: string): string {
  const parent = join(varDir, FOLDER);
  makeFolder(parent, 'SITUS_VAR', 0o700);
  const [id, boot] = [storeId.slice(0, ID_CHARS), startId()];
  handles += 1;
  const own = join(parent, `${id}-${boot}-${process.pid}-${handles}`);
  let taken = false;
  for (const name of readdirSync(parent)) {
    const [ofStore, ofBoot, pid] = name.split('-');
    const path = join(parent, name);
    if (ofStore !== id || OWN.has(path)) continue;
    if (ofBoot === boot && runs(Number(pid))) continue;
    if (!taken && ofBoot === boot) taken = takeOver(path, own);
    else rmSync(path, { recursive: true, force: true });
  }
  if (!taken) {
    // Damaged, or of an earlier life with the same number.
    rmSync(own, { recursive: true, force: true });
    makeFolder(own, 'SITUS_VAR', 0o700);
  }
  OWN.add(own);
  return own;
}

/** Gives a folder back, once its replica is closed. */
export function leaveFolder(path: string): void {
  OWN.delete(path);
}
