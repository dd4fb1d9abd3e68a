/**
 * The shapes of bodies of merchant operations, and the check that bodies of other operations go
 * through too. Null counts as absent, and so does empty contact text.
 */
import {
  asciiText,
  checkOf,
  choice,
  closed,
  flag,
  optional,
  pathText,
  text,
  textThat,
  told,
  uuid,
  type Of,
  type Shape,
} from '../../base/shape.js';
import { invalid, isProblem, problem, type Problem } from '../../base/problem.js';
import { type BodyError, isFaultless } from '../../base/validator.js';
import { isMailAddress } from '../../base/mail-address.js';

/** The problem for one member at fault. */
export function violation(location: string, message: string, value?: unknown): Problem {
  return invalid(value === undefined ? { location, message } : { location, message, value });
}

interface BodyOptions {
  /** Members that are ids of this service; a malformed one is a 400. */
  readonly ids?: readonly string[];
  /** Whether the body has secrets, so that no value is repeated in a problem. */
  readonly secret?: boolean;
}

type Checked<T> = { readonly value: T } | Problem;

function withoutValue({ location, message }: BodyError): BodyError {
  return { location, message };
}

/** Compiles the check of a body of a shape. */
export function bodyCheck<T>(
  shape: Shape<T>,
  { ids = [], secret = false }: BodyOptions = {},
): (input: unknown) => Checked<T> {
  const check = checkOf(shape);
  const idLocations = new Set(ids.map((name) => `body.${name}`));
  return (input) => {
    const errors = check(input);
    if (isFaultless<T>(input, errors)) return { value: input };
    const broken = errors.filter(({ location }) => idLocations.has(location));
    if (broken.length === 0) {
      return invalid(...(secret ? errors.map(withoutValue) : errors));
    }
    const names = broken.map(({ location }) => location.slice('body.'.length));
    return problem(400, `${names.join(' and ')} must be a UUID.`, broken.map(withoutValue));
  };
}

const MERCHANT_NAME_CHARS_MAX = 255;
const CONTACT_CHARS_MAX = 255;
/** RFC 5321 allows 254 characters. */
const EMAIL_CHARS_MAX = 254;
const REFERENCE_CHARS_MAX = 255;
export const API_KEY_CHARS_MAX = 255;
export const CONNECTION_CHARS_MAX = 255;

/** Merchant types by all their names; the last two names are deprecated. */
const TYPES = {
  provider: 'provider',
  'self-managed': 'self-managed',
  connected: 'provider',
  offline: 'self-managed',
} as const;
type TypeAsked = (typeof TYPES)[keyof typeof TYPES];

const TYPE_NAMES = ['provider', 'self-managed', 'connected', 'offline'] as const;

const TYPE = choice(TYPE_NAMES);

/** An e-mail address that mails can be sent to; empty text stands for none. */
const MAIL = textThat(
  (value) => value === '' || isMailAddress(value),
  'emailText',
  { type: 'string', minLength: 0, maxLength: EMAIL_CHARS_MAX },
  EMAIL_CHARS_MAX,
);

const BLOCK = {
  merchantName: text(1, MERCHANT_NAME_CHARS_MAX),
  contactFirst: optional(text(0, CONTACT_CHARS_MAX)),
  contactLast: optional(text(0, CONTACT_CHARS_MAX)),
  contactEmail: told(optional(MAIL), 'Where invitations go.'),
  referenceId: told(optional(text(0, REFERENCE_CHARS_MAX)), "The caller's own identifier."),
};
const BLOCK_SHAPE = closed(BLOCK);

/** Name and contact details of a merchant. */
interface BlockBody {
  readonly name: string;
  readonly contacts: { readonly first?: string; readonly last?: string; readonly email?: string };
  /** In an update, "" removes it, and without the member it stays as it is. */
  readonly referenceId?: string;
}

/** Whether a text has a value: absent, null and empty text do not. */
function isGiven(value: string | null | undefined): value is string {
  return value !== undefined && value !== null && value !== '';
}

function blockOf(raw: Of<typeof BLOCK_SHAPE>): BlockBody {
  const { merchantName: name, contactFirst, contactLast, contactEmail, referenceId } = raw;
  const contacts: { first?: string; last?: string; email?: string } = {};
  if (isGiven(contactFirst)) contacts.first = contactFirst;
  if (isGiven(contactLast)) contacts.last = contactLast;
  if (isGiven(contactEmail)) contacts.email = contactEmail;
  return isGiven(referenceId) ? { name, contacts, referenceId } : { name, contacts };
}

