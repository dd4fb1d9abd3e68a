/** Whose a body of carts is, told without parsing it. */
import { memberName, memberValue } from '../../base/json-member.js';

/** A UUID in quotes, each of its characters written as an escape. */
const MERCHANT_ID_BYTES_MAX = 218;

const MERCHANT_ID = memberName('merchantId');
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const QUOTED_UUID = /^"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"$/;

/** The merchant that a body names; null when it names none. */
export function merchantIdOf(body: Uint8Array): string | null {
  const value = memberValue(body, MERCHANT_ID);
  if (value === null || value.length > MERCHANT_ID_BYTES_MAX) return null;
  const text = Buffer.from(value.buffer, value.byteOffset, value.length).toString('utf8');
  if (QUOTED_UUID.test(text)) return text.slice(1, -1);
  try {
    const id: unknown = JSON.parse(text);
    return typeof id === 'string' && UUID.test(id) ? id.toLowerCase() : null;
  } catch {
    return null;
  }
}
