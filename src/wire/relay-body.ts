/**
 * Bodies that are relayed to the compliance provider: the members that are documented are checked,
 * others are let through, since the provider may know more than this version does.
 */
import type { EndpointName } from '../provider/endpoint.js';
import { text, VALIDATION_FAILED, type BodyProblem, type FieldRule } from './body-rule.js';
import { parseInstant } from './instant.js';
import { CARTS_MAX } from './merchant-cart.js';
import { compileCheck, type BodyError } from './validation.js';

/** Length of what names an order, a cart, a certificate or a customer. */
export const PROVIDER_ID_CHARS_MAX = 50;
export const PROVIDER_QUANTITY_MAX = 99_999.9999;
export const CERTIFICATE_PAGE_MAX = 100;
export const CURSOR_CHARS_MAX = 255;
export const LINE_INDEX_MAX = 500;
export const TIC_MAX = 100_000;
export const CUSTOMER_NAME_CHARS_MAX = 255;
export const REASON_CHARS_MAX = 20;
/** Longest line1 and line2, city, state and ZIP of an address, in characters. */
export const ADDRESS_CHARS = { line: 128, city: 50, state: 32, zip: 16 } as const;
export const ADDRESS_COUNTRIES = ['US', 'CA'] as const;
export const CURRENCIES = ['USD', 'CAD'] as const;
export const ORDER_KINDS = ['order', 'credit'] as const;
export const CERTIFICATE_ORDERS = ['createdDate', 'id'] as const;

/** Words in `expand`, of which there is one. */
const EXPANDS_MAX = 1;

const OPTIONAL = { optional: true };
const ID = text(1, PROVIDER_ID_CHARS_MAX);
const FLAG: FieldRule = { type: 'boolean', ...OPTIONAL };
const DAY = /^\d{4}-\d{2}-\d{2}$/;

function isDate(value: string): boolean {
  return parseInstant(DAY.test(value) ? `${value}T00:00:00Z` : value) !== null;
}

function date(optional: boolean): FieldRule {
  return {
    type: 'string', optional,
    custom: (value: unknown, errors: { readonly type: string; readonly actual: unknown }[]) => {
      if (typeof value === 'string' && !isDate(value)) {
        errors.push({ type: 'dateText', actual: value });
      }
      return value;
    },
  };
}

function oneOf(values: readonly string[], optional = false): FieldRule {
  return { type: 'enum', values: [...values], optional };
}

function object(props: Readonly<Record<string, FieldRule>>, optional = false): FieldRule {
  return { type: 'object', props, optional };
}

const CURRENCY = object({ currencyCode: oneOf(CURRENCIES, true) });
const ADDRESS = object({
  line1: text(1, ADDRESS_CHARS.line), line2: text(0, ADDRESS_CHARS.line, OPTIONAL),
  city: text(1, ADDRESS_CHARS.city), state: text(1, ADDRESS_CHARS.state),
  zip: text(1, ADDRESS_CHARS.zip), countryCode: oneOf(ADDRESS_COUNTRIES, true),
});
const QUANTITY: FieldRule = { type: 'number', min: 0, max: PROVIDER_QUANTITY_MAX };
const EXEMPTION = object({ exemptionId: text(0, 255, OPTIONAL), isExempt: FLAG }, true);
const DISCOUNTS: FieldRule = { type: 'object', ...OPTIONAL };
const KIND = oneOf(ORDER_KINDS, true);

const LINE = {
  index: { type: 'number', integer: true, min: 0, max: LINE_INDEX_MAX },
  itemId: ID,
  price: { type: 'number', min: 0 },
  quantity: QUANTITY,
  tic: { type: 'number', integer: true, min: 0, max: TIC_MAX, ...OPTIONAL },
  productId: { type: 'string', ...OPTIONAL },
} as const satisfies Readonly<Record<string, FieldRule>>;

const TAX = object({ rate: { type: 'number', min: 0 }, amount: { type: 'number' } });

const SALE = {
  customerId: ID, currency: CURRENCY, origin: ADDRESS, destination: ADDRESS,
  deliveredBySeller: FLAG, discounts: DISCOUNTS, exemption: EXEMPTION,
};

/** What a certificate's holder does (contract, 11). */
export const BUSINESS_TYPES = [
  'AccommodationAndFoodServices', 'AgriculturalForestryFishingHunting', 'Construction',
  'FinanceAndInsurance', 'InformationPublishingAndCommunications', 'Manufacturing', 'Mining',
  'RealEstate', 'RentalAndLeasing', 'RetailTrade', 'TransportationAndWarehousing', 'Utilities',
  'WholesaleTrade', 'BusinessServices', 'ProfessionalServices', 'EducationAndHealthCareServices',
  'NonprofitOrganization', 'Government', 'NotABusiness', 'Other',
] as const;

