/**
 * A process that asks shared windows about one key at random paces, and writes down each request: an
 * answer's earliest and latest moment by the clock of the machine, and whether there was a place.
 */
import { openSync, writeSync } from 'node:fs';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { REFUSED } from '../../src/http/rate-limit.js';
import { readRedisAddress } from '../../src/limit/redis-address.js';
import { RedisWindows } from '../../src/limit/redis.js';
import { SharedRates } from '../../src/limit/shared-rates.js';

export interface NodeOrder {
  readonly url: string;
  readonly windowMs: number;
  readonly rate: number;
  readonly seconds: number;
  readonly file: string;
}

/** Milliseconds of the clock that all processes of the machine have. */
function machineNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

async function main({ url, windowMs, rate, seconds, file }: NodeOrder): Promise<void> {
  const log = openSync(file, 'w');
  const rates = new SharedRates({
    windows: new RedisWindows(readRedisAddress(url), { windowMs }),
    sharePercent: 1,
    answerMs: 60_000,
  });
  await rates.started(60_000);
  const key = { id: 'a', rate };
  const lines: string[] = [];
  const one = async (): Promise<void> => {
    const from = machineNow();
    const asked = rates.ask(key, true);
    // A process that stood still finds its connection cut, and admits nothing by itself here.
    if (asked === null) return sleep(5);
    const left = typeof asked === 'number' ? asked : await asked;
    lines.push(
      `${from} ${machineNow()} ${left === REFUSED ? 0 : 1} ` +
        `${typeof asked === 'number' ? 1 : 0}\n`,
    );
  };
  const until = machineNow() + seconds * 1_000;
  while (machineNow() < until) {
    const pace = Math.random();
    const phase = machineNow() + Math.random() * 600;
    while (machineNow() < phase) {
      const burst = Math.ceil(Math.random() * 6 * pace);
      const asked = Array.from({ length: burst }, one);
      if (Math.random() < 0.3) await turn();
      else await Promise.all(asked);
      if (lines.length > 0) writeSync(log, lines.splice(0).join(''));
      // A pause at least: what is refused at once would else be asked as fast as a processor can.
      await sleep(2 + Math.random() * 20 * (1 - pace));
    }
    await sleep(Math.random() * 300);
  }
  await rates.close();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await main(JSON.parse(process.argv[2]!) as NodeOrder);
  process.exit(0);
}
