/** Bodies of merchant operations. Null and absent are the same, and so is empty contact text. */
import {
  bodyCheck, email, flag, id, isBodyProblem, text, violation,
  type BodyProblem, type FieldRule,
} from './body-rule.js';

export const MERCHANT_NAME_CHARS_MAX = 255;
export const CONTACT_CHARS_MAX = 255;
/** RFC 5321 has room for 254. */
export const EMAIL_CHARS_MAX = 254;
export const REFERENCE_CHARS_MAX = 255;
export const API_KEY_CHARS_MAX = 255;
export const CONNECTION_CHARS_MAX = 255;

/** Merchant types by every name they go by; the last two are deprecated. */
const TYPES = {
  provider: 'provider',
  'self-managed': 'self-managed',
  connected: 'provider',
  offline: 'self-managed',
} as const;
type TypeName = keyof typeof TYPES;
export type TypeAsked = (typeof TYPES)[TypeName];

export const TYPE_NAMES = ['provider', 'self-managed', 'connected', 'offline'] as const;

function typeName(): FieldRule {
  return { type: 'enum', values: [...TYPE_NAMES], optional: true };
}

const BLOCK = {
  merchantName: text(1, MERCHANT_NAME_CHARS_MAX),
  contactFirst: text(0, CONTACT_CHARS_MAX, { optional: true }),
  contactLast: text(0, CONTACT_CHARS_MAX, { optional: true }),
  contactEmail: email(EMAIL_CHARS_MAX),
  referenceId: text(0, REFERENCE_CHARS_MAX, { optional: true }),
};

interface RawBlock {
  readonly merchantName: string;
  readonly contactFirst?: string | null;
  readonly contactLast?: string | null;
  readonly contactEmail?: string | null;
  readonly referenceId?: string | null;
}

/** Name and contact details. */
export interface BlockBody {
  readonly name: string;
  readonly contacts: { readonly first?: string; readonly last?: string; readonly email?: string };
  readonly referenceId?: string;
}

function member<Name extends string>(
  name: Name, value: string | null | undefined,
): { readonly [name in Name]?: string } {
  const members: { [name in Name]?: string } = {};
  if (value !== undefined && value !== null && value !== '') members[name] = value;
  return members;
}

function blockOf(raw: RawBlock): BlockBody {
  return {
    name: raw.merchantName,
    contacts: {
      ...member('first', raw.contactFirst),
      ...member('last', raw.contactLast),
      ...member('email', raw.contactEmail),
    },
    ...member('referenceId', raw.referenceId),
  };
}

export interface CreateBody extends BlockBody {
  readonly type: TypeAsked;
  /** Always false for a self-managed merchant. */
  readonly invite: boolean;
}

interface RawCreate extends RawBlock {
  readonly merchantType?: TypeName | null;
  readonly merchant_type?: TypeName | null;
  readonly sendProviderInvite?: boolean | null;
}

const checkCreate = bodyCheck<RawCreate>({
  ...BLOCK, merchantType: typeName(), merchant_type: typeName(), sendProviderInvite: flag(),
});

/** Reads the body of create. */
export function parseCreate(input: unknown): CreateBody | BodyProblem {
  const checked = checkCreate(input);
  if (isBodyProblem(checked)) return checked;
  const { value } = checked;
  const { merchantType, merchant_type: alias } = value;
  if (merchantType && alias && TYPES[merchantType] !== TYPES[alias]) {
    return violation('body.merchant_type', 'expected the same as merchantType', alias);
  }
  const type = TYPES[merchantType ?? alias ?? 'provider'];
  const invite = type === 'provider' && value.sendProviderInvite === true;
  return { ...blockOf(value), type, invite };
}

export interface UpdateBody {
  readonly merchantId: string;
  readonly block?: BlockBody;
  readonly type?: TypeAsked;
  /** Whether a switch to the provider sends an invitation. */
  readonly invite: boolean;
}

interface RawUpdate {
  readonly merchantId: string;
  readonly update?: RawBlock | null;
  readonly setMerchantType?: TypeName | null;
  readonly sendProviderInvite?: boolean | null;
}

const checkUpdate = bodyCheck<RawUpdate>({
  merchantId: id(),
  update: { type: 'object', strict: true, optional: true, props: BLOCK },
  setMerchantType: typeName(),
  sendProviderInvite: flag(),
}, { ids: ['merchantId'] });

/** Reads the body of update, which has at least one of `update` and `setMerchantType`. */
export function parseUpdate(input: unknown): UpdateBody | BodyProblem {
  const checked = checkUpdate(input);
  if (isBodyProblem(checked)) return checked;
  const { merchantId, update, setMerchantType, sendProviderInvite } = checked.value;
  if (!update && !setMerchantType) {
    return violation('body', 'expected update or setMerchantType');
  }
  return {
    merchantId: merchantId.toLowerCase(),
    ...(update ? { block: blockOf(update) } : {}),
    ...(setMerchantType ? { type: TYPES[setMerchantType] } : {}),
    invite: sendProviderInvite !== false,
  };
}

export interface MerchantBody {
  readonly merchantId: string;
}

const checkMerchant = bodyCheck<MerchantBody>({ merchantId: id() }, { ids: ['merchantId'] });

/** Reads a body that names a merchant and nothing else. */
export function parseMerchantBody(input: unknown): MerchantBody | BodyProblem {
  const checked = checkMerchant(input);
  return isBodyProblem(checked)
    ? checked : { merchantId: checked.value.merchantId.toLowerCase() };
}

export interface CredentialsBody extends MerchantBody {
  readonly apiKey: string;
  readonly connectionId: string;
}

const checkCredentials = bodyCheck<CredentialsBody>({
  merchantId: id(),
  // It travels in a header field.
  apiKey: text(1, API_KEY_CHARS_MAX, { ascii: true }),
  connectionId: text(1, CONNECTION_CHARS_MAX),
}, { ids: ['merchantId'], secret: true });

/** Reads the body of credentials/set. Its errors never repeat a value. */
export function parseCredentialsBody(input: unknown): CredentialsBody | BodyProblem {
  const checked = checkCredentials(input);
  if (isBodyProblem(checked)) return checked;
  const { merchantId, apiKey, connectionId } = checked.value;
  return { merchantId: merchantId.toLowerCase(), apiKey, connectionId };
}
