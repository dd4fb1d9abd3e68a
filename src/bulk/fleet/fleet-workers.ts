/** Lets the nodes of a fleet replace the workers of this machine for one run. */
import type { FilesAddress } from '../../distribution/address.js';
import type { AnswerSettings } from '../../wire/receipt.js';
import { ChunkSchedule } from '../run/schedule.js';
import { FleetPool } from './fleet-pool.js';
import type { FilesBroker } from './files-broker.js';
import type { Drivers } from './own-share.js';

/** How long a run that is to end waits for chunks that nodes have. */
const LEAVE_MS = 3_000;

export interface FleetWorkers {
  readonly schedule: ChunkSchedule;
  /** The number of chunks under way, for `PumpOptions`. */
  readonly inFlight: number;
  /** The settings that rows are answered with, for `RunFacts`. */
  readonly settings: AnswerSettings;
  /** Why rows were not answered; null while there was no such fault. */
  fault(): string | null;
  /** Called when the run is to end. Waits a while for chunks that nodes have. */
  leave(): void;
  /** Removes everything of the run from the broker. */
  close(): Promise<void>;
}

interface FleetRun {
  /** Name of the run. */
  readonly run: string;
  readonly release: string;
  readonly settings: AnswerSettings;
  readonly tell: (text: string) => void;
  /**
   * This node, in a process that answers chunks itself and so needs no sending of their results.
   */
  readonly own?: {
    readonly drivers: Drivers;
    readonly node: string;
    /** The schedule of the workers of this node. */
    readonly schedule: ChunkSchedule;
  };
}

/** Makes workers of a run from the nodes that take chunks at a broker. */
export function fleetWorkers(
  broker: FilesBroker,
  { rows, waitMs }: Pick<FilesAddress, 'rows' | 'waitMs'>,
  { run, release, tell, own, settings: { baseUrl, precisionMin, refuseUnruled } }: FleetRun,
): FleetWorkers {
  const pool = new FleetPool({
    broker,
    run,
    release,
    rows,
    waitMs,
    tell,
    ...(own && { own: { ...own, emptied: () => own.drivers.idle() } }),
  });
  own?.drivers.set(run, pool);
  let leaving: NodeJS.Timeout | null = null;
  return {
    schedule: new ChunkSchedule(pool, pool.places),
    inFlight: pool.places,
    settings: { baseUrl, precisionMin, refuseUnruled },
    fault: () => pool.fault,
    leave: () => {
      pool.leave();
      leaving ??= setTimeout(() => pool.abandon('it was told to end'), LEAVE_MS);
    },
    close: async () => {
      if (leaving !== null) clearTimeout(leaving);
      own?.drivers.delete(run);
      await pool.close();
    },
  };
}
