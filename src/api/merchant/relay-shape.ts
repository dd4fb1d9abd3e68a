/**
 * Shapes of bodies that are relayed to the compliance provider. Documented members are checked;
 * others are passed on, since the provider may know more than this version does.
 */
import {
  anyText,
  checkOf,
  choice,
  flag,
  list,
  number,
  object,
  oneOrList,
  open,
  optional,
  text,
  textThat,
  told,
  uuid,
  whole,
  type Members,
  type Shape,
} from '../../base/shape.js';
import type { BodyError, Check } from '../../base/validator.js';
import { invalid, type Problem, problem } from '../../base/problem.js';
import { QUANTITY_MAX, TIC_MAX } from '../../engine/cart/outcome.js';
import { type EndpointName, PROVIDER_ENDPOINTS } from '../../provider/operation-call.js';
import { parseInstant } from '../../wire/instant.js';

/** Longest id of an order, a cart, a certificate or a customer, in characters. */
export const PROVIDER_ID_CHARS_MAX = 50;
/** Most carts in one request. */
export const CARTS_MAX = 100;
const CERTIFICATE_PAGE_MAX = 100;
const CURSOR_CHARS_MAX = 255;
export const LINE_INDEX_MAX = 500;
const CUSTOMER_NAME_CHARS_MAX = 255;
const REASON_CHARS_MAX = 20;
const EXEMPTION_CHARS_MAX = 255;
/** Longest line1 and line2, city, state and ZIP of an address, in characters. */
export const ADDRESS_CHARS = { line: 128, city: 50, state: 32, zip: 16 } as const;
const ADDRESS_COUNTRIES = ['US', 'CA'] as const;
const CURRENCIES = ['USD', 'CAD'] as const;
const ORDER_KINDS = ['order', 'credit'] as const;
const CERTIFICATE_ORDERS = ['createdDate', 'id'] as const;

/** Most words in `expand`; there is only one. */
const EXPANDS_MAX = 1;

const ID = text(1, PROVIDER_ID_CHARS_MAX);
const FLAG = optional(flag());
const DAY = /^\d{4}-\d{2}-\d{2}$/;

function isDate(value: string): boolean {
  return parseInstant(DAY.test(value) ? `${value}T00:00:00Z` : value) !== null;
}

const DATE = told(
  textThat(isDate, 'dateText', { type: 'string' }),
  'A date, or a date and time with its zone (RFC 3339).',
);

const TWO_LETTERS = /^[A-Za-z]{2}$/;
const LETTERS = textThat((value) => TWO_LETTERS.test(value), 'twoLetters', {
  type: 'string',
  maxLength: 2,
  pattern: TWO_LETTERS.source,
});

const CURRENCY = open({ currencyCode: optional(choice(CURRENCIES)) });
const ADDRESS = open({
  line1: text(1, ADDRESS_CHARS.line),
  line2: optional(text(0, ADDRESS_CHARS.line)),
  city: text(1, ADDRESS_CHARS.city),
  state: text(1, ADDRESS_CHARS.state),
  zip: text(1, ADDRESS_CHARS.zip),
  countryCode: optional(choice(ADDRESS_COUNTRIES)),
});
const QUANTITY = number({ min: 0, max: QUANTITY_MAX });
const EXEMPTION = open({ exemptionId: optional(text(0, EXEMPTION_CHARS_MAX)), isExempt: FLAG });
const KIND = optional(choice(ORDER_KINDS));

const PROVIDER_ONLY = 'For provider-connected merchants.';

const LINE = {
  index: whole({ min: 0, max: LINE_INDEX_MAX }),
  itemId: ID,
  price: told(number({ min: 0 }), 'Of one unit, in dollars.'),
  quantity: QUANTITY,
  tic: told(
    optional(whole({ min: 0, max: TIC_MAX })),
    'Product code; 10001 is shipping, 11000 handling.',
  ),
  productId: optional(anyText()),
};

const TAX = open({ rate: number({ min: 0 }), amount: number() });

const SALE = {
  customerId: ID,
  currency: CURRENCY,
  origin: ADDRESS,
  destination: ADDRESS,
  deliveredBySeller: FLAG,
  discounts: told(optional(object()), PROVIDER_ONLY),
  exemption: told(optional(EXEMPTION), PROVIDER_ONLY),
};

/** What the holder of a certificate does (contract, 11). */
export const BUSINESS_TYPES = [
  'AccommodationAndFoodServices',
  'AgriculturalForestryFishingHunting',
  'Construction',
  'FinanceAndInsurance',
  'InformationPublishingAndCommunications',
  'Manufacturing',
  'Mining',
  'RealEstate',
  'RentalAndLeasing',
  'RetailTrade',
  'TransportationAndWarehousing',
  'Utilities',
  'WholesaleTrade',
  'BusinessServices',
  'ProfessionalServices',
  'EducationAndHealthCareServices',
  'NonprofitOrganization',
  'Government',
  'NotABusiness',
  'Other',
] as const;

