/**
 * Whether the compliance provider can be reached, asked every few seconds where the service is not
 * to be called ready without it: a connection is made, with TLS where that is used, and closed
 * again. No call is sent, so that the provider sees no request that no merchant asked for.
 */
import { CONNECT_MS_MAX, readTarget } from './guard.js';
import type { ProviderConfig } from './open-provider.js';

/** How often it is asked. */
const WATCH_MS = 5_000;

/** Reaches the configured provider once. */
export async function reachProvider(config: ProviderConfig): Promise<void> {
  const { providerUrl, providerTimeoutMs, allowPrivateNetwork: allowPrivate } = config;
  const target = readTarget(providerUrl ?? '', allowPrivate);
  if ('refused' in target) throw new Error(`SITUS_PROVIDER_URL ${target.refused}`);
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
  constructor(
    reachOnce: () => Promise<void>, told: (reached: boolean) => void, everyMs = WATCH_MS,
  ) {
    this.#reach = reachOnce;
    this.#told = told;
    this.#timer = setInterval(() => void this.look(), everyMs).unref();
    void this.look();
  }

  /** False once it could not be reached, until it can be again. */
  get reached(): boolean {
    return this.#reached;
  }

  /** Asks now, unless that is under way. */
  async look(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    const reached = await this.#reach().then(() => true, () => false);
    this.#asking = false;
    if (reached !== this.#reached) this.#told(reached);
    this.#reached = reached;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
