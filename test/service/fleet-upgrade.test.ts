/**
 * Nodes that are replaced one by one by those of the next version, under lookups that go where a load
 * balancer would send them: nothing fails, and datasets and keys are the same on both versions.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { after, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { loadConfig } from '../../src/config.js';
import { openPlace } from '../../src/distribution/address.js';
import type { NodeReport } from '../../src/distribution/fleet-place.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { CLI } from '../support/built-dataset.js';
import { CommandProcess } from '../support/command-process.js';
import { startNode, type FleetNode } from '../support/fleet-nodes.js';
import { eventually } from '../support/http-eventually.js';
import { hasPostgres, newPrefix, schemaUrl, dropSchemas } from '../support/postgres.js';
import { writeRates } from '../support/tiny-release.js';
import { skipForWantOf } from '../support/wanting.js';

const NATS = 'nats://127.0.0.1:4222';
const NEXT_VERSION = '999.0.0';
/** How often the balancer asks nodes whether they are ready, and callers ask for rates. */
const PROBE_MS = 100;
const PAUSE_MS = 40;
/** Many times as long as the balancer takes to hear of it. */
const DRAIN_SECONDS = '5';

/** What is done when no node is there any more that would make something anew. */
const cleanUps: (() => Promise<void>)[] = [];

after(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
});

/** A copy of this program that calls itself the next version; its command. */
function nextVersion(top: string): string {
  const root = packageRoot();
  const dist = fileURLToPath(new URL('../..', import.meta.url));
  const copy = join(top, 'next');
  mkdirSync(copy);
  for (const folder of ['src', 'workers']) {
    cpSync(join(dist, folder), join(copy, 'dist', folder), {
      recursive: true,
      filter: (path) => !path.endsWith('.map'),
    });
  }
  for (const folder of ['datasets', 'node_modules']) {
    symlinkSync(join(root, folder), join(copy, folder));
  }
  const described = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as object;
  writeFileSync(
    join(copy, 'package.json'),
    JSON.stringify({ ...described, version: NEXT_VERSION }),
  );
  return join(copy, 'dist', 'src', 'cli.js');
}

/** A place in NATS that is removed after the test; null where it is skipped. */
async function newPlace(context: TestContext): Promise<string | null> {
  const connection = await connect({ servers: NATS, timeout: 2_000 }).catch(() => null);
  if (connection === null) {
    skipForWantOf(context, `no NATS with JetStream answers at ${NATS}`);
    return null;
  }
  const bucket = `test-${randomUUID().slice(0, 13)}`;
  cleanUps.push(async () => {
    const manager = await jetstreamManager(connection);
    for (const stream of [`KV_${bucket}`, `OBJ_${bucket}`, `KV_${bucket}-nodes`]) {
      await manager.streams.delete(stream).catch(() => undefined);
    }
    await connection.close();
  });
  return `${NATS}/${bucket}`;
}

interface Balanced {
  /** Nodes by their place; one that is being replaced is still here while it drains. */
  readonly nodes: FleetNode[];
  readonly answered: () => number;
  readonly failed: readonly string[];
  stop(): Promise<void>;
}

/** Sends lookups to whichever node was ready when it was last asked. */
function balance(nodes: FleetNode[]): Balanced {
  let [stopped, answered] = [false, 0];
  let up: readonly FleetNode[] = [...nodes];
  const failed: string[] = [];
  const probing = (async () => {
    while (!stopped) {
      const asked = [...nodes];
      const ready = await Promise.all(asked.map((node) => node.ready().catch(() => '')));
      up = asked.filter((_, index) => ready[index] === '200');
      await delay(PROBE_MS);
    }
  })();
  const calling = (async () => {
    for (let turn = 0; !stopped; turn += 1) {
      const node = up[turn % Math.max(1, up.length)];
      if (node === undefined) failed.push('no node is ready');
      else {
        await node.rate().then(
          () => {
            answered += 1;
          },
          (error: unknown) => failed.push(String(error)),
        );
      }
      await delay(PAUSE_MS);
    }
  })();
  return {
    nodes,
    failed,
    answered: () => answered,
    stop: async () => {
      stopped = true;
      await Promise.all([probing, calling]);
    },
  };
}

