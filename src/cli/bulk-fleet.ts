/** The nodes of a fleet as the workers of `situs bulk`. */
import { setTimeout as delay } from 'node:timers/promises';
import { nobodyHas, FleetPool } from '../bulk/fleet/fleet-pool.js';
import { FilesBroker } from '../bulk/fleet/files-broker.js';
import { ChunkSchedule } from '../bulk/run/schedule.js';
import type { Config } from '../config.js';
import { filesAddress, type FilesAddress } from '../distribution/address.js';
import { messageOf } from '../log.js';
import type { AnswerSettings } from '../wire/receipt.js';
import { UsageError } from './command-line.js';

const ASK_MS = 500;
/** How long an interrupted run waits for what nodes have in hand. */
const LEAVE_MS = 5_000;

/** What answers the chunks of a run. */
export interface BulkWorkers {
  readonly release: { readonly id: string; readonly dir: string };
  readonly schedule: ChunkSchedule;
  /** As `RunFacts` and `PumpOptions` have them; absent for workers of this machine. */
  readonly settings?: AnswerSettings;
  readonly inFlight?: number;
  /** Why rows were not answered, where that is known. */
  fault(): string | null;
  /** The run was told to end. */
  interrupted(): void;
  close(): Promise<void>;
}

/** Nodes that take chunks of files, found at their broker. */
export class BulkFleet {
  readonly #address: FilesAddress;
  readonly #broker: FilesBroker;
  readonly #tell: (text: string) => void;

  private constructor(
    address: FilesAddress, broker: FilesBroker, tell: (text: string) => void,
  ) {
    this.#address = address;
    this.#broker = broker;
    this.#tell = tell;
  }

  /** @throws UsageError for an address that is none, Error where the broker is away. */
  static async open(url: string, tell: (text: string) => void): Promise<BulkFleet> {
    let address: FilesAddress;
    try {
      address = filesAddress(url, '--fleet');
    } catch (error) {
      throw new UsageError(messageOf(error));
    }
    return new BulkFleet(address, await FilesBroker.open(address, 'situs bulk'), tell);
  }

  /**
   * The release that is asked for, or the one that all nodes answer with, once a node has it.
   * @throws Error with a sentence where none has it in time.
   */
  async release(asked: string | null): Promise<string> {
    const { name, waitMs } = this.#address;
    const until = performance.now() + waitMs;
    for (let attempt = 1; ; attempt += 1) {
      const nodes = await this.#broker.nodes(asked ?? '');
      if (asked !== null && nodes.some(({ has }) => has)) return asked;
      const active = new Set(nodes.flatMap((node) => node.active ?? []));
      const [first] = active;
      if (asked === null && first !== undefined && active.size === 1) return first;
      if (asked === null && active.size > 1) {
        throw new Error(`the nodes at ${name} answer with different datasets (${
          nodes.map((node) => `${node.node}: ${node.active ?? 'none'}`).join(', ')
        }); name one with --dataset`);
      }
      const why = asked === null && nodes.length > 0
        ? `no node at ${name} has an active dataset` : nobodyHas(name, asked ?? '', nodes);
      if (performance.now() > until) throw new Error(why);
      if (attempt === 2) this.#tell(`${why}; waiting`);
      await delay(ASK_MS);
    }
  }

  /** The nodes, for the chunks of a run. */
  workers(
    { baseUrl, precisionMin, refuseUnruled }: Config, job: string, release: string,
  ): BulkWorkers {
    const { rows, waitMs } = this.#address;
    const broker = this.#broker;
    const pool = new FleetPool({ broker, job, release, rows, waitMs, tell: this.#tell });
    let leaving: NodeJS.Timeout | null = null;
    return {
      release: { id: release, dir: '' }, settings: { baseUrl, precisionMin, refuseUnruled },
      schedule: new ChunkSchedule(pool, pool.places), inFlight: pool.places,
      fault: () => pool.fault,
      interrupted: () => {
        leaving = setTimeout(() => pool.abandon('interrupted'), LEAVE_MS);
      },
      close: async () => {
        if (leaving !== null) clearTimeout(leaving);
        await pool.close();
      },
    };
  }

  async close(): Promise<void> {
    await this.#broker.close().catch(() => undefined);
  }
}