/** Why the holder of a certificate is exempt. */
export const EXEMPTION_REASONS = [
  'FederalGovernment',
  'StateOrLocalGovernment',
  'TribalGovernment',
  'ForeignDiplomat',
  'CharitableOrganization',
  'EducationalOrganization',
  'ReligiousOrganization',
  'Resale',
  'AgriculturalProduction',
  'IndustrialProductionOrManufacturing',
  'DirectPayPermit',
  'DirectMail',
  'Other',
] as const;

/** The members of a certificate, in requests and in the provider's answers. */
const CERTIFICATE = {
  customerId: ID,
  customerName: text(1, CUSTOMER_NAME_CHARS_MAX),
  customerBusinessType: choice(BUSINESS_TYPES),
  customerBusinessDescription: optional(text(0, CUSTOMER_NAME_CHARS_MAX)),
  reason: choice(EXEMPTION_REASONS),
  reasonDescription: text(0, REASON_CHARS_MAX),
  address: ADDRESS,
  states: list(open({ abbreviation: LETTERS }), { min: 1 }),
  singlePurchase: FLAG,
};

/** The members of each body, except `merchantId` and the ids of the path. */
export const RELAYED_BODIES = {
  'cart/calculate': {
    transactionDate: optional(DATE),
    items: list(
      open({
        ...SALE,
        cartId: optional(text(1, PROVIDER_ID_CHARS_MAX)),
        lineItems: list(open(LINE)),
      }),
      { min: 1, max: CARTS_MAX },
    ),
  },
  'order/create-from-cart': {
    completed: FLAG,
    completedDate: told(optional(DATE), 'Goes before completed.'),
    kind: KIND,
  },
  'order/create': {
    ...SALE,
    transactionDate: DATE,
    completedDate: DATE,
    lineItems: list(open({ ...LINE, tax: TAX })),
    batchId: optional(anyText()),
    channel: told(optional(anyText()), 'amazon, ebay and walmart are left out of filings.'),
    excludeFromFiling: FLAG,
    kind: KIND,
  },
  'order/get': {
    expand: told(
      optional(oneOrList(choice(['refunds']), { max: EXPANDS_MAX })),
      'refunds adds the refunds of the order.',
    ),
  },
  'order/update': { completedDate: optional(DATE) },
  'refund/create': {
    items: told(
      optional(list(open({ itemId: ID, quantity: QUANTITY }))),
      'None is the whole order.',
    ),
    returnedDate: optional(DATE),
    batchId: optional(anyText()),
  },
  'cert/create': CERTIFICATE,
  'cert/get': {},
  'cert/delete': {},
  'cert/list': {
    customerId: optional(text(1, PROVIDER_ID_CHARS_MAX)),
    cursor: optional(text(0, CURSOR_CHARS_MAX)),
    limit: optional(whole({ min: 0, max: CERTIFICATE_PAGE_MAX })),
    sortBy: optional(choice(CERTIFICATE_ORDERS)),
    ascending: FLAG,
    disabled: FLAG,
  },
} as const satisfies Readonly<Record<EndpointName, Members>>;

/** Shapes that the provider's answers share with requests. */
export const RELAYED_PARTS = {
  address: ADDRESS,
  currency: CURRENCY,
  exemption: EXEMPTION,
  tic: LINE.tic,
} as const;
export const CERTIFICATE_MEMBERS = CERTIFICATE;

/** The shape of a whole body, for the description of the interface. */
export function relayedShape(name: EndpointName): Shape<unknown> {
  const ids = PROVIDER_ENDPOINTS[name].ids.map((id) => [id, ID] as const);
  return open({ merchantId: uuid(), ...Object.fromEntries(ids), ...RELAYED_BODIES[name] });
}

const CHECKS: ReadonlyMap<string, Check> = new Map(
  Object.entries(RELAYED_BODIES).map(([name, members]): [string, Check] => [
    name,
    checkOf(open(members)),
  ]),
);

/** Checks of members that are ids, by name of the member. */
const ID_CHECKS = new Map<string, Check>();

function idCheck(name: string): Check {
  const check = ID_CHECKS.get(name) ?? checkOf(open({ [name]: ID }));
  ID_CHECKS.set(name, check);
  return check;
}

/** Ids become part of the provider's paths, where "." or ".." would lead elsewhere. */
function idErrors(value: unknown, name: string): readonly BodyError[] {
  if (value === '.' || value === '..') {
    return [{ location: `body.${name}`, message: 'expected an id other than . and ..', value }];
  }
  return idCheck(name)({ [name]: value });
}

/**
 * What is wrong with a body; null when it may be relayed. Malformed ids are a 400, all else a 422.
 */
export function relayProblem(
  name: EndpointName,
  ids: readonly string[],
  body: Readonly<Record<string, unknown>>,
): Problem | null {
  const broken = ids.flatMap((id) => idErrors(body[id], id));
  if (broken.length > 0) {
    const names = ids.filter((id) => broken.some(({ location }) => location === `body.${id}`));
    return problem(
      400,
      `${names.join(' and ')} must be a text of 1 to ${PROVIDER_ID_CHARS_MAX} characters.`,
      broken,
    );
  }
  const errors = CHECKS.get(name)?.(body) ?? [];
  return errors.length === 0 ? null : invalid(...errors);
}