export interface CreateBody extends BlockBody {
  readonly type: TypeAsked;
  /** Always false for a self-managed merchant. */
  readonly invite: boolean;
}

export const MERCHANT_CREATE = closed({
  ...BLOCK,
  merchantType: told(
    optional(TYPE),
    'provider unless given; connected and offline are old ' + 'names of provider and self-managed.',
  ),
  merchant_type: told(optional(TYPE), 'Another spelling of merchantType.'),
  sendProviderInvite: told(
    optional(flag()),
    'false unless given; ignored for self-managed merchants.',
  ),
});

const checkCreate = bodyCheck(MERCHANT_CREATE);

/** Reads the body of create. */
export function parseCreate(input: unknown): CreateBody | Problem {
  const checked = checkCreate(input);
  if (isProblem(checked)) return checked;
  const { value } = checked;
  const { merchantType, merchant_type: alias } = value;
  if (merchantType && alias && TYPES[merchantType] !== TYPES[alias]) {
    return violation('body.merchant_type', 'expected the same as merchantType', alias);
  }
  const type = TYPES[merchantType ?? alias ?? 'provider'];
  const invite = type === 'provider' && value.sendProviderInvite === true;
  const { name, contacts, referenceId } = blockOf(value);
  return referenceId === undefined
    ? { name, contacts, type, invite }
    : { name, contacts, referenceId, type, invite };
}

export interface UpdateBody {
  readonly merchantId: string;
  readonly block?: BlockBody;
  readonly type?: TypeAsked;
  /** Whether a switch to the provider sends an invitation. */
  readonly invite: boolean;
}

export const MERCHANT_UPDATE = told(
  closed({
    merchantId: uuid(),
    update: told(
      optional(BLOCK_SHAPE),
      'Replaces name and contacts as a whole: what is left out is removed, ' +
        'but for referenceId, which stays.',
    ),
    setMerchantType: told(optional(TYPE), 'The type to switch to.'),
    sendProviderInvite: told(optional(flag()), 'true unless given; acts on a switch to provider.'),
  }),
  'At least one of update and setMerchantType.',
);

const checkUpdate = bodyCheck(MERCHANT_UPDATE, { ids: ['merchantId'] });

/** Reads the body of update, which has at least one of `update` and `setMerchantType`. */
export function parseUpdate(input: unknown): UpdateBody | Problem {
  const checked = checkUpdate(input);
  if (isProblem(checked)) return checked;
  const { merchantId, update, setMerchantType, sendProviderInvite } = checked.value;
  if (!update && !setMerchantType) {
    return violation('body', 'expected update or setMerchantType');
  }
  const body: { merchantId: string; invite: boolean; block?: BlockBody; type?: TypeAsked } = {
    merchantId: merchantId.toLowerCase(),
    invite: sendProviderInvite !== false,
  };
  if (update) {
    const block = blockOf(update);
    body.block = update.referenceId === '' ? { ...block, referenceId: '' } : block;
  }
  if (setMerchantType) body.type = TYPES[setMerchantType];
  return body;
}

export const MERCHANT_ID = closed({ merchantId: uuid() });
export type MerchantBody = Of<typeof MERCHANT_ID>;

const checkMerchant = bodyCheck(MERCHANT_ID, { ids: ['merchantId'] });

/** Reads a body that names a merchant and nothing else. */
export function parseMerchantBody(input: unknown): MerchantBody | Problem {
  const checked = checkMerchant(input);
  return isProblem(checked) ? checked : { merchantId: checked.value.merchantId.toLowerCase() };
}

export const CREDENTIALS_SET = closed({
  merchantId: uuid(),
  // ASCII only, since it is sent in a header field.
  apiKey: asciiText(1, API_KEY_CHARS_MAX),
  // A part of the provider's paths.
  connectionId: pathText(1, CONNECTION_CHARS_MAX),
});
export type CredentialsBody = Of<typeof CREDENTIALS_SET>;

const checkCredentials = bodyCheck(CREDENTIALS_SET, { ids: ['merchantId'], secret: true });

/** Reads the body of credentials/set. Its problems never repeat a value. */
export function parseCredentialsBody(input: unknown): CredentialsBody | Problem {
  const checked = checkCredentials(input);
  if (isProblem(checked)) return checked;
  const { merchantId, apiKey, connectionId } = checked.value;
  return { merchantId: merchantId.toLowerCase(), apiKey, connectionId };
}
