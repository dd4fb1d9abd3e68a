/**
 * A server with default settings under all kinds of load at once, with datasets that change
 * meanwhile. Its own memory must stay below what the documentation states.
 */
import { constants, copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  activateRelease,
  currentRelease,
  listReleases,
  releasesDir,
} from '../../src/dataset/release.js';
import { type ReleaseContent, writeRelease } from '../../src/ingest/release-writer.js';
import { tinyContent } from '../../test/support/tiny-release.js';
import { seeded } from '../case/case.js';
import { startSitus } from '../load/situs-server.js';
import { memoryCeiling } from './memory-ceiling.js';
import { rowPool } from './row-pool.js';
import { ServerMemory } from './server-memory.js';
import { SoakLoad } from './soak-load.js';
import type { CaseOutcome } from './service.js';

export const SOAK_SECONDS = 600;
const SWAP_MS = 20_000;
const REPORT_MS = 15_000;

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`;
}

function copyReleases(from: string, to: string): void {
  for (const name of listReleases(from)) {
    mkdirSync(join(releasesDir(to), name), { recursive: true });
    for (const file of readdirSync(join(releasesDir(from), name))) {
      copyFileSync(
        join(releasesDir(from), name, file),
        join(releasesDir(to), name, file),
        constants.COPYFILE_FICLONE,
      );
    }
  }
}

/** A dataset that can answer all requests of the load: searches need product codes. */
export function otherContent(): ReleaseContent {
  const content = tinyContent(50);
  const codes = [{ tic: '20010', title: 'Cotton shirts', parent: '' }];
  return { ...content, documents: new Map([...content.documents, ['tic', codes]]) };
}

/** A folder with the datasets of another one, and at least two of them. */
async function ownFolder(varDir: string, active: string): Promise<string> {
  const own = mkdtempSync(join(tmpdir(), 'situs-soak-'));
  copyReleases(varDir, own);
  if (listReleases(own).length < 2) await writeRelease(own, otherContent(), () => undefined);
  activateRelease(own, active);
  return own;
}

/** Activates another release at intervals, and then the first one again. */
function startSwaps(own: string, active: string, swaps: { done: number }): NodeJS.Timeout {
  const other = listReleases(own).find((name) => name !== active) ?? active;
  return setInterval(() => {
    activateRelease(own, swaps.done % 2 === 0 ? other : active);
    swaps.done += 1;
    // The first one, which has more data, is active again soon.
    if (swaps.done % 2 === 1) {
      setTimeout(() => {
        activateRelease(own, active);
        swaps.done += 1;
      }, SWAP_MS / 4).unref();
    }
  }, SWAP_MS);
}

/** Loads a server over the datasets of `varDir`, whose active one is in use most of the time. */
export async function soak(
  varDir: string,
  seconds: number,
  seed: number,
  report: (line: string) => void,
): Promise<CaseOutcome> {
  const active = currentRelease(varDir);
  if (active === null) throw new Error(`no dataset is active in ${varDir}`);
  const own = await ownFolder(varDir, active);
  const pool = await rowPool(join(releasesDir(varDir), active), seed);
  const server = await startSitus(own);
  const memory = new ServerMemory(server.pid);
  const from = performance.now();
  const load = new SoakLoad({
    port: server.port,
    pool,
    random: seeded(seed),
    until: from + seconds * 1_000,
  });
  const swaps = { done: 0 };
  const swapping = startSwaps(own, active, swaps);
  const telling = setInterval(() => {
    report(
      `${Math.round((performance.now() - from) / 1_000)} s: ${mebibytes(memory.last)} of its ` +
        `own, at most ${mebibytes(memory.own)}`,
    );
  }, REPORT_MS);
  try {
    await load.run();
    const { own: most, last, idle } = memory;
    const total = memoryCeiling(availableParallelism());
    const counts = [...load.counts].map(([name, count]) => `${name} ${count}`).join(', ');
    return {
      summary:
        `${seconds} s: ${counts}, swaps ${swaps.done}; own memory at most ${mebibytes(most)}, ` +
        `${mebibytes(last)} at the end, ${mebibytes(idle)} idle; ceiling ${mebibytes(total)}`,
      wrong: [
        ...load.wrong,
        ...(memory.known ? [] : ['the memory of a process is not told on this system']),
        ...(most <= total ? [] : [`the server took ${mebibytes(most)}`]),
      ],
    };
  } finally {
    clearInterval(swapping);
    clearInterval(telling);
    memory.end();
    await server.stop();
    rmSync(own, { recursive: true, force: true });
  }
}
