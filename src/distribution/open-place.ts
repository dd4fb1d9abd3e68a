/** Opens the place that SITUS_DATASETS names; its client is loaded then and not before. */
import type { Config } from '../config.js';
import { placeAddress } from './address.js';
import type { Place } from './place.js';

/** What of the configuration a place is opened by; it can be handed to another process. */
export type PlaceSettings = Pick<Config, 'datasets' | 'aws' | 'allowPrivateNetwork'>;

/**
 * Opens the place; nothing is sent yet.
 * @throws Error that names the setting.
 */
export async function openPlace(
  { datasets, aws, allowPrivateNetwork }: PlaceSettings,
): Promise<Place> {
  const address = placeAddress(datasets, aws, allowPrivateNetwork);
  if (address.kind === 'nats') {
    return new (await import('./nats-place.js')).NatsPlace(address);
  }
  const { HttpPlace } = await import('./http-place.js');
  const { name, base, authorization } = address;
  if (address.kind === 's3') {
    const { s3Signer } = await import('./s3-signature.js');
    return new HttpPlace({ name, base, sign: s3Signer(aws) });
  }
  return new HttpPlace({
    name, base,
    sign: ({ headers }) => Promise.resolve(authorization === ''
      ? headers : { ...headers, Authorization: authorization }),
  });
}
