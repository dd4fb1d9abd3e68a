/**
 * A bucket of an object store. Each object is stored once under a unique name, and removed later.
 */
import { createHash } from 'node:crypto';
import { StorageType, type JetStreamClient, type JetStreamManager } from '@nats-io/jetstream';
import { Base64UrlPaddedCodec, type ObjectInfo, type ObjectStore, Objm } from '@nats-io/obj';
import { nanos, nuid } from '@nats-io/transport-node';
import { isApi, within } from '../../distribution/nats-connection.js';

/** Time limit for one object; any network that a broker is on is faster. */
const OBJECT_MS = 60_000;
/** Bytes of an object in one message: half of what a broker accepts by default. */
export const PIECE_BYTES = 524_288;
/** How many pieces may be on their way to the broker at a time. */
const PIECES_SENT = 8;
/** The broker's error code: the subject has a message although none was expected. */
const OTHER_LAST = 10_071;

/** Thrown when the bytes of an object are not those that were stored. */
export class DamagedObject extends Error {
  override readonly name = 'DamagedObject';
  readonly object: string;

  constructor(object: string) {
    super(`the object ${object} is damaged`);
    this.object = object;
  }
}

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    yield bytes.subarray(at, at + PIECE_BYTES);
  }
}

interface BucketOptions {
  readonly name: string;
  /** How many copies a cluster keeps. */
  readonly replicas: number;
  /** How long an object is kept that nobody removes. */
  readonly keptMs: number;
}

export class ObjectBucket {
  readonly #client: JetStreamClient;
  readonly #manager: JetStreamManager;
  readonly #options: BucketOptions;
  #store: ObjectStore | null = null;

  constructor(client: JetStreamClient, manager: JetStreamManager, options: BucketOptions) {
    this.#client = client;
    this.#manager = manager;
    this.#options = options;
  }

  /** Creates the bucket where there is none. */
  async make(): Promise<ObjectStore> {
    const { name, replicas, keptMs } = this.#options;
    this.#store = await new Objm(this.#client).create(name, {
      storage: StorageType.File,
      replicas,
      ttl: nanos(keptMs),
    });
    return this.#store;
  }

  /**
   * Stores an object; an existing one of this name stays. Pieces are published one by one, since
   * the client's own method asks the broker five times for each object.
   */
  async put(name: string, bytes: Uint8Array): Promise<void> {
    await within(OBJECT_MS, this.putPieces(name, piecesOf(bytes)));
  }

  /** Stores an object from pieces, none of which may be larger than `PIECE_BYTES`. */
  async putPieces(
    name: string,
    pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  ): Promise<void> {
    try {
      if (this.#store === null) await this.make();
      await this.#put(name, pieces);
    } catch (error) {
      // The operator may have removed the bucket, so the next attempt creates it again.
      this.#store = null;
      throw error;
    }
  }

  /**
   * Reads an object; null where there is none.
   * @throws DamagedObject
   */
  async get(name: string): Promise<Buffer | null> {
    const read = await this.read(name);
    if (read === null) return null;
    const pieces: Uint8Array[] = [];
    for await (const piece of read) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  /**
   * Reads an object in pieces. Throws DamagedObject after the last one where they are not what was
   * stored. Messages are read one by one, since the client's own method leaves a consumer behind
   * for each object.
   */
  async read(name: string): Promise<AsyncIterable<Uint8Array> | null> {
    const info = await this.#info(name);
    return info === null ? null : this.#pieces(name, info);
  }

  async *#pieces(name: string, info: ObjectInfo): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256');
    const subject = `${this.#root}.C.${info.nuid}`;
    for (let [seq, count] = [1, 0]; count < info.chunks; count += 1) {
      const message = await within(
        OBJECT_MS,
        this.#manager.direct.getMessage(this.#stream, { seq, next_by_subj: subject }),
      );
      if (message === null) throw new DamagedObject(name);
      hash.update(message.data);
      yield message.data;
      seq = message.seq + 1;
    }
    if (info.digest.replace(/=+$/, '') !== `SHA-256=${hash.digest('base64url')}`) {
      throw new DamagedObject(name);
    }
  }

  /** Whether there is such an object. */
  async has(name: string): Promise<boolean> {
    return (await this.#info(name)) !== null;
  }

  /** Removes objects, without leaving a mark of their deletion. */
  async remove(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const info = await this.#info(name);
      if (info === null) continue;
      for (const filter of [`${this.#root}.C.${info.nuid}`, this.#infoSubject(name)]) {
        await this.#manager.streams.purge(this.#stream, { filter });
      }
    }
  }

  async #put(
    name: string,
    pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const id = nuid.next();
    const subject = `${this.#root}.C.${id}`;
    const hash = createHash('sha256');
    const sent: Promise<unknown>[] = [];
    let [size, chunks] = [0, 0];
    try {
      for await (const piece of pieces) {
        hash.update(piece);
        size += piece.length;
        chunks += 1;
        const stored = this.#client.publish(subject, piece);
        // It is awaited later, and may fail before that.
        stored.catch(() => undefined);
        sent.push(stored);
        if (sent.length >= PIECES_SENT) await sent.shift();
      }
      await Promise.all(sent);
    } catch (error) {
      // Removes the pieces stored so far, since nobody would find them.
      await Promise.allSettled(sent);
      await this.#manager.streams.purge(this.#stream, { filter: subject }).catch(() => undefined);
      throw error;
    }
    const info = {
      name,
      bucket: this.#options.name,
      nuid: id,
      size,
      chunks,
      digest: `SHA-256=${hash.digest('base64url')}`,
      mtime: new Date().toISOString(),
      options: { max_chunk_size: PIECE_BYTES },
    };
    try {
      await this.#client.publish(this.#infoSubject(name), JSON.stringify(info), {
        expect: { lastSubjectSequence: 0 },
      });
    } catch (error) {
      if (!isApi(error, OTHER_LAST)) throw error;
      await this.#manager.streams.purge(this.#stream, { filter: subject });
    }
  }

  #infoSubject(name: string): string {
    return `${this.#root}.M.${Base64UrlPaddedCodec.encode(name)}`;
  }

  get #stream(): string {
    return `OBJ_${this.#options.name}`;
  }

  get #root(): string {
    return `$O.${this.#options.name}`;
  }

  async #info(name: string): Promise<ObjectInfo | null> {
    const message = await this.#manager.direct.getMessage(this.#stream, {
      last_by_subj: this.#infoSubject(name),
    });
    const info = message?.json<ObjectInfo>() ?? null;
    return info === null || info.deleted ? null : info;
  }
}

/**
 * Removes objects one after the other in the background. Those that cannot be removed are removed
 * for their age.
 */
export class Removal {
  readonly #objects: ObjectBucket;
  over: Promise<void> = Promise.resolve();

  constructor(objects: ObjectBucket) {
    this.#objects = objects;
  }

  add(...names: readonly string[]): void {
    this.over = this.over.then(() => this.#objects.remove(names).catch(() => undefined));
  }
}
