/**
 * Finds the merchant that a body of carts is for, and which merchants may have carts calculated
 * here.
 */
import { Buffer } from 'node:buffer';
import { bufferOf } from '../../base/growing-bytes.js';
import { memberName, memberValue } from '../../base/json-member.js';
import { parsedText } from '../../base/json-object.js';
import { problem } from '../../base/problem.js';
import { UUID, UUID_JSON } from '../../base/uuid.js';
import { StoreFault } from '../../store/fault.js';
import type { MerchantRecord } from '../../store/merchants.js';

/** Length of a UUID in quotes whose characters are all written as escapes. */
const MERCHANT_ID_BYTES_MAX = 218;

const MERCHANT_ID = memberName('merchantId');
/** Ids in lower case, as they are stored and mostly sent; such an id needs no conversion. */
const KEPT_ID_JSON = new RegExp(UUID_JSON.source);

/**
 * The last id in lower case that was read, and its JSON, since shops send one cart after another.
 */
let last = { json: Buffer.alloc(0), id: '' };

/** The merchant that a body names; null when it names none. */
export function merchantIdOf(body: Uint8Array): string | null {
  const value = memberValue(body, MERCHANT_ID);
  if (value === null || value.length > MERCHANT_ID_BYTES_MAX) return null;
  const bytes = bufferOf(value);
  if (last.json.equals(bytes)) return last.id;
  const text = bytes.toString('latin1');
  if (KEPT_ID_JSON.test(text)) {
    last = { json: Buffer.from(bytes), id: text.slice(1, -1) };
    return last.id;
  }
  const id = parsedText(bytes.toString('utf8'));
  return typeof id === 'string' && UUID.test(id) ? id.toLowerCase() : null;
}

/**
 * Finds a merchant of an account that is not deleted. Null for an unknown, deleted or foreign one,
 * so that nothing is learned of it.
 */
export type FindMerchant = (account: string, merchantId: string) => MerchantRecord | null;

/** The refusals for a merchant whose carts are not calculated here, as requests or in files. */
export const MERCHANT_REFUSALS = {
  foreign: problem(403, 'The merchant is not one of this account.'),
  relayed: problem(
    403,
    'The merchant is connected to the compliance provider; its carts go to ' +
      'POST /merchant/cart/calculate.',
  ),
  /** Another server may have created the merchant a moment ago. */
  untold: problem(503, new StoreFault('behind').detail),
} as const;
export type MerchantRefusal = keyof typeof MERCHANT_REFUSALS;

/** Why carts of a merchant are not calculated here; null where they are. */
export function merchantRefusal(
  findMerchant: FindMerchant,
  account: string,
  merchantId: string,
): MerchantRefusal | null {
  try {
    const merchant = findMerchant(account, merchantId);
    if (merchant === null) return 'foreign';
    return merchant.type === 'provider' ? 'relayed' : null;
  } catch (error) {
    if (error instanceof StoreFault) return 'untold';
    throw error;
  }
}
