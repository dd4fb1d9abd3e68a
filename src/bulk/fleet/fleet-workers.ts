/** A fleet in place of the workers of this machine, for one run. */
import type { FilesAddress } from '../../distribution/address.js';
import type { AnswerSettings } from '../../wire/receipt.js';
import { ChunkSchedule } from '../run/schedule.js';
import { FleetPool } from './fleet-pool.js';
import type { FilesBroker } from './files-broker.js';
import type { Drivers } from './own-share.js';

/** How long a run that is to end waits for what nodes have in hand. */
const LEAVE_MS = 3_000;

export interface FleetWorkers {
  readonly schedule: ChunkSchedule;
  /** As `PumpOptions` has it. */
  readonly inFlight: number;
  /** As `RunFacts` has it. */
  readonly settings: AnswerSettings;
  /** Why rows were not answered; null while all are. */
  fault(): string | null;
  /** The run is to end: what nodes have in hand is awaited for a while. */
  leave(): void;
  /** Leaves nothing at the broker. */
  close(): Promise<void>;
}

interface FleetRun {
  /** Name of the run. */
  readonly run: string;
  readonly release: string;
  readonly settings: AnswerSettings;
  readonly tell: (text: string) => void;
  /** Of a process that answers chunks itself, which hands over the results of these. */
  readonly own?: {
    readonly drivers: Drivers;
    readonly node: string;
    /** With the workers of this node. */
    readonly schedule: ChunkSchedule;
  };
}

/** The nodes that take chunks at a broker, as workers of a run. */
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
