/** The work queue of chunks at a broker: its JetStream stream, and a consumer for each release. */
import {
  AckPolicy,
  type ConsumerInfo,
  DeliverPolicy,
  DiscardPolicy,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { isAbsent, isApi } from '../../distribution/nats-connection.js';

/** How long the broker keeps what nobody collects. */
export const LEFT_MS = 3_600_000;
/** A node that sends nothing for so long has its chunks given to others. */
export const ACK_WAIT_MS = 10_000;
/** Longer than a driver may take to send the same chunk again. */
const DUPLICATE_MS = 120_000;
const NAME_TAKEN = 10_058;

/** The chunks of one release. */
export interface QueueState {
  /** How many were never given out. */
  readonly waiting: number;
  /** How many are with nodes, or were given back and not given out again. */
  readonly inHand: number;
}

/** Creates the queue where there is none. */
export async function makeQueue(
  manager: JetStreamManager,
  name: string,
  chunks: string,
  replicas: number,
): Promise<void> {
  await manager.streams.info(name).catch(async (error: unknown) => {
    if (!isAbsent(error)) throw error;
    await manager.streams
      .add({
        name,
        subjects: [`${chunks}.>`],
        num_replicas: replicas,
        retention: RetentionPolicy.Workqueue,
        storage: StorageType.File,
        discard: DiscardPolicy.Old,
        max_age: nanos(LEFT_MS),
        duplicate_window: nanos(DUPLICATE_MS),
      })
      .catch((made: unknown) => {
        // Another node has created it in the meantime.
        if (!isApi(made, NAME_TAKEN)) throw made;
      });
  });
}

/** Creates the consumer of a release, which has the name of the release. */
export function makeConsumer(
  manager: JetStreamManager,
  stream: string,
  chunks: string,
  release: string,
): Promise<ConsumerInfo> {
  // Deliveries are not limited here: a node refuses a chunk that was given out too often.
  return manager.consumers.add(stream, {
    durable_name: release,
    filter_subject: `${chunks}.${release}.*`,
    deliver_policy: DeliverPolicy.All,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ACK_WAIT_MS),
    max_deliver: -1,
    inactive_threshold: nanos(LEFT_MS),
  });
}
