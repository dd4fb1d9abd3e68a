/** Nodes that take chunks of files, a broker of their own, and `situs bulk` that drives them. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { FilesBroker } from '../../src/bulk/fleet/files-broker.js';
import { filesAddress } from '../../src/distribution/address.js';
import { buildRecipe, CLI, LATER_OPTIMIZED, type Built } from './built-dataset.js';
import { CommandProcess } from './command-process.js';
import { startNode, type Ending, type FleetNode } from './fleet-nodes.js';
import { ownBroker, type OwnBroker } from './nats-broker.js';
import type { Ran } from './run-command.js';
import type { Skipped } from './wanting.js';

const LOOK_MS = 3;
export const DOOR = '120 Main St, Elmton, QA 91010';

interface Driven {
  readonly child: ChildProcess;
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
  readonly err: () => string;
}

/** A node, and what its environment has of its own: started with it again, it has the same folder. */
export interface FilesNode extends FleetNode {
  readonly env: Readonly<Record<string, string>>;
}

export interface FilesFleet {
  readonly own: OwnBroker;
  /** The broker's process, as it was first started. */
  readonly server: ChildProcess;
  /** Where the nodes and the driver meet. */
  readonly url: string;
  readonly dir: string;
  readonly built: Built;
  readonly broker: FilesBroker;
  /** Starts a node, with a folder of its own where the environment names none. */
  node(env?: Readonly<Record<string, string>>): Promise<FilesNode>;
  /** Writes a file and returns its path. */
  file(name: string, body: string): string;
  /** Runs `situs WORDS` to its end; a process for each would take a second of a processor. */
  run(words: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ran>;
  /** Starts `situs bulk ARGS` as a process of its own. */
  drive(args: readonly string[]): Driven;
  /** What lies at the broker: messages that wait, and messages of objects. */
  left(): Promise<readonly [queued: number, objects: number]>;
  /** Messages of what is kept of jobs. */
  kept(): Promise<number>;
}

/** A folder of data for one node. */
function ownFolder(context: Ending): string {
  const { varDir, remove } = buildRecipe('fixture');
  context.after(remove);
  return varDir;
}

/** Ended with the test, or with all tests of a file; null where there is no broker and it is skipped. */
export async function filesFleet(context: Ending & Skipped): Promise<FilesFleet | null> {
  const own = await ownBroker(context);
  if (own === null) return null;
  const server = own.start();
  const [, manager] = await own.connected();
  const built = buildRecipe('fixture');
  const dir = mkdtempSync(join(tmpdir(), 'situs-files-'));
  context.after(() => {
    built.remove();
    rmSync(dir, { recursive: true, force: true });
  });
  const url = `nats://127.0.0.1:${own.port}/tried`;
  const commands = new CommandProcess();
  context.after(() => commands.end());
  const broker = await FilesBroker.open(filesAddress(url, 'url'), 'a test');
  context.after(() => broker.close());
  return {
    own,
    server,
    url,
    dir,
    built,
    broker,
    node: async (more = {}) => {
      const env = { SITUS_VAR: more['SITUS_VAR'] ?? ownFolder(context), SITUS_FLEET: url, ...more };
      return { ...(await startNode(context, env)), env };
    },
    file: (name, body) => {
      const path = join(dir, name);
      writeFileSync(path, body);
      return path;
    },
    run: (words, env = {}) => commands.run(words, { SITUS_VAR: built.varDir, ...env }),
    drive: (args) => {
      const child = spawn(process.execPath, [...LATER_OPTIMIZED, CLI, 'bulk', ...args], {
        env: { PATH: process.env['PATH'], SITUS_VAR: built.varDir },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      context.after(() => child.kill('SIGKILL'));
      let err = '';
      child.stderr!.on('data', (piece: Buffer) => {
        err += piece.toString();
      });
      const ended = once(child, 'close').then(([code]) => code as number | null);
      return { child, ended, err: () => err };
    },
    left: async () => {
      const [{ state: queue }, { state: objects }] = await Promise.all([
        manager.streams.info('tried-files'),
        manager.streams.info('OBJ_tried-files'),
      ]);
      return [queue.messages, objects.messages];
    },
    kept: async () => (await manager.streams.info('OBJ_tried-jobs')).state.messages,
  };
}

/** A table of doors, some of which are not known. */
export function table(rows: number): string {
  const lines = Array.from({ length: rows }, (_, id) =>
    id % 7 === 0 ? `${id};"nowhere"\r\n` : `${id};"${DOOR}"\r\n`,
  );
  return `id;address\r\n${lines.join('')}`;
}

/** Resolves once some of the output of a driver is on the disk, and nodes have more in hand. */
export async function midst(
  { broker, built }: FilesFleet,
  driven: Driven,
  out: string,
): Promise<void> {
  // It is over soon, so it is looked for all the time, however long the driver took to begin.
  while (bytesOf(`${out}.part`) === 0 || (await broker.state(built.name)).inHand === 0) {
    if (driven.child.exitCode !== null) throw new Error(`it ended too soon: ${driven.err()}`);
    await delay(LOOK_MS);
  }
}

function bytesOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}
