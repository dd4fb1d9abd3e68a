/** What a bulk file says once for all its carts. */
import {
  CART_DEFAULTS, optionsOfQuery, type CartOptions,
} from '../../api/cart/options.js';
import { ADDRESS_CHARS_MAX, parseAddressLine } from '../../api/lookup/parameter-table.js';
import { isProblem } from '../../base/problem.js';
import type { BulkFormat, Defaults } from './chunk-payload.js';

/** Options of a file of carts beside those of every file. */
export const CART_PARAMETERS = ['merchantId', 'origin', 'rounding', 'explain'] as const;
export type CartParameter = (typeof CART_PARAMETERS)[number];

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** An option that cannot be used. */
export interface OptionProblem {
  readonly name: CartParameter;
  readonly detail: string;
}

/** The merchant of all carts, in lower case; null for carts of no merchant. */
export function merchantOf({ merchantId }: Defaults): string | null {
  return merchantId?.toLowerCase() ?? null;
}

function readOptions({ rounding, explain }: Defaults): ReturnType<typeof optionsOfQuery> {
  return optionsOfQuery(new URLSearchParams({
    ...(rounding === undefined ? {} : { rounding }), ...(explain === undefined ? {} : { explain }),
  }).toString());
}

/** Rounding and explanation that hold for carts without options of their own. */
export function cartOptions(defaults: Defaults): CartOptions {
  const options = readOptions(defaults);
  // Other values cannot come here: the front end has refused them before the first row.
  return isProblem(options) ? CART_DEFAULTS : options;
}

/** Tells options that would refuse every row. */
export function checkCartParameters(defaults: Defaults, input: BulkFormat): OptionProblem | null {
  const merchant = merchantOf(defaults);
  if (merchant !== null && !UUID.test(merchant)) {
    return { name: 'merchantId', detail: 'merchantId is a UUID.' };
  }
  const { origin } = defaults;
  if (origin !== undefined && input !== 'csv') {
    return { name: 'origin', detail: 'origin is for CSV; a cart in NDJSON has its own.' };
  }
  if (origin !== undefined && parseAddressLine(origin) === null) {
    return {
      name: 'origin', detail: `origin is an address of up to ${ADDRESS_CHARS_MAX} characters.`,
    };
  }
  const options = readOptions(defaults);
  const [error] = isProblem(options) ? options.errors ?? [] : [];
  if (error === undefined) return null;
  const name = error.location === 'query.explain' ? 'explain' : 'rounding';
  return { name, detail: `${name}: ${error.message}.` };
}
