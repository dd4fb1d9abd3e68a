/**
 * Where a store is in PostgreSQL, by an address that may contain a password, and where its replica
 * is on this machine.
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
  /** The address in the form that the client needs. */
  readonly url: string;
  readonly schema: string;
  /** The address without user and password, to be shown. */
  readonly shown: string;
}

const DEFAULT_SCHEMA = 'situs';

/** Whether a text is meant as the address of a database. */
export function isDatabaseUrl(text: string): boolean {
  return /^postgres(ql)?:/i.test(text);
}

/**
 * Reads an address. `?schema=` names the schema, which is `situs` without it.
 * @throws Error that does not repeat the address, when it is not valid.
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
 * The folder of a replica, which is used by one handle only. A new process takes over the folder of
 * one that has ended, so that it reads only newer commits; others of that kind are removed.
 */

const FOLDER = 'store-replica';
const ID_CHARS = 8;

/** Folders that are in use by this process. */
const OWN = new Set<string>();
let handles = 0;

/** Identifies the present start of the machine: data that was not flushed before it may be lost. */
function startId(): string {
  return bootId()?.slice(0, ID_CHARS) ?? String(Math.round(Date.now() / 60_000 - uptime() / 60));
}

/** Whether a process runs. A previous process with this one's number does not. */
function runs(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/**
 * Takes a folder over by a rename, which succeeds for only one process. Not for a damaged replica.
 */
function takeOver(from: string, to: string): boolean {
  try {
    renameSync(from, to);
  } catch {
    return false;
  }
  return storeFileProblem(join(to, STORE_FILE)) === null;
}

/** A folder for the replica of a store, in a folder of variables. `leaveFolder` gives it back. */
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
    // The folder is damaged, or of an earlier process with the same number.
    rmSync(own, { recursive: true, force: true });
    makeFolder(own, 'SITUS_VAR', 0o700);
  }
  OWN.add(own);
  return own;
}

/** Gives a folder back after its replica was closed. */
export function leaveFolder(path: string): void {
  OWN.delete(path);
}
