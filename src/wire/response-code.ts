/**
 * Response codes of lookups: the code, status and sentence of each failure, and the envelopes
 * around them.
 */
import type { Failure, FailureKind } from '../failure.js';
import { type ApiVersion, type Format, jsonMembers, type WireObject, xmlMembers } from './tree.js';

interface ResponseCode<Http extends number = number> {
  readonly code: number;
  readonly name: string;
  readonly http: Http;
  readonly message: string;
}

function coded<Http extends number>(
  code: number,
  name: string,
  http: Http,
  message: string,
): ResponseCode<Http> {
  return { code, name: `RESPONSE_CODE_${name}`, http, message };
}

function unparsable(code: number, name: string, what: string): ResponseCode<422> {
  return coded(
    code,
    name,
    422,
    `The provided ${what} is not in a valid format parsable by the API.`,
  );
}

export const SUCCESS = coded(100, 'SUCCESS', 200, 'Successful API Request.');
const API_ERROR = coded(106, 'API_ERROR', 500, 'Unknown API error.');

/**
 * The type makes the table complete: a new kind of failure does not compile until it has a code.
 * The type also contains each status, from which problem documents take theirs.
 */
export const RESPONSE_CODES = {
  'invalid-key': coded(101, 'INVALID_KEY', 401, 'Key format is not valid or key not found.'),
  'invalid-state': unparsable(102, 'INVALID_STATE', 'State'),
  'invalid-city': unparsable(103, 'INVALID_CITY', 'City'),
  'invalid-postal-code': unparsable(104, 'INVALID_POSTAL_CODE', 'Postal Code'),
  'invalid-format': coded(105, 'INVALID_FORMAT', 422, 'Query string format is not valid.'),
  internal: API_ERROR,
  'feature-not-enabled': coded(
    107,
    'FEATURE_NOT_ENABLED',
    405,
    'Requested feature or version not enabled for your current plan. ' +
      'Upgrade your plan to access this feature.',
  ),
  'rate-limited': coded(108, 'REQUEST_LIMIT_MET', 429, 'API request limit met.'),
  'address-incomplete': coded(
    109,
    'ADDRESS_INCOMPLETE',
    422,
    'The provided address is missing, incomplete, or not a valid address.',
  ),
  'no-result': coded(110, 'NO_RESULT', 422, 'Query parameters valid but no result found.'),
  'invalid-historical': coded(
    111,
    'INVALID_HISTORICAL',
    422,
    'The provided historical parameter is not in a valid format.',
  ),
  'international-not-enabled': coded(
    112,
    'INTERNATIONAL_NOT_ENABLED',
    403,
    'Lookups in this country are not enabled for your current plan.',
  ),
  'product-rules-not-enabled': coded(
    113,
    'PRODUCT_RULES_NOT_ENABLED',
    403,
    'Product rules by taxability code are not enabled for your current plan.',
  ),
  overloaded: { ...API_ERROR, http: 503 },
} as const satisfies Readonly<Record<FailureKind, ResponseCode>>;

/** Makes a sentence of a detail, which engine modules write as a clause. */
function sentence(detail: string): string {
  const text = detail.charAt(0).toUpperCase() + detail.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** The sentence of a failure's code, and its detail after it. */
export function failureMessage({ failure, detail }: Failure): string {
  const { message } = RESPONSE_CODES[failure];
  return detail === undefined || detail === '' ? message : `${message} ${sentence(detail)}`;
}

/** A response as lookups print it. */
type Told = Pick<ResponseCode, 'code' | 'name' | 'message'>;

/** The response for a failure. */
export function responseOf(failure: Failure): Told {
  const { code, name } = RESPONSE_CODES[failure.failure];
  return { code, name, message: failureMessage(failure) };
}

/** A refusal as rows of files and messages of streams print it. */
export interface RowRefusal {
  readonly code: number;
  readonly message: string;
  /** The member at fault; null where no single one is. */
  readonly field: string | null;
}

/** The refusal for a failure; `message` replaces the usual sentences. */
export function refusalOf(failure: Failure, message = failureMessage(failure)): RowRefusal {
  return { code: RESPONSE_CODES[failure.failure].code, message, field: failure.field };
}

// What surrounds the content of a lookup's answer: in v60, and around the rows of v10 to v50.

export const V60_XML_OPEN = '<?xml version="1.0" encoding="UTF-8"?>\n<response>';
export const V60_XML_CLOSE = '</response>';

/** A body in the current envelope, in either format. */
export function currentText(envelope: WireObject, format: Format): string {
  return format === 'json'
    ? `{${jsonMembers(envelope)}}`
    : `${V60_XML_OPEN}${xmlMembers(envelope)}${V60_XML_CLOSE}`;
}

/** The member `metadata` of every v60 answer but the postal list. */
export function metadata(
  { code, name, message }: Told,
  baseUrl: string,
  situs?: WireObject,
): WireObject {
  const definition = `${baseUrl}/request/v60/schema`;
  return {
    metadata: {
      version: 'v60',
      response: { code, name, message, definition },
      ...(situs === undefined ? {} : { situs }),
    },
  };
}

export const LEGACY_XML_OPEN = '<?xml version="1.0" encoding="UTF-8" ?>\n<taxrates>';
export const LEGACY_XML_CLOSE = '</taxrates>';

/**
 * The beginning of a body as XML, where rCode, rName and rMessage are `code`, `name` and `message`.
 */
export function legacyXmlHead(
  version: number,
  code: number,
  name: string,
  message: string,
): string {
  const named = name === '' ? {} : { name };
  return xmlMembers({ version: `v${version}`, code, ...named, message });
}

/** The part of a success before the first row. */
export function legacyOpen(version: ApiVersion, format: Format): string {
  // The element `message` was deprecated early: on success it is empty, and there is no `name`.
  if (format === 'xml') return LEGACY_XML_OPEN + legacyXmlHead(version, SUCCESS.code, '', '');
  const head = jsonMembers({
    version: `v${version}`,
    rCode: SUCCESS.code,
    rName: SUCCESS.name,
    rMessage: SUCCESS.message,
  });
  return `{${head},"results":[`;
}

/** The part of a success after the last row; `members` are further members, printed, or nothing. */
export function legacyClose(members: string, format: Format): string {
  if (format === 'xml') return members + LEGACY_XML_CLOSE;
  return members === '' ? ']}' : `],${members}}`;
}
