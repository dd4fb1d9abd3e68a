/** What merchant operations answer with. */
import type { Microdegrees } from '../../geo/microdegrees.js';
import { degreesOf, type WireObject } from '../../wire/tree.js';
import type { LocationBody } from './nexus-shape.js';

/** What the operations answer that change something. `status` is theirs, not the merchant's. */
export function resultOf(merchantId: string, message: string): WireObject {
  return { merchantId, message, status: 'success' };
}

export interface MerchantFacts {
  readonly merchantId: string;
  readonly name: string;
  readonly contacts: { readonly first?: string; readonly last?: string; readonly email?: string };
  readonly referenceId?: string;
}

function given(name: string, value: string | undefined): WireObject {
  return value === undefined ? {} : { [name]: value };
}

/** A merchant; what it does not have is left out. */
export function merchantMembers(merchant: MerchantFacts, status: string): WireObject {
  const { merchantId, name, contacts, referenceId } = merchant;
  return {
    merchantId, merchantName: name,
    ...given('contactFirst', contacts.first),
    ...given('contactLast', contacts.last),
    ...given('contactEmail', contacts.email),
    ...given('referenceId', referenceId),
    status,
  };
}

interface NexusFacts extends LocationBody {
  readonly locationId: string;
  readonly normalizedAddress: string;
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A location as it is returned. */
export function nexusMembers(location: NexusFacts): WireObject {
  const { locationId, name, line1, line2, city, state, zip, normalizedAddress } = location;
  return {
    locationId, nexusType: 'physical',
    ...given('name', name),
    line1,
    ...given('line2', line2),
    city, state, zip, countryCode: 'US', normalizedAddress,
    geoLat: degreesOf(location.lat), geoLng: degreesOf(location.lng),
    createdAt: new Date(location.createdAt).toISOString(),
    updatedAt: new Date(location.updatedAt).toISOString(),
  };
}
