/** A node that cannot prepare what its fleet has active: told everywhere, and answering on. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { App } from '../../src/app.js';
import { loadConfig } from '../../src/config.js';
import { FORMAT_VERSION, MANIFEST_FILE } from '../../src/dataset/manifest.js';
import { checkFiles } from '../../src/dataset/file-check.js';
import { activateRelease, releasesDir } from '../../src/dataset/release.js';
import { makeSigningKey, readSigningKey, signRelease } from '../../src/dataset/signature.js';
import { openPlace } from '../../src/distribution/address.js';
import { piecesOf, pushRelease } from '../../src/distribution/pieces.js';
import type { Place } from '../../src/distribution/fleet-place.js';
import {
  activateInFleet,
  offerOf,
  readState,
  STATE_VERSION,
  type Offer,
} from '../../src/distribution/state.js';
import { createLog } from '../../src/log.js';
import { CLI } from '../support/built-dataset.js';
import { eventually } from '../support/http-eventually.js';
import { rateOf, writeRates, ZIP } from '../support/tiny-release.js';
import { S3_KEYS, startStoreServer, type StoreServer } from '../support/s3-server.js';

const KEY = 'a-key-for-an-unprepared-node';
const quiet = (): void => undefined;

interface Node {
  readonly place: Place;
  readonly server: StoreServer;
  readonly names: ReadonlyMap<number, string>;
  readonly log: string[];
  /** Environment of the node, for commands beside it. */
  readonly env: Record<string, string>;
  readonly varDir: string;
  readonly sign: (rate: number) => void;
  /** With its manifest changed, as another version's program would have written it. */
  push(rate: number, change?: (manifest: object) => object): Promise<Offer>;
  activate(rate: number): Promise<void>;
  rate(): Promise<number>;
  ready(): Promise<string>;
  health(): Promise<{ readonly fleet: Readonly<Record<string, unknown>> }>;
  metrics(): Promise<string>;
}

function rewrite(file: string, change: (value: object) => object): void {
  writeFileSync(file, JSON.stringify(change(JSON.parse(readFileSync(file, 'utf8')) as object)));
}

interface Built {
  readonly builder: string;
  readonly varDir: string;
  readonly names: ReadonlyMap<number, string>;
  readonly publicKey: string;
  readonly signIn: (dir: string, name: string) => void;
}

/** Releases of 5 and 6 % with their builder, and that of 5 % signed and active at the node. */
async function buildTwo(top: string): Promise<Built> {
  const [builder, varDir] = [join(top, 'builder'), join(top, 'node')];
  const names = await writeRates(builder, [50, 60]);
  const [own] = (await writeRates(varDir, [50])).values();
  const keyFile = join(top, 'key.pem');
  const publicKey = makeSigningKey(keyFile);
  const signIn = (dir: string, name: string): void => {
    const folder = join(releasesDir(dir), name);
    signRelease(folder, checkFiles(folder).stamp!, readSigningKey(keyFile));
  };
  signIn(varDir, own!);
  activateRelease(varDir, own!);
  return { builder, varDir, names, publicKey, signIn };
}

function environmentOf(
  varDir: string,
  { url }: StoreServer,
  publicKey: string | null,
): Record<string, string> {
  return {
    HOST: '127.0.0.1',
    PORT: '0',
    SITUS_VAR: varDir,
    SITUS_WORKERS: '1',
    SITUS_BULK_WORKERS: '1',
    SITUS_BOOTSTRAP_KEY: KEY,
    SITUS_DATASETS: 's3://bucket',
    AWS_ENDPOINT_URL: url,
    SITUS_METRICS: '127.0.0.1:0',
    ...S3_KEYS,
    ...(publicKey === null ? {} : { SITUS_REQUIRE_SIGNATURE: publicKey }),
  };
}

async function activateAt(place: Place, dataset: string): Promise<void> {
  const { state } = await readState(place);
  const at = new Date().toISOString();
  await activateInFleet(place, state, { action: 'activate', dataset, at, by: 'me' });
}

