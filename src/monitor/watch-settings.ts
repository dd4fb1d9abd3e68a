/**
 * Settings of how the service is watched, of which their readers alone can say whether they can be
 * used: the start and `situs doctor` go through the same ones.
 */
import type { Config } from '../config.js';
import { CrossOrigins } from '../http/cross-origin.js';
import { TrustedProxies } from '../http/proxies.js';
import { metricsAddress } from './listener.js';

/** Each reads one setting, and throws an Error that names it where it cannot be used. */
export const WATCH_READERS = {
  metrics: ({ metrics }: Config) => metricsAddress(metrics),
  origins: ({ corsOrigins }: Config) => CrossOrigins.of(corsOrigins),
  proxies: ({ proxies }: Config) => TrustedProxies.of(proxies),
} as const;
