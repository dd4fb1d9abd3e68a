/** The rate fields of answers that no handler gives: unknown paths, wrong methods, faults. */
import { presentedKey } from './api-key.js';
import { LIMIT_HEADER, REMAINING_HEADER, type RateGate, type Rated } from './rate-limit.js';
import type { Fields, Request } from './reply.js';

/** What such an answer is about. */
export type Asking = Pick<Request, 'path' | 'query' | 'header'>;

export type RefusalFields = (asking: Asking) => Fields;

/** Families whose every answer tells the rate of the key. */
const KEYED = /^\/(?:request|account|search|calculate|merchant|bulk)(?:\/|$)/;

const NO_FIELDS: Fields = {};

/** The two rate fields; zeros where there is no key. */
export function rateFieldsOf(gate: RateGate, key: Rated | null): Fields {
  return {
    [LIMIT_HEADER]: key?.rate ?? 0,
    [REMAINING_HEADER]: key === null ? 0 : gate.remaining(key),
  };
}

/** Makes the fields of refusals; they take nothing from a window. */
export function refusalFields(
  findKey: (text: string) => Rated | null, gate: RateGate,
): RefusalFields {
  return (asking) => {
    if (!KEYED.test(asking.path)) return NO_FIELDS;
    return rateFieldsOf(gate, findKey(presentedKey(asking).key));
  };
}
