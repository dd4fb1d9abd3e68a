/** Objects of a bucket of an object store, each put once under a name of its own, and removed. */
import { createHash } from 'node:crypto';
import { StorageType, type JetStreamClient, type JetStreamManager } from '@nats-io/jetstream';
import { Base64UrlPaddedCodec, type ObjectInfo, type ObjectStore, Objm } from '@nats-io/obj';
import { nanos, nuid } from '@nats-io/transport-node';
import { isApi, within } from '../../distribution/nats-connection.js';

/** One object; the broker is on a network that takes this long for none. */
const OBJECT_MS = 60_000;
/** Bytes of an object in one message: half of what a broker takes unless it is told otherwise. */
const PIECE_BYTES = 524_288;
/** There is a message of that subject, where none was expected. */
const OTHER_LAST = 10_071;

/** The bytes of an object are not those that were put. */
export class DamagedObject extends Error {
  override readonly name = 'DamagedObject';
  readonly object: string;

  constructor(object: string) {
    super(`the object ${object} is damaged`);
    this.object = object;
  }
}

export interface BucketOptions {
  readonly name: string;
  /** Copies that a cluster keeps. */
  readonly replicas: number;
  /** What nobody removes is removed after so long. */
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

  /** Makes the bucket where there is none. */
  async make(): Promise<ObjectStore> {
    const { name, replicas, keptMs } = this.#options;
    this.#store = await new Objm(this.#client).create(name, {
      storage: StorageType.File, replicas, ttl: nanos(keptMs),
    });
    return this.#store;
  }

  /**
   * Stores an object; where there is one of the name, that stays. Written message by message, since
   * the client's own way asks the broker five times for each.
   */
  async put(name: string, bytes: Uint8Array): Promise<void> {
    try {
      if (this.#store === null) await this.make();
      await within(OBJECT_MS, this.#put(name, bytes));
    } catch (error) {
      // The operator may have removed it: the next attempt makes it anew.
      this.#store = null;
      throw error;
    }
  }

  /**
   * Reads an object; null where there is none. It is read message by message, since the client's
   * own way leaves a consumer behind at the broker for each.
   * @throws DamagedObject
   */
  async get(name: string): Promise<Buffer | null> {
    const info = await this.#info(name);
    if (info === null) return null;
    const pieces: Uint8Array[] = [];
    const hash = createHash('sha256');
    const subject = `${this.#root}.C.${info.nuid}`;
    for (let seq = 1; pieces.length < info.chunks;) {
      const message = await within(OBJECT_MS, this.#manager.direct.getMessage(
        this.#stream, { seq, next_by_subj: subject }));
      if (message === null) return null;
      hash.update(message.data);
      pieces.push(message.data);
      seq = message.seq + 1;
    }
    if (info.digest.replace(/=+$/, '') !== `SHA-256=${hash.digest('base64url')}`) {
      throw new DamagedObject(name);
    }
    return Buffer.concat(pieces);
  }

  /** Whether there is such an object. */
  async has(name: string): Promise<boolean> {
    return await this.#info(name) !== null;
  }

  /** Removes objects, without a trace of them. */
  async remove(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const info = await this.#info(name);
      if (info === null) continue;
      for (const filter of [`${this.#root}.C.${info.nuid}`, this.#infoSubject(name)]) {
        await this.#manager.streams.purge(this.#stream, { filter });
      }
    }
  }

  async #put(name: string, bytes: Uint8Array): Promise<void> {
    const id = nuid.next();
    const subject = `${this.#root}.C.${id}`;
    const hash = createHash('sha256');
    const sent: Promise<unknown>[] = [];
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      hash.update(piece);
      sent.push(this.#client.publish(subject, piece));
    }
    await Promise.all(sent);
    const info = {
      name, bucket: this.#options.name, nuid: id, size: bytes.length, chunks: sent.length,
      digest: `SHA-256=${hash.digest('base64url')}`, mtime: new Date().toISOString(),
      options: { max_chunk_size: PIECE_BYTES },
    };
    try {
      await this.#client.publish(
        this.#infoSubject(name), JSON.stringify(info), { expect: { lastSubjectSequence: 0 } });
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
    const message = await this.#manager.direct.getMessage(
      this.#stream, { last_by_subj: this.#infoSubject(name) });
    const info = message?.json<ObjectInfo>() ?? null;
    return info === null || info.deleted ? null : info;
  }
}

/** Removes objects one after the other, beside what goes on; what cannot be removed ages away. */
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
