/**
 * A process that pulls one release. A line of JSON on standard input says which one and from where;
 * it prints a line for each piece and one at the end, and ends when standard input ends.
 */
import { setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { outliveHangup } from '../src/base/held-signals.js';
import { openPlace } from '../src/distribution/address.js';
import { pullRelease } from '../src/distribution/pull.js';
import type { PullLine, PullOrder } from '../src/distribution/puller.js';
import { UnsoundRelease } from '../src/dataset/release.js';
import { messageOf } from '../src/log.js';

outliveHangup();

const NICE = 10;

function say(line: PullLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function pull({ place: settings, ...order }: PullOrder): Promise<PullLine> {
  const place = await openPlace(settings);
  try {
    await pullRelease({
      ...order,
      place,
      pulled: (done, total) => say({ kind: 'progress', done, total }),
    });
    return { kind: 'pulled' };
  } catch (error) {
    const unsound = error instanceof UnsoundRelease;
    return { kind: 'failed', message: messageOf(error), unsound };
  } finally {
    await place.close().catch(() => undefined);
  }
}

try {
  setPriority(NICE);
} catch {
  // Not permitted here: the pull only takes more of the processor than it should.
}

createInterface({ input: process.stdin })
  .once(
    'line',
    (text) =>
      void pull(JSON.parse(text) as PullOrder).then((line) => {
        process.stdout.write(`${JSON.stringify(line)}\n`, () => process.exit(0));
      }),
  )
  .once('close', () => process.exit(1));
