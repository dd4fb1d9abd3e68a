/**
 * Copies of a release are damaged in many ways. Each is activated, made the active release of a
 * running server under lookups, found by a server that starts, or damaged while it is in use. No
 * damage may end a server, change an answer, or be reported as success.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { currentRelease, releasesDir } from '../../src/dataset/release.js';
import { writeRelease } from '../../src/ingest/release-writer.js';
import { buildRecipe } from '../../test/support/built-dataset.js';
import { tinyContent } from '../../test/support/tiny-release.js';
import { seeded } from '../case/case.js';
import { drawDamage, LOST_POINTERS, type Damage } from './torn-damage.js';
import { point, runCommand, TornServer, tryStart } from './torn-server.js';
import type { CaseOutcome } from './service.js';

const DAMAGES = 300;

/** How much is damaged. */
interface TornExtent {
  readonly damages: number;
  /** How many of the accidental contents of CURRENT are tried. */
  readonly pointers: number;
}

/** Everything that `npm run torture -- --case torn` damages. */
export const ALL_TORN: TornExtent = { damages: DAMAGES, pointers: LOST_POINTERS.length };
const REPORT_CASES = 25;
const FAULTS_MAX = 10;

interface Folders {
  /** Sound releases, which are never changed. */
  readonly sound: string;
  /** The folder of the running server. */
  readonly live: string;
  /** The folder in which servers are started. */
  readonly start: string;
}

/** The release that is damaged, and two that stay sound. */
interface Names {
  readonly target: string;
  readonly one: string;
  readonly other: string;
}

interface Counts {
  activations: number;
  starts: number;
  swaps: number;
  underLoad: number;
  pointers: number;
}

interface Torn {
  readonly folders: Folders;
  readonly names: Names;
  readonly server: TornServer;
  readonly counts: Counts;
  readonly wrong: string[];
}

function restore({ folders: { sound }, names: { target } }: Torn, varDir: string): string {
  const dir = join(releasesDir(varDir), target);
  rmSync(dir, { recursive: true, force: true });
  cpSync(join(releasesDir(sound), target), dir, { recursive: true, preserveTimestamps: true });
  return dir;
}

/** Makes the server use a sound release again, and forget the damaged one. */
async function settle({ folders, names, server }: Torn): Promise<void> {
  for (const name of [names.other, names.one]) {
    point(folders.live, `${name}\n`);
    await server.until(
      `${name} answers`,
      (told) => told.dataset === name && told.refused === undefined,
    );
  }
}

async function activation(torn: Torn, { name, harmful }: Damage): Promise<void> {
  const {
    folders: { live },
    names,
    wrong,
    counts,
  } = torn;
  const before = currentRelease(live);
  const { code, signal, told } = await runCommand(live, ['dataset', 'activate', names.target]);
  counts.activations += 1;
  const refused = code !== 0 && signal === null && told.includes('situs: ');
  if (refused !== harmful) wrong.push(`${name}: activation ended with ${code ?? signal} ${told}`);
  const after = currentRelease(live);
  if (harmful && after !== before) wrong.push(`${name}: CURRENT changed to ${after}`);
}

/** Makes the damaged release the active one of the running server. */
async function swap(torn: Torn, { name, harmful }: Damage): Promise<void> {
  const {
    folders: { live },
    names: { target },
    server,
    counts,
  } = torn;
  counts.swaps += 1;
  point(live, `${target}\n`);
  await server.until(`${name}: ${harmful ? 'refused' : 'taken'}`, (told) =>
    harmful ? told.refused?.dataset === target : told.dataset === target,
  );
}

/** Damages the release while the server uses it. */
async function damageUnderLoad(torn: Torn, damage: Damage): Promise<void> {
  const {
    folders: { live, sound },
    names,
    server,
    counts,
  } = torn;
  counts.underLoad += 1;
  const dir = restore(torn, live);
  point(live, `${names.target}\n`);
  await server.until('the target answers', (told) => told.dataset === names.target);
  damage.apply(dir, join(releasesDir(sound), names.one));
  const before = server.answered;
  await server.until(`${damage.name}: still answering`, () => server.answered > before + 50);
}

