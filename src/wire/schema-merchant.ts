/** Schemas of the merchant family, from the limits that its parsers check. */
import { MERCHANT_STATUSES } from '../store/merchants.js';
import {
  API_KEY_CHARS_MAX, CONNECTION_CHARS_MAX, CONTACT_CHARS_MAX, EMAIL_CHARS_MAX,
  MERCHANT_NAME_CHARS_MAX, REFERENCE_CHARS_MAX, TYPE_NAMES,
} from './merchant-body.js';
import {
  CITY_CHARS_MAX, LABEL_CHARS_MAX, LINE_CHARS_MAX, LOCATIONS_MAX, STATE_CHARS_MAX, ZIP_CHARS_MAX,
} from './nexus-body.js';
import {
  about, list, NUMBER, object, oneOf, TEXT, type Members, type Schema,
} from './schema.js';

const ID: Schema = { type: 'string', format: 'uuid' };
const MOMENT: Schema = { type: 'string', format: 'date-time' };

function length(min: number, max: number): Schema {
  return { type: 'string', minLength: min, maxLength: max };
}

/** The same or null, which is as good as absent. */
function orNull(schema: Schema): Schema {
  return { ...schema, type: [String(schema['type']), 'null'] };
}

function choiceOrNull(values: readonly string[], text: string): Schema {
  return { type: ['string', 'null'], enum: [...values, null], description: text };
}

/** A body that takes no other members. */
function closedObject(required: Members, optional: Members = {}): Schema {
  return { ...object(required, optional), additionalProperties: false };
}

const BLOCK_REQUIRED: Members = { merchantName: length(1, MERCHANT_NAME_CHARS_MAX) };
const BLOCK_OPTIONAL: Members = {
  contactFirst: orNull(length(0, CONTACT_CHARS_MAX)),
  contactLast: orNull(length(0, CONTACT_CHARS_MAX)),
  contactEmail: about(orNull(length(0, EMAIL_CHARS_MAX)), 'Where invitations go.'),
  referenceId: about(orNull(length(0, REFERENCE_CHARS_MAX)), "The caller's own identifier."),
};

const INVITE: Schema = { type: ['boolean', 'null'] };

export const MERCHANT_CREATE: Schema = closedObject(BLOCK_REQUIRED, {
  ...BLOCK_OPTIONAL,
  merchantType: choiceOrNull(TYPE_NAMES, 'provider unless given; connected and offline are old '
    + 'names of provider and self-managed.'),
  merchant_type: choiceOrNull(TYPE_NAMES, 'Another spelling of merchantType.'),
  sendProviderInvite: about(INVITE, 'false unless given; ignored for self-managed merchants.'),
});

export const MERCHANT_UPDATE: Schema = {
  ...closedObject({ merchantId: ID }, {
    update: {
      ...closedObject(BLOCK_REQUIRED, BLOCK_OPTIONAL), type: ['object', 'null'],
      description: 'Replaces name and contacts as a whole: what is left out is removed.',
    },
    setMerchantType: choiceOrNull(TYPE_NAMES, 'The type to switch to.'),
    sendProviderInvite: about(INVITE, 'true unless given; acts on a switch to provider.'),
  }),
  description: 'At least one of update and setMerchantType.',
};

export const MERCHANT_ID: Schema = closedObject({ merchantId: ID });

const RESULT: Members = { merchantId: ID, message: TEXT, status: { const: 'success' } };

export const MERCHANT_RESULT: Schema = object(RESULT);

export const MERCHANT: Schema = object(
  { merchantId: ID, merchantName: TEXT, status: oneOf(MERCHANT_STATUSES) },
  { contactFirst: TEXT, contactLast: TEXT, contactEmail: TEXT, referenceId: TEXT },
);

export const MERCHANT_LIST: Schema = list(MERCHANT);

const CREDENTIALS_MEMBERS: Members = {
  apiKey: length(1, API_KEY_CHARS_MAX), connectionId: length(1, CONNECTION_CHARS_MAX),
};

export const CREDENTIALS: Schema = object(CREDENTIALS_MEMBERS);

export const CREDENTIALS_SET: Schema = closedObject({ merchantId: ID, ...CREDENTIALS_MEMBERS });

const LOCATION_INPUT: Schema = closedObject({
  line1: length(1, LINE_CHARS_MAX),
  city: length(1, CITY_CHARS_MAX),
  state: about(length(1, STATE_CHARS_MAX), 'Code or name.'),
  zip: length(1, ZIP_CHARS_MAX),
}, {
  name: about(orNull(length(0, LABEL_CHARS_MAX)), 'A label.'),
  line2: orNull(length(0, LINE_CHARS_MAX)),
  countryCode: choiceOrNull(['US'], 'US unless given.'),
});

const KIND = choiceOrNull(['physical'], 'The only kind there is.');

export const NEXUS_CREATE: Schema = closedObject(
  { merchantId: ID, locations: { ...list(LOCATION_INPUT), minItems: 1, maxItems: LOCATIONS_MAX } },
  { nexusType: KIND },
);
export const NEXUS_LIST: Schema = closedObject({ merchantId: ID }, { nexusType: KIND });
export const NEXUS_UPDATE: Schema =
  closedObject({ merchantId: ID, locationId: ID, location: LOCATION_INPUT });
export const NEXUS_DELETE: Schema = closedObject({ merchantId: ID, locationId: ID });

const LOCATION: Schema = object({
  locationId: ID,
  nexusType: { const: 'physical' },
  line1: TEXT,
  city: TEXT,
  state: { type: 'string', pattern: '^[A-Z]{2}$' },
  zip: about(TEXT, 'With the four digits where they are known.'),
  countryCode: { const: 'US' },
  normalizedAddress: TEXT,
  geoLat: about(NUMBER, '0 where no door was found.'),
  geoLng: about(NUMBER, '0 where no door was found.'),
  createdAt: MOMENT,
  updatedAt: MOMENT,
}, { name: TEXT, line2: TEXT });

export const NEXUS_CREATED: Schema = object({ ...RESULT, locations: list(LOCATION) });
export const NEXUS_LISTED: Schema = object({ merchantId: ID, locations: list(LOCATION) });
export const NEXUS_UPDATED: Schema = object({ ...RESULT, location: LOCATION });
export const NEXUS_DELETED: Schema = object({ ...RESULT, locationId: ID });
