/**
 * The servers on a store, and what one of them alone may do at a time.
 *
 * ["node", id]      NodeRecord; there as long as its server is taken to live
 * ["lease", name]   { v: 1, holder: id of a node }; free once the holder's record is gone
 */
import type { StoreKey } from './format.js';
import { flag, number, recordReader, text } from './record-reader.js';
import type { Store, StoreTransaction } from './store.js';

const NODE_PREFIX = 'node';
const LEASE_PREFIX = 'lease';

type Reader = Pick<StoreTransaction, 'get'>;

/** A server, as the others see it. */
export type NodeRecord = ReturnType<typeof parseNode>;

const parseNode = recordReader('node', 1, {
  id: text,
  /** Goes up with each sign of life. */
  beat: number,
  machine: text,
  pid: number,
  began: text,
  /** Where it answers; empty where that is not known. */
  url: text,
  /** The folder of its jobs, by the name in it. */
  place: text,
  /** It takes up nothing more, and what it had others may take. */
  leaving: flag,
  /** Milliseconds since 1970 by its own clock; for people. */
  startedAt: number,
});

const parseLease = recordReader('lease', 1, { holder: text });

export function nodeKey(id: string): StoreKey {
  return [NODE_PREFIX, id];
}

function leaseKey(name: string): StoreKey {
  return [LEASE_PREFIX, name];
}

/** The record of a server; null where it is not taken to live. */
export function findNode(reader: Reader, id: string): NodeRecord | null {
  const found = id === '' ? undefined : reader.get(nodeKey(id));
  return found === undefined ? null : parseNode(found);
}

/** Whether a server is at work: it lives and is not about to leave. */
export function isAtWork(reader: Reader, id: string): boolean {
  return findNode(reader, id)?.leaving === false;
}

/** All servers of a store that this version can read of. */
export function listNodes(store: Pick<Store, 'list'>): readonly NodeRecord[] {
  return store.list([NODE_PREFIX]).flatMap((value) => {
    try {
      return [parseNode(value)];
    } catch {
      // Of a newer version, which sees to itself, or damaged: its server puts it anew.
      return [];
    }
  });
}

/** Whether a server is taken to live. */
export function lives(reader: Reader, id: string): boolean {
  return id !== '' && reader.get(nodeKey(id)) !== undefined;
}

/** Takes a lease that is free; whether it is the node's now. */
export function takeLease(transaction: StoreTransaction, name: string, id: string): boolean {
  const found = transaction.get(leaseKey(name));
  const holder = found === undefined ? '' : parseLease(found).holder;
  if (holder === id) return true;
  if (lives(transaction, holder)) return false;
  transaction.put(leaseKey(name), { v: 1, holder: id });
  return true;
}

/** Gives a lease up, where it is the node's. */
export function dropLease(transaction: StoreTransaction, name: string, id: string): void {
  const found = transaction.get(leaseKey(name));
  if (found !== undefined && parseLease(found).holder === id) transaction.remove(leaseKey(name));
}
