/** Long calculations: reports their progress, and lets other work use the thread in between. */
import { setImmediate } from 'node:timers/promises';
import type { Progress } from './model.js';

const BAR_COLUMNS = 28;

export interface Output {
  readonly isTTY?: boolean;
  write(text: string): boolean;
}

function bar(done: number, total: number): string {
  const share = total > 0 ? Math.min(1, done / total) : 1;
  const filled = Math.round(share * BAR_COLUMNS);
  return `${'#'.repeat(filled)}${'.'.repeat(BAR_COLUMNS - filled)} ${Math.floor(share * 100)} %`;
}

/** Makes a Progress that writes to `output`, usually standard error. */
export function createProgress(output: Output): Progress {
  let stage = '';
  return (name, done, total) => {
    if (output.isTTY === true) {
      if (stage !== '' && stage !== name) output.write('\n');
      output.write(`\r${name.padEnd(12)} ${bar(done, total)}`);
      if (done >= total) {
        output.write('\n');
        stage = '';
        return;
      }
    } else if (name !== stage || done >= total) {
      output.write(`${name}: ${done} of ${total}\n`);
    }
    stage = name;
  };
}

/** Work that can be interrupted between two of its pieces; its result comes at the end. */
export type Pieces<Result> = Generator<undefined, Result>;

/** Does all pieces one after the other. */
export function inOneGo<Result>(work: Pieces<Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/** Longest time that the thread works before it lets others run. */
const TURN_MS = 8;

/**
 * Does the pieces in short turns while something else runs that needs the thread now and then.
 * Returns both results when both have ended. If the other one fails, the work is abandoned.
 */
export async function meanwhile<Other, Result>(
  other: Promise<Other>,
  work: Pieces<Result>,
): Promise<readonly [Other, Result]> {
  let isWanted = true;
  other.catch(() => {
    isWanted = false;
  });
  let piece: IteratorResult<undefined, Result> = { done: false, value: undefined };
  try {
    for (let until = 0; piece.done !== true && isWanted; piece = work.next()) {
      if (performance.now() < until) continue;
      await setImmediate();
      until = performance.now() + TURN_MS;
    }
  } finally {
    await other;
  }
  return [await other, piece.done === true ? piece.value : inOneGo(work)];
}

/** Runs `work` on all items, `atOnce` at a time; the results are in the order of the items. */
export async function inTurn<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const next = items.entries();
  const one = async (): Promise<void> => {
    for (const [index, item] of next) results[index] = await work(item, index);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return results;
}
