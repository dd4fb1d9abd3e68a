/** By which counter a message is counted, and whether its merchant may have carts here. */
import { fail, type Failure } from '../../failure.js';
import { memberName, memberValue } from '../../base/json-member.js';
import type { KeyRecord } from '../../store/format.js';
import { PLAN_FEATURES } from '../../store/plan.js';
import type { FindMerchant } from '../run/kind.js';

/** Messages of one class travel together. */
export interface MessageClass {
  /** Counts as a merchant operation and not as a lookup. */
  readonly merchant: boolean;
  /** Refused whatever else it says. */
  readonly refusal: Failure | null;
}

const MEMBER = memberName('merchantId');
const UUID = /^"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"$/i;

const LOOKUP: MessageClass = { merchant: false, refusal: null };
const MERCHANT: MessageClass = { merchant: true, refusal: null };

function refusing(sentence: string): MessageClass {
  const detail = `Parameter ${MEMBER.text}: ${sentence}`;
  return { merchant: true, refusal: fail('invalid-format', detail, 'merchantId') };
}

const NO_UUID = refusing('a UUID.');
const FOREIGN = refusing('the merchant is not one of this account.');
const RELAYED = refusing('the merchant is connected to the compliance provider; its carts go to '
  + 'POST /merchant/cart/calculate.');
const NO_PLAN: MessageClass = {
  merchant: true,
  refusal: fail('feature-not-enabled', 'Merchants need the Pro or Enterprise plan.'),
};

/** The class of a message; whether it is JSON at all is the worker's affair. */
export function classOf(bytes: Buffer, key: KeyRecord, findMerchant: FindMerchant): MessageClass {
  if (!bytes.includes(MEMBER.bytes)) return LOOKUP;
  const value = memberValue(bytes, MEMBER);
  if (value === null) return LOOKUP;
  const text = Buffer.from(value).toString('latin1');
  if (text === 'null') return LOOKUP;
  if (!PLAN_FEATURES[key.plan].merchants) return NO_PLAN;
  if (!UUID.test(text)) return NO_UUID;
  const merchant = findMerchant(key.account, text.slice(1, -1).toLowerCase());
  if (merchant === null) return FOREIGN;
  return merchant.type === 'provider' ? RELAYED : MERCHANT;
}
