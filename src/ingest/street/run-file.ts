/**
 * Runs: files with entries of the street table in the order of keys, which are merged. An entry is
 * u16 bytes of the key, u32 bytes of the value, key, value.
 */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { ByteSink } from './bytes.js';
import { type Entry, unite } from './entries.js';

const HEAD_BYTES = 6;
const WRITE_BYTES = 1 << 20;
/** Buffer of a run. All runs of the nation are open at once: for a thousand, this makes 64 MiB. */
const READ_BYTES = 1 << 16;

/** Writes entries, whose keys must ascend. */
export function writeRun(path: string, entries: Iterable<Entry>): void {
  const fd = openSync(path, 'w');
  const sink = new ByteSink();
  const flush = (): void => {
    const bytes = sink.view(0, sink.length);
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    sink.clear();
  };
  try {
    for (const [key, value] of entries) {
      const text = Buffer.from(key, 'latin1');
      sink.u16(text.length);
      sink.u32(value.length);
      sink.raw(text);
      sink.raw(value);
      if (sink.length > WRITE_BYTES) flush();
    }
    flush();
  } finally {
    closeSync(fd);
  }
}

/** Reads the entries of a file one after the other. */
class RunReader {
  readonly #fd: number;
  #bytes = Buffer.alloc(READ_BYTES);
  #from = 0;
  #to = 0;
  key = '';
  value: Uint8Array = new Uint8Array(0);

  constructor(path: string) {
    this.#fd = openSync(path, 'r');
  }

  /** Reads the next entry; false at the end. */
  next(): boolean {
    if (!this.#fill(HEAD_BYTES)) return false;
    const head = this.#from;
    const keyBytes = this.#bytes.readUInt16LE(head);
    const valueBytes = this.#bytes.readUInt32LE(head + 2);
    if (!this.#fill(HEAD_BYTES + keyBytes + valueBytes)) throw new Error('a run is cut short');
    const at = this.#from + HEAD_BYTES;
    this.key = this.#bytes.toString('latin1', at, at + keyBytes);
    // A copy, because the buffer is overwritten by the next entries.
    this.value = Uint8Array.prototype.slice.call(
      this.#bytes,
      at + keyBytes,
      at + keyBytes + valueBytes,
    );
    this.#from = at + keyBytes + valueBytes;
    return true;
  }

  close(): void {
    closeSync(this.#fd);
  }

  #fill(count: number): boolean {
    if (this.#to - this.#from >= count) return true;
    const rest = this.#bytes.subarray(this.#from, this.#to);
    const target = count > this.#bytes.length ? Buffer.alloc(count * 2) : this.#bytes;
    target.set(rest);
    this.#bytes = target;
    this.#to = rest.length;
    this.#from = 0;
    while (this.#to < count) {
      const read = readSync(this.#fd, target, this.#to, target.length - this.#to, null);
      if (read === 0) return false;
      this.#to += read;
    }
    return true;
  }
}

/** Readers ordered by their present keys, the lowest first. */
class Heap {
  readonly #items: RunReader[] = [];

  get least(): RunReader | undefined {
    return this.#items[0];
  }

  add(reader: RunReader): void {
    this.#items.push(reader);
    for (let at = this.#items.length - 1; at > 0; ) {
      const above = (at - 1) >> 1;
      if (this.#items[above]!.key <= this.#items[at]!.key) return;
      this.#swap(above, at);
      at = above;
    }
  }

  /** To be called after the first reader has advanced; `more` is false if it has ended. */
  settle(more: boolean): void {
    if (!more) {
      const last = this.#items.pop()!;
      if (this.#items.length === 0) return;
      this.#items[0] = last;
    }
    for (let at = 0; ; ) {
      let least = at;
      for (const below of [2 * at + 1, 2 * at + 2]) {
        if (below < this.#items.length && this.#items[below]!.key < this.#items[least]!.key) {
          least = below;
        }
      }
      if (least === at) return;
      this.#swap(least, at);
      at = least;
    }
  }

  #swap(one: number, other: number): void {
    const items = this.#items;
    [items[one], items[other]] = [items[other]!, items[one]!];
  }
}

/** The entries of all runs in one order; values of equal keys are united. */
export function* mergeRuns(paths: readonly string[]): Generator<Entry> {
  const readers: RunReader[] = [];
  try {
    const heap = new Heap();
    for (const path of paths) {
      const reader = new RunReader(path);
      readers.push(reader);
      if (reader.next()) heap.add(reader);
    }
    for (let least = heap.least; least !== undefined; least = heap.least) {
      const { key } = least;
      const parts: Uint8Array[] = [];
      for (let same = heap.least; same !== undefined && same.key === key; same = heap.least) {
        parts.push(same.value);
        heap.settle(same.next());
      }
      yield [key, unite(key, parts)];
    }
  } finally {
    for (const reader of readers) reader.close();
  }
}