/** Why it is exempt. */
export const EXEMPTION_REASONS = [
  'FederalGovernment', 'StateOrLocalGovernment', 'TribalGovernment', 'ForeignDiplomat',
  'CharitableOrganization', 'EducationalOrganization', 'ReligiousOrganization', 'Resale',
  'AgriculturalProduction', 'IndustrialProductionOrManufacturing', 'DirectPayPermit',
  'DirectMail', 'Other',
] as const;

type Rules = Readonly<Record<string, FieldRule>>;

/** The members of each body beside `merchantId` and the ids of the path. */
const BODIES: Readonly<Record<EndpointName, Rules>> = {
  'cart/calculate': {
    transactionDate: date(true),
    items: {
      type: 'array', min: 1, max: CARTS_MAX,
      items: object({
        ...SALE, cartId: text(1, PROVIDER_ID_CHARS_MAX, OPTIONAL),
        lineItems: { type: 'array', items: object(LINE) },
      }),
    },
  },
  'order/create-from-cart': { completed: FLAG, completedDate: date(true), kind: KIND },
  'order/create': {
    ...SALE, transactionDate: date(false), completedDate: date(false),
    lineItems: { type: 'array', items: object({ ...LINE, tax: TAX }) },
    batchId: { type: 'string', ...OPTIONAL }, channel: { type: 'string', ...OPTIONAL },
    excludeFromFiling: FLAG, kind: KIND,
  },
  'order/get': {
    expand: [
      { type: 'enum', values: ['refunds'], ...OPTIONAL },
      { type: 'array', enum: ['refunds'], max: EXPANDS_MAX, ...OPTIONAL },
    ],
  },
  'order/update': { completedDate: date(true) },
  'refund/create': {
    items: { type: 'array', items: object({ itemId: ID, quantity: QUANTITY }), ...OPTIONAL },
    returnedDate: date(true), batchId: { type: 'string', ...OPTIONAL },
  },
  'cert/create': {
    customerId: ID,
    customerName: text(1, CUSTOMER_NAME_CHARS_MAX),
    customerBusinessType: oneOf(BUSINESS_TYPES),
    customerBusinessDescription: text(0, CUSTOMER_NAME_CHARS_MAX, OPTIONAL),
    reason: oneOf(EXEMPTION_REASONS),
    reasonDescription: text(0, REASON_CHARS_MAX),
    address: ADDRESS,
    states: { type: 'array', min: 1, items: object({ abbreviation: text(2, 2) }) },
    singlePurchase: FLAG,
  },
  'cert/get': {},
  'cert/delete': {},
  'cert/list': {
    customerId: text(1, PROVIDER_ID_CHARS_MAX, OPTIONAL),
    cursor: text(0, CURSOR_CHARS_MAX, OPTIONAL),
    limit: { type: 'number', integer: true, min: 0, max: CERTIFICATE_PAGE_MAX, ...OPTIONAL },
    sortBy: oneOf(CERTIFICATE_ORDERS, true), ascending: FLAG, disabled: FLAG,
  },
};

type Check = ReturnType<typeof compileCheck>;

const CHECKS: ReadonlyMap<string, Check> = new Map(Object.entries(BODIES)
  .map(([name, rules]): [string, Check] => [name, compileCheck(rules)]));

const ID_CHECK = compileCheck({ id: ID });

/** Ids go into the provider's paths, where a dot or two would lead elsewhere. */
function idErrors(value: unknown, name: string): readonly BodyError[] {
  if (value === '.' || value === '..') {
    return [{ location: `body.${name}`, message: 'expected an id', value }];
  }
  return ID_CHECK({ id: value }).map(({ message, ...error }) => ({
    ...error, location: `body.${name}`,
    message: message.replace('required property id', `required property ${name}`),
  }));
}

/** What is wrong with a body; null when it may be relayed. Broken ids are 400, the rest 422. */
export function relayProblem(
  name: EndpointName, ids: readonly string[], body: Readonly<Record<string, unknown>>,
): BodyProblem | null {
  const broken = ids.flatMap((id) => idErrors(body[id], id));
  if (broken.length > 0) {
    const names = ids.filter((id) => broken.some(({ location }) => location === `body.${id}`));
    return {
      status: 400, errors: broken,
      detail: `${names.join(' and ')} must be a text of 1 to ${PROVIDER_ID_CHARS_MAX} characters.`,
    };
  }
  const errors = CHECKS.get(name)?.(body) ?? [];
  return errors.length === 0 ? null : { status: 422, detail: VALIDATION_FAILED, errors };
}
