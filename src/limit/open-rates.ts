/**
 * Opens the rates of keys as SITUS_LIMITS and the supervisor say, and tells the log how they fare.
 */
import { createRateGate, type RateGate } from '../http/rate-limit.js';
import type { Log } from '../log.js';
import type { WindowsOfAll } from './listener-rates.js';
import { readRedisAddress } from './redis-address.js';
import type { SharedRates } from './shared-rates.js';

/** Longest wait of a start for the first answer; it goes on without. */
const START_MS_MAX = 1_000;
/** The log hears of changes no more often than this. */
const TELL_MS = 60_000;

interface LimitsConfig {
  /** As given, empty when unset; a password may be in it. */
  readonly url: string;
  readonly sharePercent: number;
}

export interface Limits {
  readonly rates: RateGate;
  /** Null where windows are this process's own. */
  readonly shared: SharedRates | null;
  close(): Promise<void>;
}

/** Tells the log of the first change of a minute, and of what ends it. */
function teller(server: string, sharePercent: number, log: Log): (reason: string | null) => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  let isTold = false;
  return (reason) => {
    if (reason === null) {
      if (isTold) log.info('limits shared again', { server });
      isTold = false;
      return;
    }
    const now = performance.now();
    if (now - toldAt < TELL_MS) return;
    toldAt = now;
    isTold = true;
    log.warn('limits not shared', { server, reason, sharePercent });
  };
}

/**
 * Opens them: in Redis where it is set, with a supervisor where there is one.
 * @throws Error that names the setting when its address cannot be read.
 */
export async function openLimits(
  { url, sharePercent }: LimitsConfig, log: Log, supervised: WindowsOfAll | null = null,
): Promise<Limits> {
  if (url === '') {
    const listener = await (await import('./listener-rates.js')).listenerRates(supervised);
    // The supervisor is on this machine: whether it answers is nobody's concern.
    if (listener !== null) return { rates: listener, shared: null, close: () => listener.close() };
    return { rates: createRateGate(), shared: null, close: () => Promise.resolve() };
  }
  const address = readRedisAddress(url);
  const [{ RedisWindows }, { SharedRates }] =
    await Promise.all([import('./redis.js'), import('./shared-rates.js')]);
  const rates = new SharedRates({
    windows: new RedisWindows(address), sharePercent,
    changed: teller(address.shown, sharePercent, log),
  });
  await rates.started(START_MS_MAX);
  return { rates, shared: rates, close: () => rates.close() };
}
