/**
 * `situs dataset update` is killed at random moments, alone or together with the process that
 * builds for it, and called again. It must go on with what was begun, the release must be that of
 * an undisturbed run, byte for byte, and nothing may be left but the release and its parts.
 */
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { listReleases, releasesDir } from '../../src/dataset/release.js';
import { partsDir } from '../../src/ingest/part-cache.js';
import { isAlive } from '../../src/base/process.js';
import { UpdateWorld } from '../../test/support/update-world.js';
import { seeded } from '../case/case.js';
import type { CaseOutcome } from './service.js';

/** In one of so many kills only the command is killed, and its builder must notice. */
const ALONE_EVERY = 3;

/** Kills an update after some time, and waits until all its processes have ended. */
async function killOnce(world: UpdateWorld, afterMs: number, alone: boolean): Promise<void> {
  const child = world.spawn(world.words('--yes', '--quiet'));
  const pid = child.pid ?? 0;
  const ended = once(child, 'exit');
  await Promise.race([ended, wait(afterMs)]);
  try {
    process.kill(alone ? pid : -pid, 'SIGKILL');
  } catch {
    // It had ended already.
  }
  await ended;
  while (isAlive(-pid)) await wait(20);
}

function leftovers({ varDir }: UpdateWorld): readonly string[] {
  return [
    ...readdirSync(releasesDir(varDir)).filter((name) => name.startsWith('.build')),
    ...readdirSync(partsDir(varDir)).filter((name) => name.includes('.tmp-')),
  ];
}

/** Kills `kills` updates. */
export async function updateKills(
  kills: number,
  seed: number,
  report: (line: string) => void,
): Promise<CaseOutcome> {
  const [random, world, wrong] = [seeded(seed), new UpdateWorld(), [] as string[]];
  try {
    await world.start();
    const quiet = join(world.dir, 'quiet');
    mkdirSync(quiet);
    const began = performance.now();
    await world.run(world.words('--yes', '--quiet'), quiet);
    const lastsMs = performance.now() - began;
    const [expected = ''] = listReleases(quiet);
    let whole = 0;
    for (let done = 1; done <= kills; done += 1) {
      await killOnce(world, random() * lastsMs, done % ALONE_EVERY === 0);
      const strange = listReleases(world.varDir).filter((name) => name !== expected);
      if (strange.length > 0) wrong.push(`after ${done} kills there is ${strange.join(', ')}`);
      if (world.active === expected && done < kills) {
        // The update had ended before the kill, so that the next one begins anew.
        whole += 1;
        rmSync(world.varDir, { recursive: true });
        mkdirSync(world.varDir);
      }
      report(`${done} kills, ${whole} too late`);
    }
    const { code, err } = await world.run(world.words('--yes', '--quiet'));
    if (code !== 0) wrong.push(`the last run ended with ${code}: ${err}`);
    if (world.active !== expected) wrong.push(`${world.active} is active, not ${expected}`);
    const bytes = (varDir: string): Buffer =>
      readFileSync(join(releasesDir(varDir), expected, 'data.mdb'));
    if (!bytes(world.varDir).equals(bytes(quiet))) wrong.push('the data are others');
    wrong.push(...leftovers(world).map((name) => `${name} is left`));
    return { summary: `kills ${kills}, too late ${whole}`, wrong };
  } finally {
    await world.stop();
  }
}
