/** Bodies of nexus operations. */
import {
  bodyCheck, id, isBodyProblem, text, violation, type BodyProblem, type FieldRule,
} from './body-rule.js';
import type { MerchantBody } from './merchant-body.js';

/** Locations of one create call (specification, limits). */
export const LOCATIONS_MAX = 25;

export const LINE_CHARS_MAX = 128;
export const CITY_CHARS_MAX = 50;
export const STATE_CHARS_MAX = 32;
export const ZIP_CHARS_MAX = 16;
export const LABEL_CHARS_MAX = 255;

export interface LocationBody {
  readonly name?: string;
  readonly line1: string;
  readonly line2?: string;
  readonly city: string;
  /** Code or name. */
  readonly state: string;
  readonly zip: string;
}

interface RawLocation {
  readonly name?: string | null;
  readonly line1: string;
  readonly line2?: string | null;
  readonly city: string;
  readonly state: string;
  readonly zip: string;
  readonly countryCode?: string | null;
}

const LOCATION_RULE: FieldRule = {
  type: 'object', strict: true,
  props: {
    name: text(0, LABEL_CHARS_MAX, { optional: true }),
    line1: text(1, LINE_CHARS_MAX),
    line2: text(0, LINE_CHARS_MAX, { optional: true }),
    city: text(1, CITY_CHARS_MAX),
    state: text(1, STATE_CHARS_MAX),
    zip: text(1, ZIP_CHARS_MAX),
    // A place in Canada is understood, and refused: nexus is about US states.
    countryCode: { type: 'enum', values: ['US'], optional: true },
  },
};

/** Nexus by sales volume is told from a misspelt kind: it exists, but not here. */
function kind(): FieldRule {
  return { type: 'enum', values: ['physical', 'economic'], optional: true };
}

type Kind = 'physical' | 'economic';

function locationOf({ name, line1, line2, city, state, zip }: RawLocation): LocationBody {
  return {
    ...(name ? { name } : {}), line1, ...(line2 ? { line2 } : {}), city, state, zip,
  };
}

function economic(): BodyProblem {
  const message = 'expected physical';
  return {
    status: 400, detail: 'Economic nexus cannot be recorded or listed.',
    errors: [{ location: 'body.nexusType', message, value: 'economic' }],
  };
}

export interface NexusCreateBody extends MerchantBody {
  readonly locations: readonly LocationBody[];
}

interface RawCreate {
  readonly merchantId: string;
  readonly nexusType?: Kind | null;
  readonly locations: readonly RawLocation[];
}

const checkCreate = bodyCheck<RawCreate>({
  merchantId: id(),
  nexusType: kind(),
  locations: { type: 'array', min: 1, max: LOCATIONS_MAX, items: LOCATION_RULE },
}, { ids: ['merchantId'] });

/** Reads the body of nexus/create. */
export function parseNexusCreate(input: unknown): NexusCreateBody | BodyProblem {
  const checked = checkCreate(input);
  if (isBodyProblem(checked)) return checked;
  const { merchantId, nexusType, locations } = checked.value;
  if (nexusType === 'economic') return economic();
  return { merchantId: merchantId.toLowerCase(), locations: locations.map(locationOf) };
}

const checkList = bodyCheck<{ readonly merchantId: string; readonly nexusType?: Kind | null }>(
  { merchantId: id(), nexusType: kind() }, { ids: ['merchantId'] },
);

/** Reads the body of nexus/list. */
export function parseNexusList(input: unknown): MerchantBody | BodyProblem {
  const checked = checkList(input);
  if (isBodyProblem(checked)) return checked;
  const { merchantId, nexusType } = checked.value;
  return nexusType === 'economic' ? economic() : { merchantId: merchantId.toLowerCase() };
}

export interface LocationIdBody extends MerchantBody {
  readonly locationId: string;
}

const IDS = { ids: ['merchantId', 'locationId'] };

const checkDelete = bodyCheck<LocationIdBody>(
  { merchantId: id(), locationId: id() }, IDS,
);

function idsOf({ merchantId, locationId }: LocationIdBody): LocationIdBody {
  return { merchantId: merchantId.toLowerCase(), locationId: locationId.toLowerCase() };
}

/** Reads the body of nexus/delete. */
export function parseNexusDelete(input: unknown): LocationIdBody | BodyProblem {
  const checked = checkDelete(input);
  return isBodyProblem(checked) ? checked : idsOf(checked.value);
}

export interface NexusUpdateBody extends LocationIdBody {
  readonly location: LocationBody;
}

const checkUpdate = bodyCheck<LocationIdBody & { readonly location: RawLocation }>(
  { merchantId: id(), locationId: id(), location: LOCATION_RULE }, IDS,
);

/** Reads the body of nexus/update. */
export function parseNexusUpdate(input: unknown): NexusUpdateBody | BodyProblem {
  const checked = checkUpdate(input);
  if (isBodyProblem(checked)) return checked;
  return { ...idsOf(checked.value), location: locationOf(checked.value.location) };
}

/** An address that leads to no US state. */
export function unresolved(location: string, reason: string): BodyProblem {
  return violation(location, `expected an address in a US state: ${reason}`);
}
