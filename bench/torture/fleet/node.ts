/** A machine of a fleet: a server and `situs stream`, in a network namespace. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLI, LATER_OPTIMIZED, MAIN } from '../../../test/support/program.js';
import type { FleetEngines } from './engines.js';
import type { FleetNetwork } from './network.js';

/** The name of the nodes' files at the broker. */
export const FILES = 'jobs';
const PORT = '3000';

/** A key without restrictions. */
export const FLEET_KEY = 'a-key-for-the-fleet';

/** Subjects of the carts, of their answers, and of refused carts. */
export const SUBJECTS = { from: 'orders.carts', to: 'orders.taxed', failed: 'orders.refused' };

/** Settings of all nodes. */
interface FleetSettings {
  readonly network: FleetNetwork;
  readonly engines: FleetEngines;
  /** A folder of variables; each node gets a copy of its datasets. */
  readonly datasets: string;
  readonly kek: string;
  readonly report: (line: string) => void;
}

export class FleetNode {
  readonly base: string;
  readonly #number: number;
  readonly #settings: FleetSettings;
  readonly #dir = mkdtempSync(join(tmpdir(), 'situs-node-'));
  #children: ChildProcess[] = [];

  constructor(number: number, settings: FleetSettings) {
    this.#number = number;
    this.#settings = settings;
    this.base = `http://${settings.network.address(number)}:${PORT}`;
    cpSync(join(settings.datasets, 'datasets'), join(this.#dir, 'datasets'), { recursive: true });
  }

  /** Starts both programs; the caller asks over HTTP whether they are ready. */
  start(): void {
    const { from, to, failed } = SUBJECTS;
    this.#children = [
      this.#spawn([MAIN]),
      this.#spawn([
        CLI,
        'stream',
        '--nats',
        this.#settings.engines.nats,
        '--from',
        from,
        '--to',
        to,
        '--failed',
        failed,
        '--ack-wait',
        '5',
        '--threads',
        '1',
      ]),
    ];
  }

  /** Kills both programs at once, like a loss of power. */
  async kill(): Promise<void> {
    const children = this.#children.splice(0);
    await Promise.all(
      children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        child.kill('SIGKILL');
        await once(child, 'close');
      }),
    );
  }

  /** Programs that ended although they were not killed. */
  gone(): readonly string[] {
    return this.#children
      .filter(({ exitCode, signalCode }) => exitCode ?? signalCode)
      .map(
        ({ spawnargs, exitCode }) =>
          `node ${this.#number}: ${spawnargs.find((word) => [MAIN, CLI].includes(word))} ended (${exitCode})`,
      );
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  #spawn(args: readonly string[]): ChildProcess {
    const { network, engines, kek, report } = this.#settings;
    const child = spawn(
      'ip',
      [
        ...['netns', 'exec', network.namespace(this.#number)],
        ...[process.execPath, ...LATER_OPTIMIZED, ...args],
      ],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
        env: {
          PATH: process.env['PATH'],
          SITUS_VAR: this.#dir,
          HOST: '0.0.0.0',
          PORT,
          SITUS_STORE: engines.postgres,
          SITUS_LIMITS: engines.redis,
          SITUS_KEK: kek,
          SITUS_FLEET: `${engines.nats}/${FILES}?rows=512`,
          SITUS_WORKERS: '1',
          SITUS_BULK_WORKERS: '1',
          SITUS_LOG: 'error',
          SITUS_BOOTSTRAP_KEY: FLEET_KEY,
          SITUS_BOOTSTRAP_RATE: '100000000',
        },
      },
    );
    child.stderr.on('data', (piece: Buffer) => {
      const text = piece.toString().trim();
      // The command prints its progress there, the server only its faults.
      if (args[0] === MAIN && text !== '') report(`node ${this.#number}: ${text}`);
    });
    return child;
  }
}
