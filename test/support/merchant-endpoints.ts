/** Every operation of merchants, with a body that is in order. */
import { ELMTON, UNKNOWN_ID } from './merchant-service.js';

export interface MerchantEndpoint {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** What the plan must include. */
  readonly needs: 'merchants' | 'provider';
  readonly writes: boolean;
  /** Whom it is about; nobody where it makes or lists. */
  readonly about: 'merchant' | 'location' | null;
  readonly body: (merchantId: string, locationId: string) => object;
  /** What a merchant that is not the caller's is answered with. */
  readonly foreign: 403 | 404 | null;
}

function endpoint(
  path: string, given: Partial<MerchantEndpoint>,
  more: (merchantId: string, locationId: string) => object = () => ({}),
): MerchantEndpoint {
  return {
    method: 'POST', path: `/merchant/${path}`, needs: 'merchants', writes: true,
    about: 'merchant', foreign: 403,
    body: (merchantId, locationId) => ({ merchantId, ...more(merchantId, locationId) }),
    ...given,
  };
}

export const ENDPOINTS: readonly MerchantEndpoint[] = [
  endpoint('create', {
    about: null, foreign: null,
    body: () => ({ merchantName: 'Acme', merchantType: 'self-managed' }),
  }),
  endpoint('update', {}, () => ({ update: { merchantName: 'Taken over' } })),
  endpoint('delete', {}),
  endpoint('get', { writes: false, foreign: 404 }),
  endpoint('list', {
    method: 'GET', writes: false, about: null, foreign: null, body: () => ({}),
  }),
  endpoint('credentials/set', { needs: 'provider' },
    (merchantId) => ({ apiKey: 'sk-any', connectionId: `connection-${merchantId}` })),
  endpoint('credentials/get', { writes: false }),
  endpoint('credentials/delete', { needs: 'provider' }),
  endpoint('nexus/create', {}, () => ({ locations: [ELMTON] })),
  endpoint('nexus/list', { writes: false }),
  endpoint('nexus/update', { about: 'location' },
    (_, locationId) => ({ locationId, location: ELMTON })),
  endpoint('nexus/delete', { about: 'location' }, (_, locationId) => ({ locationId })),
];

/** A body about nobody. */
export function bodyAboutNobody({ body }: MerchantEndpoint): object {
  return body(UNKNOWN_ID, UNKNOWN_ID);
}
