/**
 * Writes that share a transaction. What their actions change is kept here until the last one has
 * run, and then put into the store at once: a count that each of them changes is packed and put
 * once, and an action that throws is undone by forgetting what it changed. A transaction within
 * the transaction for each action, which LMDB has for that, copies every page it comes by.
 */
import type { StoreKey } from './format.js';
import { bytesOf, type StoredValue } from './record-bytes.js';

/** Where it is all put in the end, within a transaction. */
export interface BatchPlace {
  get(key: StoreKey): Buffer | undefined;
  /** A record whose memory is used again: it is to be done with before anything else is read. */
  peek(key: StoreKey): Buffer | undefined;
  put(key: StoreKey, value: Buffer): void;
  remove(key: StoreKey): void;
}

/** What became of an action: its result, or what it threw. */
export type Outcome<T> =
  | { readonly kind: 'done'; readonly result: T }
  | { readonly kind: 'threw'; readonly error: unknown };

interface Change {
  readonly key: StoreKey;
  /** Null where the record is removed. */
  readonly value: StoredValue | null;
}

/** Longer keys go to the store at once: an action that gave one too long for it has to be told. */
const NAME_CHARS_MAX = 400;

/** A key as one text; the lengths tell where its parts end. */
function newName(key: StoreKey): string {
  let name = '';
  for (const part of key) name += `${part.length}:${part}`;
  return name;
}

function isSame(key: StoreKey, other: StoreKey): boolean {
  if (key.length !== other.length) return false;
  for (let at = 0; at < key.length; at += 1) if (key[at] !== other[at]) return false;
  return true;
}

/** The last key of each kind with its name: counts have the same one in action after action. */
const lastNames = new Map<string, { readonly key: StoreKey; readonly name: string }>();
const KINDS_MAX = 64;

/** What a commit left, by the names of the keys. */
type Left = ReadonlyMap<string, Change>;
const NOTHING_LEFT: Left = new Map();
/** Of a commit of more nothing is remembered: what it costs to read again is little of it. */
const LEFT_MAX = 256;

function nameOf(key: StoreKey): string {
  const kind = key[0] ?? '';
  const last = lastNames.get(kind);
  if (last !== undefined && isSame(key, last.key)) return last.name;
  const name = newName(key);
  if (last !== undefined || lastNames.size < KINDS_MAX) lastNames.set(kind, { key, name });
  return name;
}

export class Batch {
  readonly #place: BatchPlace;
  /** What was changed and is not in the store. */
  #changes = new Map<string, Change>();
  /** What the action under way changed of these, with what they were before it, in order. */
  readonly #undo: { readonly name: string; readonly was: Change | undefined }[] = [];
  /** What the action under way changed in the store, as it was before it. */
  readonly #before = new Map<string, Change>();

  /** What the commit before left, where nothing was written since. */
  #left: Left;

  constructor(place: BatchPlace, left = NOTHING_LEFT) {
    this.#place = place;
    this.#left = left;
  }

  /** Runs an action; what it throws undoes it alone. @throws Error when it cannot be undone. */
  run<T>(action: () => T): Outcome<T> {
    try {
      return { kind: 'done', result: action() };
    } catch (error) {
      for (const { name, was } of this.#undo.reverse()) {
        if (was === undefined) this.#changes.delete(name);
        else this.#changes.set(name, was);
      }
      for (const [name, change] of this.#before) {
        this.#changes.delete(name);
        this.#set(change);
      }
      return { kind: 'threw', error };
    } finally {
      this.#undo.length = 0;
      this.#before.clear();
    }
  }

  get(key: StoreKey): StoredValue | undefined {
    const changed = this.#changes.get(nameOf(key));
    return changed === undefined ? this.#place.get(key) : (changed.value ?? undefined);
  }

  /** A record whose memory is used again: it is to be done with before anything else is read. */
  peek(key: StoreKey): StoredValue | undefined {
    const changed = this.#changes.get(nameOf(key));
    return changed === undefined ? this.#place.peek(key) : (changed.value ?? undefined);
  }

  /** What waits in this batch to be put for a key; null where nothing does. */
  unstored(key: StoreKey): StoredValue | null {
    return this.#changes.get(nameOf(key))?.value ?? null;
  }

  /**
   * What waits in this batch to be put for a key, or what the commit before left there; null where
   * it has to be read.
   */
  known(key: StoreKey): StoredValue | null {
    const name = nameOf(key);
    return (this.#changes.get(name) ?? this.#left.get(name))?.value ?? null;
  }

  /** Changes a record, or removes it. */
  change(key: StoreKey, value: StoredValue | null): void {
    const name = nameOf(key);
    this.#undo.push({ name, was: this.#changes.get(name) });
    this.#changes.set(name, { key, value });
    if (name.length > NAME_CHARS_MAX) this.flush();
  }

  /** Puts everything into the store, whose ranges are then as the actions left them. */
  flush(): void {
    for (const { name, was } of this.#undo) {
      const key = this.#changes.get(name)?.key;
      if (key === undefined || this.#before.has(name)) continue;
      this.#before.set(name, was ?? { key, value: this.#place.get(key) ?? null });
    }
    this.#undo.length = 0;
    for (const change of this.#changes.values()) this.#set(change);
    // What is in the store now is newer than what was left.
    if (this.#changes.size > 0) this.#left = NOTHING_LEFT;
    this.#changes.clear();
  }

  /** Puts the rest into the store when the last action has run, and tells what it was. */
  end(): Left {
    const left = this.#changes;
    this.#changes = new Map();
    for (const change of left.values()) this.#set(change);
    return left.size > LEFT_MAX ? NOTHING_LEFT : left;
  }

  #set({ key, value }: Change): void {
    if (value === null) this.#place.remove(key);
    else this.#place.put(key, bytesOf(value));
  }
}

/**
 * What the last transaction of a handle left, for its next one. LMDB numbers commits without a gap:
 * between two whose numbers follow one another no other process has written.
 */
export class CommitMemory {
  /** Transactions that were begun. */
  #begun = 0;
  #last: { readonly begun: number; readonly id: number; readonly left: Left } | null = null;

  /** A transaction begins, with LMDB's number of it: what is still as the last one left it. */
  begin(id: number): Left {
    const last = this.#last;
    this.#last = null;
    const isNext = last !== null && last.begun === this.#begun && last.id + 1 === id;
    this.#begun += 1;
    return isNext ? last.left : NOTHING_LEFT;
  }

  /** To be told when all of a transaction has run; what is returned, when it is on the disk. */
  ran(id: number, left: Left): () => void {
    const begun = this.#begun;
    return () => {
      this.#last = { begun, id, left };
    };
  }
}
