/**
 * What a service does for the files of its fleet. The client of the broker is only loaded when it
 * starts.
 */
import { packageVersion } from '../../base/process.js';
import type { LiveDataset } from '../../dataset/live.js';
import { filesAddress, type FilesAddress } from '../../distribution/address.js';
import { nodeName } from '../../distribution/puller.js';
import { messageOf, type Log } from '../../log.js';
import type { AnswerSettings } from '../../wire/receipt.js';
import type { JobFiles } from '../job/job-keeper.js';
import type { ChunkSchedule } from '../run/schedule.js';
import type { ChunkTaker, TakerCounts } from './chunk-taker.js';
import type { FleetWorkers } from './fleet-workers.js';
import type { KeptFiles } from './kept-files.js';
import { Drivers } from './own-share.js';

const NONE: TakerCounts = { taken: 0, done: 0, returned: 0, refused: 0 };

interface FilesOptions {
  /** The value of SITUS_FLEET, which is not empty. */
  readonly url: string;
  readonly varDir: string;
  readonly log: Log;
  readonly live: Pick<LiveDataset, 'release' | 'has' | 'ask' | 'unpin'>;
  readonly schedule: ChunkSchedule;
  /** How many workers answer files. */
  readonly threads: number;
  /** Settings for the jobs of this node. */
  readonly settings: AnswerSettings;
}

/** The state of the fleet's files, for metrics and health. */
export interface FilesStatus {
  /** Whether the broker can be reached. */
  readonly reached: boolean;
  readonly inHand: number;
  readonly counts: Readonly<TakerCounts>;
}

export class FleetFiles {
  readonly address: FilesAddress;
  readonly #options: FilesOptions;
  readonly #drivers = new Drivers();
  #taker: ChunkTaker | null = null;
  #starting: Promise<void> = Promise.resolve();
  #leaving = false;

  /** @throws Error that names the setting where the address cannot be used. */
  constructor(options: FilesOptions) {
    this.address = filesAddress(options.url, 'SITUS_FLEET');
    this.#options = options;
  }

  get status(): FilesStatus {
    const { reached = false, inHand = 0, counts = NONE } = this.#taker ?? {};
    return { reached, inHand, counts };
  }

  /** Begins to take chunks; while the broker is away, keeps trying. */
  start(): void {
    this.#starting = this.#start();
  }

  /**
   * The nodes as workers of a job of this one. Null where no node with the release can be reached
   * or this node is leaving; the job is then answered here.
   */
  async workers(job: string, release: string): Promise<FleetWorkers | null> {
    if (this.#leaving) return null;
    const { log, settings, schedule, varDir } = this.#options;
    const [{ FilesBroker }, { fleetWorkers }] = await Promise.all([
      import('./files-broker.js'),
      import('./fleet-workers.js'),
    ]);
    try {
      const broker = await FilesBroker.open(this.address, `situs ${job}`);
      if (!(await broker.isHad(release))) {
        await broker.close();
        return null;
      }
      const tell = (message: string): void => log.warn('job over the fleet', { job, message });
      const workers = fleetWorkers(broker, this.address, {
        run: job,
        release,
        settings,
        tell,
        own: { drivers: this.#drivers, node: nodeName(varDir), schedule },
      });
      return {
        ...workers,
        close: async () => {
          await workers.close();
          await broker.close();
        },
      };
    } catch (error) {
      log.warn('job not over the fleet', { job, message: messageOf(error) });
      return null;
    }
  }

  /**
   * Files of jobs at the broker, for servers on one store. The client is loaded when it is needed.
   */
  get jobFiles(): JobFiles {
    const { address } = this;
    const { log } = this.#options;
    const files = async (): Promise<KeptFiles> =>
      new (await import('./kept-files.js')).KeptFiles(address, log);
    return {
      name: address.bucket,
      put: async (...file) => (await files()).put(...file),
      bring: async (...file) => (await files()).bring(...file),
      remove: async (...file) => (await files()).remove(...file),
    };
  }

  /** Takes no more chunks, and gives back those that no worker has begun. */
  leave(): void {
    this.#leaving = true;
    this.#taker?.leave();
  }

  /** Finishes chunks until a time of `performance.now`, and gives back the rest. */
  async close(until: number): Promise<void> {
    this.leave();
    await this.#starting;
    await this.#taker?.close(until);
  }

  async #start(): Promise<void> {
    const { ChunkTaker } = await import('./chunk-taker.js');
    if (this.#leaving) return;
    const { varDir, log, live, schedule, threads } = this.#options;
    this.#taker = new ChunkTaker({
      address: this.address,
      node: nodeName(varDir),
      program: packageVersion(),
      log,
      schedule,
      // One more than there are workers, so that they have the next one while a result is stored.
      handsMax: threads + 1,
      drivers: this.#drivers,
      releases: {
        active: () => live.release?.id ?? null,
        has: (name) => live.has(name),
        ask: (name) => live.ask(name),
        unpin: (release) => live.unpin(release),
      },
    });
    this.#taker.start();
  }
}