interface World {
  readonly env: Readonly<Record<string, string>>;
  readonly names: ReadonlyMap<number, string>;
  /** The command of the next version. */
  readonly next: string;
  /** Runs `situs dataset WORDS` of a version. */
  dataset(program: string, ...words: readonly string[]): Promise<string>;
  reports(): Promise<readonly NodeReport[]>;
}

async function world(context: TestContext): Promise<World | null> {
  const place = await newPlace(context);
  if (place === null || !(await hasPostgres(context))) return null;
  const prefix = newPrefix();
  const top = mkdtempSync(join(tmpdir(), 'situs-upgrade-'));
  cleanUps.push(async () => {
    await dropSchemas(prefix);
    rmSync(top, { recursive: true, force: true });
  });
  const env = {
    SITUS_DATASETS: place,
    SITUS_STORE: schemaUrl(`${prefix}fleet`),
    SITUS_DRAIN_SECONDS: DRAIN_SECONDS,
    SITUS_KEK: randomBytes(32).toString('base64'),
    SITUS_VAR: join(top, 'builder'),
  };
  const commands = new CommandProcess();
  cleanUps.unshift(() => commands.end());
  const dataset = async (program: string, ...words: readonly string[]): Promise<string> => {
    if (program !== CLI) {
      const options = { env: { PATH: process.env['PATH'], ...env } };
      return (await promisify(execFile)(process.execPath, [program, 'dataset', ...words], options))
        .stdout;
    }
    const { code, out, err } = await commands.run(['dataset', ...words], env);
    assert.equal(code, 0, err);
    return out;
  };
  const opened = await openPlace(loadConfig({ SITUS_DATASETS: place }));
  cleanUps.unshift(() => opened.close());
  return {
    env,
    dataset,
    names: await writeRates(env.SITUS_VAR, [50, 60]),
    next: nextVersion(top),
    // Asked over and over: a command for each would take most of the test's time.
    reports: () => opened.nodes!.all(),
  };
}

test('three nodes are replaced one by one, versions work side by side, and no request fails', async (context) => {
  const it = await world(context);
  if (it === null) return;
  const { env, names, next } = it;
  const [first, second] = [names.get(0.05)!, names.get(0.06)!];
  await it.dataset(CLI, 'push', first);
  await it.dataset(CLI, 'activate', first, '--fleet');
  const start = (place: number, program: string): Promise<FleetNode> =>
    startNode(
      context,
      { ...env, SITUS_VAR: join(dirname(env['SITUS_VAR']!), `node${place}`) },
      program,
    );
  const old = await Promise.all([0, 1, 2].map((place) => start(place, CLI)));
  for (const node of old) await eventually(async () => (await node.ready()) === '200');
  const balanced = balance([...old]);
  const replace = async (place: number): Promise<void> => {
    await old[place]!.end('SIGTERM');
    const node = await start(place, next);
    await eventually(async () => (await node.ready()) === '200');
    balanced.nodes[place] = node;
  };
  await replace(0);
  // What the older version pushes the newer one prepares, and the newer one's command activates it.
  await it.dataset(CLI, 'push', second);
  await eventually(async () => {
    const nodes = await it.reports();
    return nodes.length === 3 && nodes.every(({ prepared }) => prepared.includes(second));
  });
  await it.dataset(next, 'activate', second, '--fleet');
  for (const node of balanced.nodes) await eventually(async () => (await node.rate()) === 0.06);
  const listed = JSON.parse(await it.dataset(CLI, 'list', '--fleet', '--json')) as {
    readonly nodes: readonly { readonly program: string }[];
  };
  const versions = new Set(listed.nodes.map(({ program }) => program));
  assert.equal(versions.size, 2, 'they were of two versions');
  await replace(1);
  await replace(2);
  await balanced.stop();
  context.diagnostic(`${balanced.answered()} lookups, ${balanced.failed.length} failed`);
  assert.deepEqual(balanced.failed, []);
  assert.ok(balanced.answered() > 0);
  // A node reports itself once it answers.
  const told = async (): Promise<readonly string[]> =>
    (await it.reports()).map(({ program, dataset }) => `${program} ${dataset}`);
  await eventually(async () => (await told()).length === 3);
  assert.deepEqual(
    await told(),
    Array.from({ length: 3 }, () => `${NEXT_VERSION} ${second}`),
  );
});
