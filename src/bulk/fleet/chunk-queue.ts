/** The work queue of chunks at a broker: its stream, and the consumer of each release. */
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

/** What nobody collects is removed after so long. */
export const LEFT_MS = 3_600_000;
/** A node that says nothing for so long has its chunks given to others. */
export const ACK_WAIT_MS = 10_000;
/** Longer than a driver takes to send what it sends again at once. */
const DUPLICATE_MS = 120_000;
const NAME_TAKEN = 10_058;

/** Chunks of one release. */
export interface QueueState {
  /** Never given out so far. */
  readonly waiting: number;
  /** With nodes, or handed back by one and not given out again. */
  readonly inHand: number;
}

/** Makes the stream where there is none. */
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
        // Another made it meanwhile.
        if (!isApi(made, NAME_TAKEN)) throw made;
      });
  });
}

/** Makes the consumer of a release, which has its name. */
export function makeConsumer(
  manager: JetStreamManager,
  stream: string,
  chunks: string,
  release: string,
): Promise<ConsumerInfo> {
  // No bound on deliveries: a chunk that was given out too often is answered with that.
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
