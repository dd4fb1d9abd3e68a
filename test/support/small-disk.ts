/** Disks that are soon full. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

const BALLAST = 'ballast';

/** A disk of a few megabytes, or null where none can be mounted. */
export function smallDisk(context: TestContext, bytes: number): string | null {
  const dir = mkdtempSync(join(tmpdir(), 'situs-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', dir], { stdio: 'pipe' });
  } catch {
    rmSync(dir, { recursive: true });
    context.skip('no file system can be mounted here');
    return null;
  }
  context.after(() => {
    execFileSync('umount', ['-l', dir]);
    rmSync(dir, { recursive: true });
  });
  return dir;
}

/** Fills what is free on a small disk. */
export function fill(dir: string): void {
  for (const size of [65_536, 4_096]) {
    try {
      for (let index = 0; ; index += 1) {
        writeFileSync(join(dir, `${BALLAST}-${size}-${index}`), Buffer.alloc(size));
      }
    } catch {
      // Full.
    }
  }
}

/** Makes room on it again. */
export function release(dir: string): void {
  execFileSync('sh', ['-c', `rm -f ${join(dir, BALLAST)}-*`]);
}
