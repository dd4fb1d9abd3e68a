/**
 * A place in NATS with JetStream: the document is a key of a key-value bucket, pieces are objects
 * of an object store, and reports of nodes are keys of a bucket whose entries expire.
 */
import { jetstream, type JetStreamClient, jetstreamManager, StorageType } from '@nats-io/jetstream';
import { type KV, Kvm, KvWatchInclude } from '@nats-io/kv';
import { type ObjectStore, Objm } from '@nats-io/obj';
import type { NatsConnection } from '@nats-io/transport-node';
import { messageOf } from '../log.js';
import type { NatsAddress } from './address.js';
import { connectBroker, isAbsent, isApi, within } from './nats-connection.js';
import {
  type NodeReport,
  type NodeReports,
  type Place,
  PlaceError,
  type Versioned,
} from './fleet-place.js';

const KEY = 'fleet';
const REQUEST_MS = 5_000;
/** Longest time for one piece, which no network of a broker should need. */
const PIECE_MS = 60_000;
/** A node whose report is this old counts as gone. */
const REPORT_MS_MAX = 15_000;
const WRONG_REVISION = 10_071;

function isReport(value: unknown): value is NodeReport {
  if (typeof value !== 'object' || value === null) return false;
  const { node, at, program, dataset, prepared } = value as Partial<NodeReport>;
  return (
    typeof node === 'string' &&
    typeof at === 'string' &&
    typeof program === 'string' &&
    (dataset === null || typeof dataset === 'string') &&
    Array.isArray(prepared)
  );
}

export class NatsPlace implements Place {
  readonly name: string;
  readonly nodes: NodeReports;
  readonly #address: NatsAddress;
  #connecting: Promise<NatsConnection> | null = null;
  #connection: NatsConnection | null = null;
  #changed: (() => void) | null = null;
  #watching = false;

  constructor(address: NatsAddress) {
    this.name = address.name;
    this.#address = address;
    this.nodes = {
      report: (report) =>
        this.#told(async () => {
          const bucket = await this.#reports();
          await bucket.put(report.node, JSON.stringify(report));
        }),
      leave: (node) =>
        this.#told(async () => {
          await (await this.#reports()).purge(node);
        }),
      all: () => this.#told(() => this.#allReports()),
    };
  }

  read(known: string | null): Promise<Versioned | 'same' | null> {
    return this.#told(async () => {
      const bucket = await this.#bucket();
      const entry = await bucket.get(KEY).catch((error: unknown) => {
        if (isAbsent(error)) return null;
        throw error;
      });
      if (entry !== null) this.#watch(bucket);
      if (entry === null || entry.operation !== 'PUT') return null;
      const version = String(entry.revision);
      return version === known ? 'same' : { text: entry.string(), version };
    });
  }

  replace(text: string, version: string | null): Promise<boolean> {
    return this.#told(async () => {
      const bucket = await new Kvm(await this.#client()).create(this.#address.bucket, {
        storage: StorageType.File,
        replicas: this.#address.replicas,
      });
      try {
        if (version === null) await bucket.create(KEY, text);
        else await bucket.update(KEY, text, Number(version));
        return true;
      } catch (error) {
        if (isApi(error, WRONG_REVISION)) return false;
        throw error;
      }
    });
  }

  has(sum: string): Promise<boolean> {
    return this.#told(async () => {
      const found = await (await this.#objects(true)).info(sum);
      return found !== null && !found.deleted;
    });
  }

  put(sum: string, bytes: Uint8Array): Promise<void> {
    return this.#told(async () => {
      await within(PIECE_MS, (await this.#objects(true)).putBlob({ name: sum }, bytes));
    });
  }

  get(sum: string): Promise<Uint8Array> {
    return this.#told(async () => {
      const bytes = await within(PIECE_MS, (await this.#objects(false)).getBlob(sum));
      if (bytes !== null) return bytes;
      throw new PlaceError(`${this.name} does not have the piece ${sum.slice(0, 12)}…`);
    });
  }

  remove(sum: string): Promise<void> {
    return this.#told(async () => {
      const objects = await this.#objects(false);
      if ((await objects.info(sum)) !== null) await objects.delete(sum);
    });
  }

  watch(changed: () => void): Promise<void> {
    this.#changed = changed;
    return Promise.resolve();
  }

  async close(): Promise<void> {
    const connecting = this.#connecting;
    this.#connecting = null;
    await (await connecting?.catch(() => null))?.close();
  }

  async #told<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof PlaceError) throw error;
      throw new PlaceError(`${this.name}: ${messageOf(error)}`);
    }
  }

  /** The one connection, opened at first use; it reconnects by itself. */
  #connected(): Promise<NatsConnection> {
    this.#connecting ??= connectBroker(this.#address, 'situs datasets').then(
      (connection) => {
        this.#connection = connection;
        return connection;
      },
      (error: unknown) => {
        this.#connecting = null;
        throw new PlaceError(messageOf(error));
      },
    );
    return this.#connecting;
  }

  async #client(): Promise<JetStreamClient> {
    return jetstream(await this.#connected(), { timeout: REQUEST_MS });
  }

  async #bucket(): Promise<KV> {
    return new Kvm(await this.#client()).open(this.#address.bucket);
  }

  async #reports(): Promise<KV> {
    return new Kvm(await this.#client()).create(`${this.#address.bucket}-nodes`, {
      storage: StorageType.Memory,
      ttl: REPORT_MS_MAX,
    });
  }

  async #allReports(): Promise<readonly NodeReport[]> {
    const bucket = await this.#reports();
    const name = `${this.#address.bucket}-nodes`;
    const prefix = `$KV.${name}.`;
    // A single request for all keys. The library's own list uses a consumer and may never end while
    // keys are written.
    const manager = await jetstreamManager(await this.#connected(), { timeout: REQUEST_MS });
    const { state } = await manager.streams.info(`KV_${name}`, { subjects_filter: `${prefix}>` });
    const keys = Object.keys(state.subjects ?? {}).map((subject) => subject.slice(prefix.length));
    const entries = await Promise.all(keys.map((key) => bucket.get(key)));
    return entries.flatMap((entry) => {
      const report: unknown = entry === null || entry.operation !== 'PUT' ? null : entry.json();
      return isReport(report) ? [report] : [];
    });
  }

  async #objects(make: boolean): Promise<ObjectStore> {
    const { bucket, replicas } = this.#address;
    const objects = new Objm(await this.#client());
    return make
      ? objects.create(bucket, { storage: StorageType.File, replicas })
      : objects.open(bucket);
  }

  /** Calls back at each change. If watching fails, the change is found by the next regular read. */
  #watch(bucket: KV): void {
    const changed = this.#changed;
    if (this.#watching || changed === null) return;
    this.#watching = true;
    const connection = this.#connection;
    void (async () => {
      for await (const _ of await bucket.watch({ key: KEY, include: KvWatchInclude.UpdatesOnly })) {
        changed();
      }
    })()
      .catch(() => undefined)
      .finally(() => {
        this.#watching = connection !== null && connection.isClosed();
      });
  }
}