/** A node that answers with 5 % and follows an S3 store that signed requests alone reach. */
async function startUnprepared(context: TestContext, signatures: boolean): Promise<Node> {
  const top = mkdtempSync(join(tmpdir(), 'situs-unprepared-'));
  const { builder, varDir, names, publicKey, signIn } = await buildTwo(top);
  const server = await startStoreServer(context, { signed: true });
  const env = environmentOf(varDir, server, signatures ? publicKey : null);
  const config = loadConfig(env);
  const place = await openPlace(config);
  const log: string[] = [];
  const app = await App.start({ config, log: createLog('info', (line) => log.push(line)) });
  const url = `http://127.0.0.1:${await app.listen()}`;
  context.after(async () => {
    await app.stop();
    await place.close();
    rmSync(top, { recursive: true, force: true });
  });
  const text = async (path: string, to = url): Promise<string> =>
    (await fetch(to + path, { headers: { 'X-API-KEY': KEY } })).text();
  return {
    place,
    server,
    names,
    log,
    env,
    varDir,
    sign: (rate) => signIn(builder, names.get(rate)!),
    push: async (rate, change) => {
      const dataset = names.get(rate)!;
      if (change !== undefined) rewrite(join(releasesDir(builder), dataset, MANIFEST_FILE), change);
      const state = await pushRelease({
        place,
        dataset,
        dir: join(releasesDir(builder), dataset),
        temporary: join(top, 'packed'),
        by: 'me',
        packed: quiet,
        pushed: quiet,
      });
      return offerOf(state, dataset)!;
    },
    activate: (rate) => activateAt(place, names.get(rate)!),
    rate: async () => rateOf(await text(`/request/v60?postalcode=${ZIP}`)),
    ready: async () => {
      const told = JSON.parse(await text('/system/ready')) as {
        readonly reasons: readonly string[];
      };
      return told.reasons.join();
    },
    health: async () =>
      JSON.parse(await text('/system/health')) as Awaited<ReturnType<Node['health']>>,
    metrics: () => text('/metrics', `http://127.0.0.1:${app.metricsPort}`),
  };
}

/** What `situs doctor` says beside it, while the store of this process answers. */
async function doctor({ env }: Node): Promise<string> {
  const asked = promisify(execFile)(process.execPath, [CLI, 'doctor'], {
    env: { PATH: process.env['PATH'], ...env },
  });
  return (await asked.catch((error: { readonly stdout: string }) => error)).stdout;
}

test('a release that is not signed is told by log, health and metrics, and the node is not ready', async (context) => {
  const node = await startUnprepared(context, true);
  await node.push(0.06);
  await node.activate(0.06);
  const name = node.names.get(0.06);
  await eventually(
    async () =>
      (await node.health()).fleet['problem'] !== undefined && (await node.ready()) === 'fleet',
  );
  assert.deepEqual((await node.health()).fleet, {
    place: 'ok',
    dataset: name,
    prepared: [node.names.get(0.05)],
    problem: { dataset: name, reason: 'it cannot be prepared; the log says why' },
  });
  assert.match(node.log.join(''), /"dataset not prepared".*is signed with none of the keys/);
  assert.match(
    await node.metrics(),
    /situs_fleet_dataset_followed 0\n[\s\S]*situs_fleet_dataset_unprepared 1\n/,
  );
  assert.match(await node.metrics(), /situs_unready\{reason="fleet"\} 1\n/);
  assert.equal(await node.rate(), 0.05);
  assert.ok(
    (await doctor(node)).includes(
      `fault    fleet     ${name} is active at ${node.place.name}, and ${node.names.get(0.05)} here: this node`,
    ),
  );
  // Whoever pushes the same release signed is followed.
  node.sign(0.06);
  await node.push(0.06);
  await eventually(async () => (await node.rate()) === 0.06);
  assert.equal(await node.ready(), '');
  assert.match(await node.metrics(), /situs_fleet_place_reached 1\n/);
  assert.equal((await node.health()).fleet['problem'], undefined);
});

