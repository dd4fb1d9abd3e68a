/**
 * Opens the rate windows that SITUS_LIMITS and the supervisor determine, and logs whether they
 * answer.
 */
import { createRateGate, type RateGate } from '../http/rate-limit.js';
import { type Log, messageOf } from '../log.js';
import type { WindowsOfAll } from './listener-rates.js';
import type { WindowQuestion } from './port.js';
import { readRedisAddress } from './redis-address.js';
import type { SharedRates } from './shared-rates.js';

/** How long a start waits for the first answer before it goes on without. */
const START_MS_MAX = 1_000;
/** Failures are logged no more often than this. */
const TELL_MS = 60_000;

interface LimitsConfig {
  /** The address as it was given, empty when unset; it may contain a password. */
  readonly url: string;
  readonly sharePercent: number;
}

export interface Limits {
  readonly rates: RateGate;
  /** Null where the windows belong to this process only. */
  readonly shared: SharedRates | null;
  close(): Promise<void>;
}

/** Logs the first failure of a minute, and its end. */
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
 * Opens the windows: in Redis where that is set, else with the supervisor where there is one.
 * @throws Error that names the setting when its address cannot be parsed.
 */
export async function openLimits(
  { url, sharePercent }: LimitsConfig,
  log: Log,
  supervised: WindowsOfAll | null = null,
): Promise<Limits> {
  if (url === '') {
    const listener = await (await import('./listener-rates.js')).listenerRates(supervised);
    // Not reported as `shared`: the supervisor is on this machine, and no operator needs to know
    // whether it answers.
    if (listener !== null) return { rates: listener, shared: null, close: () => listener.close() };
    return { rates: createRateGate(), shared: null, close: () => Promise.resolve() };
  }
  const address = readRedisAddress(url);
  const [{ RedisWindows }, { SharedRates }] = await Promise.all([
    import('./redis.js'),
    import('./shared-rates.js'),
  ]);
  const rates = new SharedRates({
    windows: new RedisWindows(address),
    sharePercent,
    changed: teller(address.shown, sharePercent, log),
  });
  await rates.started(START_MS_MAX);
  return { rates, shared: rates, close: () => rates.close() };
}

// Checks whether a Redis or Valkey can keep the windows, before it is needed.

/** How long the check takes at most, in milliseconds. */
const CHECK_MS_MAX = 3_000;
const PAUSE_MS = 50;
const QUESTION: WindowQuestion = { id: 'doctor', rate: 1, count: 0 };

interface RedisCheck {
  /** The address for people to read, without user and password. */
  readonly server: string;
  /** Why it cannot keep the windows; null where it can. */
  readonly fault: string | null;
  /** What should be changed although it works; null where nothing is. */
  readonly warning: string | null;
  /** For example "Redis 7.0.15". */
  readonly version: string;
  /** How many milliseconds one question took. */
  readonly milliseconds: number;
}

function field(info: string, name: string): string {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
}

/** Judges a server by the text of its INFO. */
function told(info: string): Pick<RedisCheck, 'warning' | 'version'> {
  const valkey = field(info, 'valkey_version');
  const policy = field(info, 'maxmemory_policy');
  const isBounded = field(info, 'maxmemory') !== '0' && policy !== '';
  return {
    version: valkey === '' ? `Redis ${field(info, 'redis_version')}` : `Valkey ${valkey}`,
    warning:
      isBounded && policy !== 'noeviction'
        ? `drops windows when its memory is full (maxmemory-policy ${policy}); ` +
          'noeviction drops none'
        : null,
  };
}

/**
 * Asks the server of a setting once, as the service does.
 * @throws Error that names the setting when its address cannot be parsed.
 */
export async function checkRedis(url: string): Promise<RedisCheck> {
  const address = readRedisAddress(url);
  const { RedisWindows } = await import('./redis.js');
  const windows = new RedisWindows(address);
  const until = performance.now() + CHECK_MS_MAX;
  let fault = 'no answer';
  try {
    while (performance.now() < until) {
      try {
        await inTime(windows.ask([QUESTION]), until - performance.now());
        const asked = performance.now();
        await inTime(windows.ask([QUESTION]), until - asked);
        const milliseconds = performance.now() - asked;
        const info = await inTime(windows.info(), CHECK_MS_MAX).catch(() => '');
        return { server: address.shown, fault: null, milliseconds, ...told(info) };
      } catch (error) {
        fault = messageOf(error);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  } finally {
    await windows.close();
  }
  return { server: address.shown, fault, warning: null, version: '', milliseconds: 0 };
}

function inTime<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('no answer')), milliseconds);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
