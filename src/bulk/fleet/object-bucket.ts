/** Objects of a bucket of an object store, each put once under a name of its own, and removed. */
import { createHash } from 'node:crypto';
import { StorageType, type JetStreamClient, type JetStreamManager } from '@nats-io/jetstream';
import { Base64UrlPaddedCodec, type ObjectInfo, type ObjectStore, Objm } from '@nats-io/obj';
import { nanos } from '@nats-io/transport-node';
import { within } from '../../distribution/nats-connection.js';

/** One object; the broker is on a network that takes this long for none. */
const OBJECT_MS = 60_000;
/** Bytes of an object in one message: half of what a broker takes unless it is told otherwise. */
const PIECE_BYTES = 524_288;

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

  /** Stores an object. */
  async put(name: string, bytes: Uint8Array): Promise<void> {
    try {
      const store = this.#store ?? await this.make();
      const options = { max_chunk_size: PIECE_BYTES };
      await within(OBJECT_MS, store.putBlob({ name, options }, bytes));
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
      for (const subject of [`C.${info.nuid}`, `M.${Base64UrlPaddedCodec.encode(name)}`]) {
        await this.#manager.streams.purge(this.#stream, { filter: `${this.#root}.${subject}` });
      }
    }
  }

  get #stream(): string {
    return `OBJ_${this.#options.name}`;
  }

  get #root(): string {
    return `$O.${this.#options.name}`;
  }

  async #info(name: string): Promise<ObjectInfo | null> {
    const info = await (this.#store ?? await this.make()).info(name);
    return info === null || info.deleted ? null : info;
  }
}
