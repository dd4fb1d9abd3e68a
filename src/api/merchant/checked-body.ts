/** Checks of bodies against their shapes, and the problem that breaking one is. */
import { invalid, problem, type Problem } from '../../base/problem.js';
import { checkOf, type Shape } from '../../base/shape.js';
import type { BodyError } from '../../base/validator.js';
import type { Microdegrees } from '../../geo/microdegrees.js';
import { degreesOf, type WireObject } from '../../wire/tree.js';
import type { LocationBody } from './nexus-shape.js';

/** What the operations answer that change something. `status` is theirs, not the merchant's. */
export function resultOf(merchantId: string, message: string): WireObject {
  return { merchantId, message, status: 'success' };
}

interface MerchantFacts {
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

/** One field violation. */
export function violation(location: string, message: string, value?: unknown): Problem {
  return invalid(value === undefined ? { location, message } : { location, message, value });
}

interface BodyOptions {
  /** Members that are ids of this service. */
  readonly ids?: readonly string[];
  /** The body holds secrets: no value is told back. */
  readonly secret?: boolean;
}

type Checked<T> = { readonly value: T } | Problem;

function withoutValue({ location, message }: BodyError): BodyError {
  return { location, message };
}

/** Compiles the check of a body of a shape. */
export function bodyCheck<T>(
  shape: Shape<T>, { ids = [], secret = false }: BodyOptions = {},
): (input: unknown) => Checked<T> {
  const check = checkOf(shape);
  const idLocations = new Set(ids.map((name) => `body.${name}`));
  const passes = (errors: readonly BodyError[], _input: unknown): _input is T =>
    errors.length === 0;
  return (input) => {
    const errors = check(input);
    if (passes(errors, input)) return { value: input };
    const broken = errors.filter(({ location }) => idLocations.has(location));
    if (broken.length === 0) {
      return invalid(...secret ? errors.map(withoutValue) : errors);
    }
    const names = broken.map(({ location }) => location.slice('body.'.length));
    return problem(400, `${names.join(' and ')} must be a UUID.`,
      broken.map(withoutValue));
  };
}
