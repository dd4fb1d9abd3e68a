/**
 * Files of rows at a broker: a work queue of chunks, an object store for chunks and results, and
 * notices between drivers and nodes.
 *
 * All names begin with the name in the address. The chunks of a release share a consumer, so that a
 * node only gets chunks that it can answer, and each time a chunk is given out is an attempt to
 * answer it.
 */
import {
  type ConsumerInfo,
  jetstream,
  type JetStreamClient,
  jetstreamManager,
  type JetStreamManager,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { FilesAddress } from '../../distribution/address.js';
import { connectBroker, isAbsent, isApi } from '../../distribution/nats-connection.js';
import { messageOf } from '../../log.js';
import {
  decodeResults,
  encodeOrder,
  encodeOrderWith,
  encodeParts,
  partsBytes,
  resultName,
  type ChunkOrder,
  type ChunkPart,
  type ChunkResult,
  type NodeAnswer,
} from './chunk-object.js';
import { ChunkPull, type QueuedMessage, sendResult, takeResults } from './chunk-messages.js';
import { LEFT_MS, makeConsumer, makeQueue, type QueueState } from './chunk-queue.js';
import { ObjectBucket } from './object-bucket.js';

const REQUEST_MS = 5_000;
/** Files of jobs are removed with their jobs; if one is left behind, after so long. */
const KEPT_LEFT_MS = 90 * 86_400_000;
const NODES_MS = 1_000;
const NO_CONSUMER = 10_014;
/** Room in a message of the queue beside its chunk. */
const ORDER_BYTES = 4_096;

/** `gone`: the connection is closed for good. */
type BrokerState = 'away' | 'back' | 'gone';

export class FilesBroker {
  readonly connection: NatsConnection;
  readonly #address: FilesAddress;
  readonly #client: JetStreamClient;
  readonly #manager: JetStreamManager;
  /** Chunks and their results. */
  readonly objects: ObjectBucket;
  /** Uploads and results of jobs. */
  readonly kept: ObjectBucket;
  #online = true;
  #told: (state: BrokerState, why: string) => void = () => undefined;

  private constructor(
    address: FilesAddress,
    connection: NatsConnection,
    manager: JetStreamManager,
  ) {
    this.#address = address;
    this.connection = connection;
    this.#manager = manager;
    this.#client = jetstream(connection, { timeout: REQUEST_MS });
    this.objects = new ObjectBucket(this.#client, manager, {
      name: `${address.bucket}-files`,
      replicas: address.replicas,
      keptMs: LEFT_MS,
    });
    this.kept = new ObjectBucket(this.#client, manager, {
      name: `${address.bucket}-jobs`,
      replicas: address.replicas,
      keptMs: KEPT_LEFT_MS,
    });
    void this.#follow();
  }

  /**
   * Connects to the broker, and creates the queue and the object store where they are missing.
   * @param client name of the connection at the broker
   * @param makes false for a client that must not create anything
   * @throws Error that names the broker.
   */
  static async open(address: FilesAddress, client: string, makes = true): Promise<FilesBroker> {
    const connection = await connectBroker(address, client);
    try {
      const manager = await jetstreamManager(connection, { timeout: REQUEST_MS });
      const broker = new FilesBroker(address, connection, manager);
      if (makes) await broker.#make();
      return broker;
    } catch (error) {
      await connection.close();
      throw new Error(`${address.name}: ${messageOf(error)}`);
    }
  }

  get name(): string {
    return this.#address.name;
  }

  /** Whether the broker can be reached, as far as is known. */
  get online(): boolean {
    return this.#online;
  }

  /** Sets the function to call when the state of the connection changes. */
  onState(told: (state: BrokerState, why: string) => void): void {
    this.#told = told;
  }

  async close(): Promise<void> {
    this.#told = () => undefined;
    await this.connection.close();
  }

  /** The stored result of a chunk; null where there is none. */
  async result(chunk: string): Promise<ChunkResult | null> {
    const bytes = await this.objects.get(resultName(chunk));
    return bytes === null ? null : decodeResults(bytes);
  }

  /**
   * Queues a chunk. A second one with the same id within two minutes is ignored.
   * @returns whether the chunk is stored as an object, since it is too large for a message.
   */
  async queue(order: ChunkOrder, parts: readonly ChunkPart[], id: string): Promise<boolean> {
    const large = partsBytes(parts) + ORDER_BYTES > (this.connection.info?.max_payload ?? 0);
    if (large) await this.objects.put(order.chunk, encodeParts(parts));
    await this.#client.publish(
      `${this.#chunks}.${order.release}.${order.job}`,
      large ? encodeOrder(order) : encodeOrderWith(order, parts),
      { msgID: id },
    );
    return large;
  }

  /** Whether a message is still in the queue: neither acknowledged nor removed. */
  async isQueued({ seq }: QueuedMessage): Promise<boolean> {
    return (await this.#manager.streams.getMessage(this.#stream, { seq })) !== null;
  }

  /** Sends a result to the driver of its run; returns whether the driver has it. */
  async sendResult({ chunk }: ChunkOrder, node: string, result: ChunkResult): Promise<boolean> {
    return sendResult(this.connection, `${this.#root}.results.${chunk}`, node, result);
  }

  /** Receives results that are sent to the driver of a run. */
  onResult(job: string, take: (chunk: string, result: ChunkResult) => void): void {
    takeResults(this.connection, `${this.#root}.results.${job}`, (name, result) =>
      take(`${job}.${name}`, result),
    );
  }

  /** Removes the chunks of a run from the queue. */
  async unqueue(release: string, job: string): Promise<void> {
    await this.#manager.streams.purge(this.#stream, {
      filter: `${this.#chunks}.${release}.${job}`,
    });
  }

  /** How many chunks are in the queue, with nodes or not, by `RELEASE.JOB`. */
  async queued(): Promise<ReadonlyMap<string, number>> {
    const chunks = `${this.#chunks}.`;
    const {
      state: { subjects = {} },
    } = await this.#manager.streams.info(this.#stream, { subjects_filter: `${chunks}>` });
    return new Map(
      Object.entries(subjects).map(([subject, count]) => [subject.slice(chunks.length), count]),
    );
  }

  /** Creates the consumer of a release where there is none, and returns the state of its queue. */
  async state(release: string): Promise<QueueState> {
    const { num_pending: waiting, num_ack_pending: inHand } = await this.#consumer(release);
    return { waiting, inHand };
  }

  /** Opens what nodes pull chunks with; consumers, which `state` creates, are named by release. */
  pull(take: (message: QueuedMessage) => void): ChunkPull {
    return new ChunkPull(this.connection, this.#stream, take);
  }

  /** The queue of each release that has a consumer: those that chunks were queued for lately. */
  async queues(): Promise<ReadonlyMap<string, QueueState>> {
    const found = new Map<string, QueueState>();
    for await (const {
      name,
      num_pending: waiting,
      num_ack_pending: inHand,
    } of this.#manager.consumers.list(this.#stream))
      found.set(name, { waiting, inHand });
    return found;
  }

  /** Notifies the driver of a run that the result of a chunk is stored. */
  tellDone(job: string, chunk: string): void {
    this.connection.publish(`${this.#root}.done.${job}`, chunk);
  }

  /** Calls back for each chunk of a run whose result is stored; a notice may be lost. */
  onDone(job: string, done: (chunk: string) => void): void {
    this.connection.subscribe(`${this.#root}.done.${job}`, {
      callback: (error, message) => {
        if (error === null) done(message.string());
      },
    });
  }

  /** Answers clients that ask for nodes. */
  onAsked(answer: (release: string) => NodeAnswer): void {
    this.connection.subscribe(`${this.#root}.nodes`, {
      callback: (error, message) => {
        if (error === null) message.respond(JSON.stringify(answer(message.string())));
      },
    });
  }

  /**
   * Asks the nodes that take chunks now whether they have a release; "" asks for none.
   * @param told called with each answer as it comes; returns true when no more are needed
   */
  async askNodes(release: string, told: (node: NodeAnswer) => unknown): Promise<void> {
    try {
      for await (const message of await this.connection.requestMany(
        `${this.#root}.nodes`,
        release,
        { strategy: 'stall', maxWait: NODES_MS },
      )) {
        if (told(message.json<NodeAnswer>()) === true) return;
      }
    } catch {
      // No node listens.
    }
  }

  /** The nodes that take chunks now, and which of them have a release; "" asks for none. */
  async nodes(release: string): Promise<readonly NodeAnswer[]> {
    const nodes: NodeAnswer[] = [];
    await this.askNodes(release, (node) => void nodes.push(node));
    return nodes;
  }

  /** Whether a node that takes chunks now has a release. */
  async isHad(release: string): Promise<boolean> {
    let isHad = false;
    await this.askNodes(release, ({ has }) => (isHad = has));
    return isHad;
  }

  async #follow(): Promise<void> {
    for await (const { type } of this.connection.status()) {
      if (type !== 'disconnect' && type !== 'reconnect') continue;
      this.#online = type === 'reconnect';
      this.#told(this.#online ? 'back' : 'away', '');
    }
    // The client gives up for good when a password is refused twice.
    const why = await this.connection.closed();
    this.#online = false;
    this.#told('gone', why instanceof Error ? why.message : 'the connection was closed');
  }

  get #stream(): string {
    return `${this.#address.bucket}-files`;
  }

  get #root(): string {
    return `${this.#address.bucket}.files`;
  }

  /** The beginning of the subjects of chunks. */
  get #chunks(): string {
    return `${this.#root}.chunks`;
  }

  async #make(): Promise<void> {
    await makeQueue(this.#manager, this.#stream, this.#chunks, this.#address.replicas);
    await this.objects.make();
  }

  async #consumer(release: string): Promise<ConsumerInfo> {
    try {
      return await this.#manager.consumers.info(this.#stream, release);
    } catch (error) {
      if (isAbsent(error)) await this.#make();
      else if (!isApi(error, NO_CONSUMER)) throw error;
    }
    return makeConsumer(this.#manager, this.#stream, this.#chunks, release);
  }
}
