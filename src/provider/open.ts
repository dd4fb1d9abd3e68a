/** Makes the provider of a configuration. */
import type { Config } from '../config.js';
import { ProviderClient } from './client.js';
import { readTarget } from './guard.js';
import type { Provider } from './port.js';

export type ProviderConfig =
  Pick<Config, 'providerUrl' | 'providerTimeoutMs' | 'allowPrivateNetwork'>;

/**
 * The configured provider, null without one. Nothing is connected before the first call.
 * @throws Error in a sentence that names the setting when its address may not be used.
 */
export function openProvider(config: ProviderConfig): Provider | null {
  const { providerUrl, providerTimeoutMs: timeoutMs, allowPrivateNetwork: allowPrivate } = config;
  if (providerUrl === null) return null;
  const target = readTarget(providerUrl, allowPrivate);
  if ('refused' in target) throw new Error(`SITUS_PROVIDER_URL ${target.refused}`);
  return new ProviderClient({ url: target.url, timeoutMs, allowPrivate });
}
