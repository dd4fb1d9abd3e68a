/**
 * Opens the configured provider. The client is loaded only where a provider is configured, since
 * its library takes longer to load than all else at a start.
 */
import type { Config } from '../config.js';
import type { Log } from '../log.js';
import { CONNECT_MS_MAX, readTarget } from './guard.js';
import type { Provider } from './provider.js';

/*
 * Watches whether the compliance provider can be reached, where the service is not to count as
 * ready without it. Every few seconds a connection is opened, with TLS where that is used, and
 * closed again. No call is sent, so that the provider sees no request that no merchant made.
 */

/** How often the provider is tried. */
const WATCH_MS = 5_000;

/** Connects to the configured provider once. Rejects when that fails. */
export async function reachProvider(config: ProviderConfig): Promise<void> {
  const { providerUrl, providerTimeoutMs, allowPrivateNetwork: allowPrivate } = config;
  const target = readTarget(providerUrl ?? '', allowPrivate);
  if (target.kind === 'refused') throw new Error(`SITUS_PROVIDER_URL ${target.why}`);
  const connectMs = Math.min(CONNECT_MS_MAX, providerTimeoutMs);
  const { reach } = await import('./connect.js');
  await reach(target.url, { allowPrivate, connectMs });
}

export class ProviderWatch {
  readonly #reach: () => Promise<void>;
  readonly #told: (reached: boolean) => void;
  readonly #timer: NodeJS.Timeout;
  #reached = true;
  #asking = false;

  /** `told` is called at each change. */
  constructor(reachOnce: () => Promise<void>, told: (reached: boolean) => void) {
    this.#reach = reachOnce;
    this.#told = told;
    this.#timer = setInterval(() => void this.look(), WATCH_MS).unref();
    void this.look();
  }

  /** False from a failed attempt until the next successful one. */
  get reached(): boolean {
    return this.#reached;
  }

  /** Tries now, unless an attempt is under way. */
  async look(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    const reached = await this.#reach().then(
      () => true,
      () => false,
    );
    this.#asking = false;
    if (reached !== this.#reached) this.#told(reached);
    this.#reached = reached;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

type ProviderConfig = Pick<Config, 'providerUrl' | 'providerTimeoutMs' | 'allowPrivateNetwork'>;

/**
 * The configured provider; null without one. It is not connected before the first call.
 * @throws Error in a sentence that names the setting when its address may not be used.
 */
export async function openProvider(config: ProviderConfig): Promise<Provider | null> {
  const { providerUrl, providerTimeoutMs: timeoutMs, allowPrivateNetwork: allowPrivate } = config;
  if (providerUrl === null) return null;
  const target = readTarget(providerUrl, allowPrivate);
  if (target.kind === 'refused') throw new Error(`SITUS_PROVIDER_URL ${target.why}`);
  const { ProviderClient } = await import('./client.js');
  return new ProviderClient({ url: target.url, timeoutMs, allowPrivate });
}

/**
 * Watches the provider, where the service is not ready without it; null elsewhere.
 * @throws Error that names the setting where a provider is required but none is configured.
 */
export function watchProvider(
  config: ProviderConfig & Pick<Config, 'providerRequired'>,
  log: Log,
): ProviderWatch | null {
  if (!config.providerRequired) return null;
  if (config.providerUrl === null) {
    throw new Error('SITUS_PROVIDER_REQUIRED needs SITUS_PROVIDER_URL');
  }
  return new ProviderWatch(
    () => reachProvider(config),
    (reached) => {
      if (reached) log.info('provider reached again');
      else log.error('provider not reached');
    },
  );
}
