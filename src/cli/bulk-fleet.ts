/** Answers the chunks of `situs bulk` by the nodes of a fleet. */
import { setTimeout as delay } from 'node:timers/promises';
import { nobodyHas } from '../bulk/fleet/chunk-object.js';
import { FilesBroker } from '../bulk/fleet/files-broker.js';
import { fleetWorkers, type FleetWorkers } from '../bulk/fleet/fleet-workers.js';
import type { Config } from '../config.js';
import { filesAddress, type FilesAddress } from '../distribution/address.js';
import { messageOf } from '../log.js';
import { UsageError } from './command-line.js';

const ASK_MS = 500;

/** The nodes that take chunks of files, which are found at their broker. */
export class BulkFleet {
  readonly #address: FilesAddress;
  readonly #broker: FilesBroker;
  readonly #tell: (text: string) => void;

  private constructor(address: FilesAddress, broker: FilesBroker, tell: (text: string) => void) {
    this.#address = address;
    this.#broker = broker;
    this.#tell = tell;
  }

  /**
   * @throws UsageError for an address that cannot be read, Error where the broker cannot be
   * reached.
   */
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
   * The release that is asked for, or the one that all nodes answer with, as soon as a node has it.
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
        throw new Error(
          `the nodes at ${name} answer with different datasets (${nodes
            .map((node) => `${node.node}: ${node.active ?? 'none'}`)
            .join(', ')}); name one with --dataset`,
        );
      }
      const why =
        asked === null && nodes.length > 0
          ? `no node at ${name} has an active dataset`
          : nobodyHas(name, asked ?? '', nodes);
      if (performance.now() > until) throw new Error(why);
      if (attempt === 2) this.#tell(`${why}; waiting`);
      await delay(ASK_MS);
    }
  }

  /** The nodes as workers for the chunks of a run. */
  workers(settings: Config, run: string, release: string): FleetWorkers {
    return fleetWorkers(this.#broker, this.#address, { run, release, settings, tell: this.#tell });
  }

  async close(): Promise<void> {
    await this.#broker.close().catch(() => undefined);
  }
}
