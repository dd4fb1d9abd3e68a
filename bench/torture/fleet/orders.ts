/** Carts that are sent to a broker, and the answers to each. */
import {
  jetstream,
  jetstreamManager,
  StorageType,
  type JetStreamClient,
  type JetStreamManager,
} from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { sentRow } from '../../../test/support/nats-stream.js';
import { SUBJECTS } from './node.js';

const PAUSE_MS = 200;
const DURABLE = 'situs';
/** How long the last answer may take after the load has ended. */
const REST_MS = 120_000;

/** Streams by subject; answers are kept in memory, as they are needed no longer than this test. */
const STREAMS = { carts: SUBJECTS.from, taxed: SUBJECTS.to, refused: SUBJECTS.failed };

export class Orders {
  sent = 0;
  readonly #connection: NatsConnection;
  readonly #client: JetStreamClient;
  readonly #manager: JetStreamManager;

  readonly #together: number;

  private constructor(connection: NatsConnection, manager: JetStreamManager, together: number) {
    this.#connection = connection;
    this.#client = jetstream(connection);
    this.#manager = manager;
    this.#together = together;
  }

  /** `together` is how many carts are sent at once. */
  static async open(nats: string, together: number): Promise<Orders> {
    const connection = await connect({ servers: nats, maxReconnectAttempts: -1 });
    const manager = await jetstreamManager(connection);
    for (const [name, subject] of Object.entries(STREAMS)) {
      await manager.streams.add({ name, subjects: [subject], storage: StorageType.Memory });
    }
    return new Orders(connection, manager, together);
  }

  /** How many chunks of files were queued under a name. */
  async chunks(name: string): Promise<number> {
    return (await this.#manager.streams.info(`${name}-files`)).state.last_seq;
  }

  /** Sends carts until told to stop. */
  async run(isStopping: () => boolean): Promise<void> {
    while (!isStopping()) {
      await Promise.all(
        Array.from({ length: this.#together }, (_, index) =>
          this.#client.publish(SUBJECTS.from, sentRow(this.sent + index)),
        ),
      );
      this.sent += this.#together;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  /** Waits for the last answer, and reports each cart without an answer or with more than one. */
  async check(): Promise<readonly string[]> {
    const until = performance.now() + REST_MS;
    while ((await this.#floor()) < this.sent && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    const answers = new Map<number, number>();
    const refused = (await this.#manager.streams.info('refused')).state.messages;
    const { state } = await this.#manager.streams.info('taxed');
    for (let seq = 1; seq <= state.last_seq; seq += 1) {
      const message = await this.#manager.streams.getMessage('taxed', { seq });
      const cart = Number(/^\{"seq":(\d+)/.exec(message?.string() ?? '')?.[1]);
      answers.set(cart, (answers.get(cart) ?? 0) + 1);
    }
    const wrong = refused === 0 ? [] : [`${refused} carts were refused`];
    for (let cart = 1; cart <= this.sent; cart += 1) {
      const times = answers.get(cart) ?? 0;
      if (times !== 1) wrong.push(`cart ${cart} was answered ${times} times`);
    }
    return wrong;
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  async #floor(): Promise<number> {
    try {
      return (await this.#manager.consumers.info('carts', DURABLE)).ack_floor.stream_seq;
    } catch {
      return 0;
    }
  }
}