test('a piece with other bytes keeps a node from following, until it is as it was', async (context) => {
  const node = await startUnprepared(context, false);
  const offer = await node.push(0.06);
  const [sum] = (await piecesOf(node.place, offer)).sums;
  const path = `/bucket/pieces/${sum}`;
  const right = node.server.objects.get(path)!;
  node.server.objects.set(path, Buffer.alloc(right.length));
  await node.activate(0.06);
  await eventually(
    async () =>
      /"dataset not prepared".*not those that were pushed/.test(node.log.join('')) &&
      !(await node.ready()).includes('starting'),
  );
  assert.equal(await node.ready(), 'fleet');
  assert.equal(await node.rate(), 0.05);
  node.server.objects.set(path, right);
  await eventually(async () => (await node.rate()) === 0.06);
  assert.equal(
    readFileSync(join(node.varDir, 'datasets', 'CURRENT'), 'utf8').trim(),
    node.names.get(0.06),
  );
});

test('a release of a newer format is told as one, and the node goes on until it is upgraded', async (context) => {
  const node = await startUnprepared(context, false);
  await node.push(0.06, (manifest) => ({ ...manifest, format: FORMAT_VERSION + 1 }));
  await node.activate(0.06);
  await eventually(
    async () =>
      (await node.health()).fleet['problem'] !== undefined && (await node.ready()) === 'fleet',
  );
  assert.match(
    node.log.join(''),
    new RegExp(
      `"dataset not prepared".*has format ${FORMAT_VERSION + 1}, ` +
        `this version reads ${FORMAT_VERSION}`,
    ),
  );
  assert.equal(await node.rate(), 0.05);
});

test('a state of a newer form is told, and the node goes on with what it has', async (context) => {
  const node = await startUnprepared(context, false);
  await node.push(0.06);
  await node.activate(0.06);
  await eventually(async () => (await node.rate()) === 0.06 && (await node.ready()) === '');
  const { state, version } = await readState(node.place);
  const newer = JSON.stringify({ ...state, v: STATE_VERSION + 1, active: null });
  assert.ok(await node.place.replace(newer, version));
  await eventually(() =>
    /"place of datasets not reached".*has to be upgraded first/.test(node.log.join('')),
  );
  assert.equal(await node.rate(), 0.06);
  assert.equal(await node.ready(), '');
});

test('a store that refuses the node is told, and changes nothing of what it answers', async (context) => {
  const node = await startUnprepared(context, false);
  await eventually(
    async () => (await node.health()).fleet['place'] === 'ok' && (await node.ready()) === '',
  );
  node.server.fault = () => ({ status: 403, code: 'AccessDenied' });
  await eventually(async () => (await node.health()).fleet['place'] === 'connection_error');
  assert.match(node.log.join(''), /"place of datasets not reached".*refuses \(403 AccessDenied\)/);
  assert.equal(await node.ready(), '');
  assert.equal(await node.rate(), 0.05);
  assert.match(await node.metrics(), /situs_fleet_place_reached 0\n/);
  assert.match(
    await doctor(node),
    /^warning {2}fleet .*refuses \(403 AccessDenied\).*; what is active here goes on$/m,
  );
});

test('a release that the fleet asks for no more is pulled no longer, and not kept open', async (context) => {
  const node = await startUnprepared(context, false);
  const { server, log } = node;
  server.fault = (method, path) =>
    method === 'GET' && path.includes('/pieces/') ? 'silent' : null;
  const { dataset } = await node.push(0.06);
  await eventually(() => log.some((line) => line.includes('dataset being pulled')));
  // Now another one was pushed last: the one before was never active.
  const { dataset: last } = await node.push(0.05);
  await eventually(
    () =>
      log.some((line) => line.includes('dataset prepared for the fleet') && line.includes(last)),
    20_000,
  );
  assert.deepEqual((await node.health()).fleet['prepared'], [last]);
  assert.ok(!log.some((line) => line.includes('not prepared')), log.join(''));
  assert.ok(!readdirSync(releasesDir(node.varDir)).some((name) => name.includes(dataset)));
});
