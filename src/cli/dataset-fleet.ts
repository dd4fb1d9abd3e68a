/** `situs dataset push`, and `activate|rollback|list|prune --fleet`: the datasets of a fleet. */
import { mkdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { loadConfig } from '../config.js';
import { releaseAmong, releasesDir } from '../dataset/release.js';
import { openPlace } from '../distribution/address.js';
import type { NodeReport, Place } from '../distribution/fleet-place.js';
import { pushRelease, removePieces } from '../distribution/pieces.js';
import {
  activateInFleet,
  changeState,
  changeText,
  type Change,
  type FleetState,
  readState,
} from '../distribution/state.js';
import { createProgress } from '../ingest/progress.js';
import { commandActor } from './open-store.js';
import { wholeRelease } from './dataset-bundle.js';
import { print, progress, removeOnSignal, UsageError } from './command-line.js';
import { problemsOf, requiredKeys } from './sound-release.js';

/** How long the nodes are observed after an activation, and how often. */
const FOLLOW_MS = 10_000;
const LOOK_MS = 100;
const CHANGES_SHOWN = 5;

/** Opens the place of SITUS_DATASETS for one command, and closes it. */
async function withPlace<T>(use: (place: Place) => Promise<T>): Promise<T> {
  const config = loadConfig();
  if (config.datasets === '') {
    throw new UsageError(
      "SITUS_DATASETS has to name the place of the fleet's datasets: nats://…, " +
        's3://… or https://…',
    );
  }
  const place = await openPlace(config);
  try {
    return await use(place);
  } finally {
    await place.close().catch(() => undefined);
  }
}

/** The user and machine that change something, as shown to others. */
function whoever(): string {
  const actor = commandActor();
  return `${actor.kind === 'cli' && actor.user !== '' ? actor.user : 'somebody'}@${hostname()}`;
}

/** Runs `situs dataset push [RELEASE]`. */
export async function pushCommand(
  text: string | undefined,
  { quiet = false }: { readonly quiet?: boolean },
): Promise<void> {
  await withPlace(async (place) => {
    const { name, dir } = await wholeRelease(text, quiet);
    const signedBy = requiredKeys();
    if (signedBy.length > 0) {
      const problems = await problemsOf(dir, true, signedBy);
      if (problems.length > 0) throw new Error(`${name} is not pushed: ${problems.join('; ')}`);
    }
    const { varDir } = loadConfig();
    const folder = join(releasesDir(varDir), `.push-${process.pid}`);
    mkdirSync(folder, { recursive: true });
    removeOnSignal(folder);
    const tell = quiet ? () => undefined : createProgress(process.stderr);
    try {
      const { active } = await pushRelease({
        place,
        dir,
        dataset: name,
        temporary: join(folder, 'bundle'),
        by: whoever(),
        packed: (done, total) => tell('pack', done, total),
        pushed: (done, total) => tell('push', done, total),
      });
      if (!quiet && active !== name) {
        progress(`nodes prepare it; to let it answer: npx situs dataset activate ${name} --fleet`);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    print(name);
  });
}

/** The release in the place that a text names. @throws Error where none or several match. */
function chosen({ releases }: FleetState, text: string, place: Place): string {
  const names = releases.map(({ dataset }) => dataset);
  return releaseAmong(names, text, ` at ${place.name}`, ' --fleet');
}

function nodeText({ node, dataset, prepared, problem }: NodeReport): string {
  const told = problem === null ? '' : `; cannot prepare ${problem.dataset}: ${problem.reason}`;
  const more = prepared.filter((name) => name !== dataset);
  return `${node} answers from ${dataset ?? 'none'}${
    more.length === 0 ? '' : `, has prepared ${more.join(', ')}`
  }${told}`;
}

/** @throws Error where a node could not follow at once, unless `force` is set. */
async function requirePrepared(place: Place, name: string, force: boolean): Promise<void> {
  if (place.nodes === null) {
    progress(
      `${place.name} does not know its nodes: whether they have prepared ${name} is told by ` +
        'their GET /system/health alone; one that has not is not ready until it has',
    );
    return;
  }
  const nodes = await place.nodes.all();
  if (nodes.length === 0) progress('no node reports to the place now');
  const behind = nodes.filter(({ prepared }) => !prepared.includes(name));
  for (const node of behind) progress(nodeText(node));
  if (behind.length === 0) return;
  const told = `${behind.length} of ${nodes.length} nodes have not prepared ${name}`;
  if (!force) throw new Error(`${told}; nothing was changed (--force activates it all the same)`);
  progress(`${told}, and are not ready until they have`);
}

/** Waits until all nodes that report answer from the release, and reports how far they are. */
async function tellFollowing({ nodes: reports }: Place, name: string): Promise<void> {
  if (reports === null) return;
  const began = performance.now();
  for (;;) {
    const nodes = await reports.all();
    if (nodes.length === 0) return;
    const behind = nodes.filter(({ dataset }) => dataset !== name);
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    if (behind.length === 0) {
      return progress(`${nodes.length} nodes answer from it, ${seconds} s later`);
    }
    if (performance.now() - began > FOLLOW_MS) {
      behind.forEach((node) => progress(nodeText(node)));
      return progress(`${behind.length} of ${nodes.length} nodes do not answer from it yet`);
    }
    await delay(LOOK_MS);
  }
}

async function change(
  place: Place,
  seen: FleetState,
  action: Change['action'],
  name: string,
  force: boolean,
): Promise<void> {
  await requirePrepared(place, name, force);
  await activateInFleet(place, seen, {
    action,
    dataset: name,
    at: new Date().toISOString(),
    by: whoever(),
  });
  print(name);
  await tellFollowing(place, name);
}

interface ChangeAsked {
  readonly force?: boolean;
}

/** Runs `situs dataset activate RELEASE --fleet`. */
export async function activateFleet(text: string, { force = false }: ChangeAsked): Promise<void> {
  await withPlace(async (place) => {
    const { state } = await readState(place);
    const name = chosen(state, text, place);
    if (name === state.active) progress(`${name} is active for the fleet already`);
    else await change(place, state, 'activate', name, force);
  });
}

/** Runs `situs dataset rollback --fleet`. */
export async function rollbackFleet({ force = false }: ChangeAsked): Promise<void> {
  await withPlace(async (place) => {
    const { state } = await readState(place);
    if (state.previous === null) throw new Error('no earlier dataset of the fleet to go back to');
    await change(place, state, 'rollback', chosen(state, state.previous, place), force);
  });
}

/** What a release is to the fleet: active, previous, or the one pushed last. */
function roleOf({ active, previous, releases }: FleetState, name: string): string {
  if (name === active) return 'active';
  if (name === releases.at(-1)?.dataset) return 'pushed last';
  return name === previous ? 'previous' : '';
}

/** Runs `situs dataset list --fleet`. */
export async function listFleet({ json = false }: { readonly json?: boolean }): Promise<void> {
  await withPlace(async (place) => {
    const { state } = await readState(place);
    const nodes = place.nodes === null ? null : await place.nodes.all();
    if (json) {
      const { active, previous, releases, changes } = state;
      return print(JSON.stringify({ active, previous, releases, changes, nodes }, null, 1));
    }
    if (state.releases.length === 0) progress(`${place.name} holds no dataset`);
    for (const { dataset, bytes, signedBy, at, by } of state.releases) {
      print(
        `${dataset}  ${String(bytes).padStart(12)} bytes  ${
          signedBy.length === 0 ? 'unsigned' : 'signed'.padEnd(8)
        }  pushed by ${by} at ${at}  ${roleOf(state, dataset)}`.trimEnd(),
      );
    }
    for (const each of state.changes.slice(0, CHANGES_SHOWN)) progress(changeText(each));
    if (nodes === null) progress(`${place.name} does not know its nodes`);
    else nodes.forEach((node) => progress(nodeText(node)));
  });
}

/** Runs `situs dataset prune --fleet`: removes what the fleet will not ask for again. */
export async function pruneFleet({ list = false }: { readonly list?: boolean }): Promise<void> {
  const { keep } = loadConfig();
  await withPlace(async (place) => {
    const { state } = await readState(place);
    const isKept = ({ releases, active, previous }: FleetState, name: string): boolean =>
      name === active ||
      name === previous ||
      releases.slice(-keep.count).some(({ dataset }) => dataset === name);
    const gone = state.releases.filter(({ dataset }) => !isKept(state, dataset));
    if (!list && gone.length > 0) {
      await changeState(place, (now) => ({
        ...now,
        releases: now.releases.filter(
          ({ dataset }) => isKept(now, dataset) || !gone.some((each) => each.dataset === dataset),
        ),
      }));
      await removePieces(place, gone);
    }
    for (const { dataset } of gone) print(dataset);
    const all = state.releases.length;
    progress(`${gone.length} of ${all} datasets ${list ? 'would go' : 'removed'}`);
  });
}
