/**
 * Makes the provider of a configuration. What calls it is loaded where one is configured: its
 * library takes longer than all else of a start.
 */
import type { Config } from '../config.js';
import type { Log } from '../log.js';
import { readTarget } from './guard.js';
import type { Provider } from './port.js';
import { ProviderWatch, reachProvider } from './watch.js';

export type ProviderConfig =
  Pick<Config, 'providerUrl' | 'providerTimeoutMs' | 'allowPrivateNetwork'>;

/**
 * The configured provider, null without one. Nothing is connected before the first call.
 * @throws Error in a sentence that names the setting when its address may not be used.
 */
export async function openProvider(config: ProviderConfig): Promise<Provider | null> {
  const { providerUrl, providerTimeoutMs: timeoutMs, allowPrivateNetwork: allowPrivate } = config;
  if (providerUrl === null) return null;
  const target = readTarget(providerUrl, allowPrivate);
  if ('refused' in target) throw new Error(`SITUS_PROVIDER_URL ${target.refused}`);
  const { ProviderClient } = await import('./client.js');
  return new ProviderClient({ url: target.url, timeoutMs, allowPrivate });
}

/**
 * Watches whether the provider can be reached, where the service is not ready without it.
 * @throws Error that names the setting where one is required and none configured.
 */
export function watchProvider(
  config: ProviderConfig & Pick<Config, 'providerRequired'>, log: Log,
): ProviderWatch | null {
  if (!config.providerRequired) return null;
  if (config.providerUrl === null) {
    throw new Error('SITUS_PROVIDER_REQUIRED needs SITUS_PROVIDER_URL');
  }
  return new ProviderWatch(() => reachProvider(config), (reached) => {
    if (reached) log.info('provider reached again');
    else log.error('provider not reached');
  });
}
