/** Response codes of lookups: what each failure is on the wire. */
import type { Failure, FailureKind } from '../failure.js';

export interface ResponseCode {
  readonly code: number;
  readonly name: string;
  readonly http: number;
  readonly message: string;
}

export const SUCCESS: ResponseCode = {
  code: 100, name: 'RESPONSE_CODE_SUCCESS', http: 200, message: 'Successful API Request.',
};

const API_ERROR = {
  code: 106, name: 'RESPONSE_CODE_API_ERROR', http: 500, message: 'Unknown API error.',
} as const;

/** The table is exhaustive: a new kind of failure does not compile until it has a code. */
export const RESPONSE_CODES: Readonly<Record<FailureKind, ResponseCode>> = {
  'invalid-key': {
    code: 101, name: 'RESPONSE_CODE_INVALID_KEY', http: 401,
    message: 'Key format is not valid or key not found.',
  },
  'invalid-state': {
    code: 102, name: 'RESPONSE_CODE_INVALID_STATE', http: 422,
    message: 'The provided State is not in a valid format parsable by the API.',
  },
  'invalid-city': {
    code: 103, name: 'RESPONSE_CODE_INVALID_CITY', http: 422,
    message: 'The provided City is not in a valid format parsable by the API.',
  },
  'invalid-postal-code': {
    code: 104, name: 'RESPONSE_CODE_INVALID_POSTAL_CODE', http: 422,
    message: 'The provided Postal Code is not in a valid format parsable by the API.',
  },
  'invalid-format': {
    code: 105, name: 'RESPONSE_CODE_INVALID_FORMAT', http: 422,
    message: 'Query string format is not valid.',
  },
  internal: API_ERROR,
  'feature-not-enabled': {
    code: 107, name: 'RESPONSE_CODE_FEATURE_NOT_ENABLED', http: 405,
    message: 'Requested feature or version not enabled for your current plan. '
      + 'Upgrade your plan to access this feature.',
  },
  'rate-limited': {
    code: 108, name: 'RESPONSE_CODE_REQUEST_LIMIT_MET', http: 429,
    message: 'API request limit met.',
  },
  'address-incomplete': {
    code: 109, name: 'RESPONSE_CODE_ADDRESS_INCOMPLETE', http: 422,
    message: 'The provided address is missing, incomplete, or not a valid address.',
  },
  'no-result': {
    code: 110, name: 'RESPONSE_CODE_NO_RESULT', http: 422,
    message: 'Query parameters valid but no result found.',
  },
  'invalid-historical': {
    code: 111, name: 'RESPONSE_CODE_INVALID_HISTORICAL', http: 422,
    message: 'The provided historical parameter is not in a valid format.',
  },
  'international-not-enabled': {
    code: 112, name: 'RESPONSE_CODE_INTERNATIONAL_NOT_ENABLED', http: 403,
    message: 'Lookups in this country are not enabled for your current plan.',
  },
  'product-rules-not-enabled': {
    code: 113, name: 'RESPONSE_CODE_PRODUCT_RULES_NOT_ENABLED', http: 403,
    message: 'Product rules by taxability code are not enabled for your current plan.',
  },
  overloaded: { ...API_ERROR, http: 503 },
};

/** A detail as a sentence: engine modules write them as clauses. */
function sentence(detail: string): string {
  const text = detail.charAt(0).toUpperCase() + detail.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** The standard message of a failure's code with the detail of this one. */
export function failureMessage({ failure, detail }: Failure): string {
  const { message } = RESPONSE_CODES[failure];
  return detail === undefined || detail === '' ? message : `${message} ${sentence(detail)}`;
}
