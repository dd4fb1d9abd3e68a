/** The shapes of bodies of nexus operations. */
import {
  choice,
  closed,
  list,
  optional,
  stated,
  text,
  told,
  uuid,
  type Of,
} from '../../base/shape.js';
import { isProblem, problem, type Problem } from '../../base/problem.js';
import { bodyCheck, type MerchantBody, violation } from './merchant-shape.js';

/** Most locations of one create call (specification, limits). */
const LOCATIONS_MAX = 25;

const LINE_CHARS_MAX = 128;
const CITY_CHARS_MAX = 50;
const STATE_CHARS_MAX = 32;
const ZIP_CHARS_MAX = 16;
const LABEL_CHARS_MAX = 255;

export interface LocationBody {
  readonly name?: string;
  readonly line1: string;
  readonly line2?: string;
  readonly city: string;
  /** Code or name of the state. */
  readonly state: string;
  readonly zip: string;
}

const LOCATION = closed({
  name: told(optional(text(0, LABEL_CHARS_MAX)), 'A label.'),
  line1: text(1, LINE_CHARS_MAX),
  line2: optional(text(0, LINE_CHARS_MAX)),
  city: text(1, CITY_CHARS_MAX),
  state: told(text(1, STATE_CHARS_MAX), 'Code or name.'),
  zip: text(1, ZIP_CHARS_MAX),
  // Canada is not allowed, since nexus is about US states.
  countryCode: told(optional(choice(['US'])), 'US unless given.'),
});

/**
 * `economic` (nexus by sales volume) is accepted here, so that it can be refused by its own
 * sentence and not as a misspelt kind.
 */
const KIND = told(
  stated(optional(choice(['physical', 'economic'])), { enum: ['physical', null] }),
  'The only kind there is.',
);

/**
 * One literal for each case, since objects that are put together in steps have a new layout each
 * time.
 */
function locationOf({ name, line1, line2, city, state, zip }: Of<typeof LOCATION>): LocationBody {
  if (name) {
    return line2 ? { name, line1, line2, city, state, zip } : { name, line1, city, state, zip };
  }
  return line2 ? { line1, line2, city, state, zip } : { line1, city, state, zip };
}

function economic(): Problem {
  const message = 'expected physical';
  return problem(400, 'Economic nexus cannot be recorded or listed.', [
    { location: 'body.nexusType', message, value: 'economic' },
  ]);
}

export interface NexusCreateBody extends MerchantBody {
  readonly locations: readonly LocationBody[];
}

export const NEXUS_CREATE = closed({
  merchantId: uuid(),
  nexusType: KIND,
  locations: list(LOCATION, { min: 1, max: LOCATIONS_MAX }),
});

const checkCreate = bodyCheck(NEXUS_CREATE, { ids: ['merchantId'] });

/** Reads the body of nexus/create. */
export function parseNexusCreate(input: unknown): NexusCreateBody | Problem {
  const checked = checkCreate(input);
  if (isProblem(checked)) return checked;
  const { merchantId, nexusType, locations } = checked.value;
  if (nexusType === 'economic') return economic();
  return { merchantId: merchantId.toLowerCase(), locations: locations.map(locationOf) };
}

export const NEXUS_LIST = closed({ merchantId: uuid(), nexusType: KIND });

const checkList = bodyCheck(NEXUS_LIST, { ids: ['merchantId'] });

/** Reads the body of nexus/list. */
export function parseNexusList(input: unknown): MerchantBody | Problem {
  const checked = checkList(input);
  if (isProblem(checked)) return checked;
  const { merchantId, nexusType } = checked.value;
  return nexusType === 'economic' ? economic() : { merchantId: merchantId.toLowerCase() };
}

export const NEXUS_DELETE = closed({ merchantId: uuid(), locationId: uuid() });
type LocationIdBody = Of<typeof NEXUS_DELETE>;

const IDS = { ids: ['merchantId', 'locationId'] };

const checkDelete = bodyCheck(NEXUS_DELETE, IDS);

function idsOf({ merchantId, locationId }: LocationIdBody): LocationIdBody {
  return { merchantId: merchantId.toLowerCase(), locationId: locationId.toLowerCase() };
}

/** Reads the body of nexus/delete. */
export function parseNexusDelete(input: unknown): LocationIdBody | Problem {
  const checked = checkDelete(input);
  return isProblem(checked) ? checked : idsOf(checked.value);
}

export interface NexusUpdateBody extends LocationIdBody {
  readonly location: LocationBody;
}

export const NEXUS_UPDATE = closed({
  merchantId: uuid(),
  locationId: uuid(),
  location: LOCATION,
});

const checkUpdate = bodyCheck(NEXUS_UPDATE, IDS);

/** Reads the body of nexus/update. */
export function parseNexusUpdate(input: unknown): NexusUpdateBody | Problem {
  const checked = checkUpdate(input);
  if (isProblem(checked)) return checked;
  return { ...idsOf(checked.value), location: locationOf(checked.value.location) };
}

/** The refusal of an address that does not lead to a US state. */
export function unresolved(location: string, reason: string): Problem {
  return violation(location, `expected an address in a US state: ${reason}`);
}
