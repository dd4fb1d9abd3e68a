/** Whose carts a body holds, and which merchants may have carts calculated here. */
import { Buffer } from 'node:buffer';
import { bufferOf } from '../../base/growing-bytes.js';
import { memberName, memberValue } from '../../base/json-member.js';
import { parsedText } from '../../base/json-object.js';
import { problem } from '../../base/problem.js';
import { UUID, UUID_JSON } from '../../base/uuid.js';
import { StoreFault } from '../../store/fault.js';
import type { MerchantRecord } from '../../store/merchants.js';

/** A UUID in quotes, each of its characters written as an escape. */
const MERCHANT_ID_BYTES_MAX = 218;

const MERCHANT_ID = memberName('merchantId');
/** In lower case, as ids are kept and most often sent: such a text is taken as it is. */
const KEPT_ID_JSON = new RegExp(UUID_JSON.source);

/** The last id in lower case that was read, and its JSON: shops send one cart after another. */
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

/** A live merchant of an account; null for an unknown, foreign or deleted one alike. */
export type FindMerchant = (account: string, merchantId: string) => MerchantRecord | null;

/** What is said of a merchant whose carts are not calculated here, wherever they come from. */
export const MERCHANT_REFUSALS = {
  foreign: problem(403, 'The merchant is not one of this account.'),
  relayed: problem(
    403,
    'The merchant is connected to the compliance provider; its carts go to ' +
      'POST /merchant/cart/calculate.',
  ),
  /** Others may have made the merchant a moment ago. */
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