async function startOnIt(torn: Torn, damage: Damage): Promise<void> {
  const {
    folders: { start, sound },
    names,
    wrong,
    counts,
  } = torn;
  damage.apply(restore(torn, start), join(releasesDir(sound), names.one));
  point(start, `${names.target}\n`);
  const { code, signal, told } = await tryStart(start);
  counts.starts += 1;
  const refused = code === 1 && signal === null && /situs: .*dataset/.test(told);
  if (refused !== damage.harmful) {
    wrong.push(`${damage.name}: the start ended with ${code ?? signal}: ${told}`);
  }
}

async function oneDamage(torn: Torn, damage: Damage): Promise<void> {
  const {
    folders: { live, sound },
    names,
  } = torn;
  const starting = startOnIt(torn, damage);
  damage.apply(restore(torn, live), join(releasesDir(sound), names.one));
  await activation(torn, damage);
  if (damage.harmful) await swap(torn, damage);
  await settle(torn);
  if (torn.counts.swaps % 2 === 0) await damageUnderLoad(torn, damage);
  await settle(torn);
  await starting;
}

/** Loses CURRENT while the releases are sound. */
async function lostPointer(torn: Torn, text: string | null): Promise<void> {
  const {
    folders: { live, start },
    server,
    wrong,
    counts,
  } = torn;
  counts.pointers += 1;
  for (const varDir of [live, start]) {
    if (text === null) rmSync(join(releasesDir(varDir), 'CURRENT'), { force: true });
    else point(varDir, text);
  }
  restore(torn, start);
  const { code, told } = await tryStart(start);
  if (code !== 1 || !told.includes('dataset activate')) {
    wrong.push(
      `CURRENT ${JSON.stringify(text?.slice(0, 20))}: the start ended with ${code} ${told}`,
    );
  }
  await server.until(
    'a lost CURRENT is told',
    (health) => health.refused !== undefined && health.refused.dataset === null,
  );
  await settle(torn);
}

async function prepare(folders: Folders): Promise<Names> {
  const built = buildRecipe('fixture');
  const nothing = (): void => undefined;
  try {
    const one = await writeRelease(built.varDir, tinyContent(50), nothing);
    const other = await writeRelease(built.varDir, tinyContent(60), nothing);
    for (const name of [one, other]) await runCommand(built.varDir, ['dataset', 'activate', name]);
    for (const varDir of Object.values(folders)) {
      cpSync(releasesDir(built.varDir), releasesDir(varDir), {
        recursive: true,
        preserveTimestamps: true,
      });
      point(varDir, `${one}\n`);
    }
    return { target: built.name, one, other };
  } finally {
    built.remove();
  }
}

async function learnAll({ names, folders, server }: Torn): Promise<void> {
  for (const name of [names.target, names.other, names.one]) {
    point(folders.live, `${name}\n`);
    await server.until(`${name} answers`, (told) => told.dataset === name);
    await server.learn();
  }
}

function summaryOf({ counts, server, wrong }: Torn): CaseOutcome {
  const { activations, starts, swaps, underLoad, pointers } = counts;
  return {
    summary:
      `activations ${activations}, starts ${starts}, live swaps ${swaps}, damaged while ` +
      `answering ${underLoad}, lost CURRENT ${pointers}, lookups compared ${server.answered}`,
    wrong: [...wrong, ...server.wrong],
  };
}

/** Damages a release `damages` times. */
export async function tornCase(
  { damages, pointers }: TornExtent,
  seed: number,
  report: (line: string) => void,
): Promise<CaseOutcome> {
  const root = mkdtempSync(join(tmpdir(), 'situs-torn-'));
  const folders: Folders = {
    sound: join(root, 'sound'),
    live: join(root, 'live'),
    start: join(root, 'start'),
  };
  let server: TornServer | null = null;
  try {
    const names = await prepare(folders);
    server = await TornServer.start(folders.live);
    const torn: Torn = {
      folders,
      names,
      server,
      wrong: [],
      counts: { activations: 0, starts: 0, swaps: 0, underLoad: 0, pointers: 0 },
    };
    await learnAll(torn);
    server.begin();
    const random = seeded(seed);
    for (const text of LOST_POINTERS.slice(0, pointers)) await lostPointer(torn, text);
    for (let done = 1; done <= damages; done += 1) {
      await oneDamage(torn, drawDamage(random));
      const faults = torn.wrong.length + server.wrong.length;
      if (done % REPORT_CASES === 0) report(`${done} damages, ${faults} wrong`);
      if (faults >= FAULTS_MAX) break;
    }
    return summaryOf(torn);
  } finally {
    await server?.stop();
    rmSync(root, { recursive: true, force: true });
  }
}
