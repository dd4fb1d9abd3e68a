/**
 * GET /account/metrics and /account/v10/metrics … v60: what a key has used in this calendar month
 * (UTC). The request does not count in the rate window and is never refused because of it, so that
 * a client that has reached its limit can still find out why.
 */
import { invalid } from '../../base/problem.js';
import { KEY_HEADER, presentedKey } from '../../http/api-key.js';
import { rateFields } from '../../http/rate-limit.js';
import { type Gate, gateRules, Refused } from '../../http/gate.js';
import { problemReply } from '../../http/problem-reply.js';
import {
  type Fields,
  headOf,
  JSON_TYPE,
  type Reply,
  type Request,
  XML_TYPE,
} from '../../http/reply.js';
import type { Route } from '../../http/router.js';
import type { KeyRecord } from '../../store/format.js';
import { isKeyText } from '../../store/keys.js';
import { ENTITLEMENTS } from '../../store/plan.js';
import { type Counts, NO_COUNTS } from '../../store/usage-meter.js';
import { currentText } from '../../wire/response-code.js';
import { type Decimal, type WireObject, API_VERSIONS, type ApiVersion } from '../../wire/tree.js';
import { decodeValue, formatStated } from '../lookup/query-string.js';

export interface AccountMetrics {
  /** Used in the current month. */
  readonly used: Counts;
  /** Allowed in a month; 0 means no limit. */
  readonly limits: Counts;
  readonly geoEnabled: boolean;
  readonly active: boolean;
  /** How to change the plan or its limits. */
  readonly message: string;
}

/** Most decimals of a percentage. */
const PERCENT_DECIMALS = 12;

/**
 * A count as a percentage of its limit: an exact decimal, rounded half up if it needs more than
 * twelve places. Computed with doubles, 15595 of 1000000 could be printed as 1.5595000000000003.
 */
export function usagePercent(count: number, limit: number): Decimal {
  if (limit === 0) return { decimal: '0' };
  const divisor = BigInt(limit);
  const scaled = BigInt(count) * 100n * 10n ** BigInt(PERCENT_DECIMALS);
  const rounded = String((2n * scaled + divisor) / (2n * divisor));
  const digits = rounded.padStart(PERCENT_DECIMALS + 1, '0');
  const whole = digits.slice(0, -PERCENT_DECIMALS);
  const fraction = digits.slice(-PERCENT_DECIMALS).replace(/0+$/, '');
  return { decimal: fraction === '' ? whole : `${whole}.${fraction}` };
}

function counter(prefix: string, count: number, limit: number): WireObject {
  return {
    [`${prefix}request_count`]: count,
    [`${prefix}request_limit`]: limit,
    [`${prefix}usage_percent`]: usagePercent(count, limit),
  };
}

/** Core and geocoded lookups counted separately, as in versions up to v50. */
function apart({ used, limits, geoEnabled }: AccountMetrics): WireObject {
  return {
    ...counter('core_', used.core, limits.core),
    ...counter('geo_', used.geo, limits.geo),
    geo_enabled: geoEnabled,
  };
}

/**
 * The members of a version. Without a version, all members that any version has, and those for
 * merchant operations.
 */
export function metricsMembers(version: ApiVersion | null, metrics: AccountMetrics): WireObject {
  const { used, limits, active, message } = metrics;
  const end = { is_active: active, message };
  const unified = counter('', used.core, limits.core);
  if (version === 60) return { ...unified, ...end };
  if (version !== null) return { ...apart(metrics), ...end };
  const merchant = counter('merchant_', used.merchant, limits.merchant);
  return { ...unified, ...apart(metrics), ...merchant, ...end };
}

interface AccountServices {
  /** A gate that admits disabled keys too. */
  readonly gate: Gate;
  /** What a key has used in this month, by its id. */
  counts(id: string): Counts;
  /** Text that says how to change the plan. */
  readonly message: string;
}

const RULES = gateRules('/account/', { counted: false });

const MISSING = {
  error: 'API key is missing',
  message: 'Send the API key in the X-API-KEY header or in the key parameter.',
};

/** The metrics of a key; for an unknown key, zeros and inactive. */
function metricsOf(services: AccountServices, key: KeyRecord | null): AccountMetrics {
  const { message } = services;
  if (key === null) {
    return { used: NO_COUNTS, limits: NO_COUNTS, geoEnabled: false, active: false, message };
  }
  const { id, coreLimit, geoLimit, merchantLimit, grants, active } = key;
  return {
    used: services.counts(id),
    limits: { core: coreLimit, geo: geoLimit, merchant: merchantLimit },
    geoEnabled: (grants & ENTITLEMENTS.geo_enabled) !== 0,
    active,
    message,
  };
}

/**
 * Refuses a key that is malformed. Here that is a malformed parameter and not an unknown key: the
 * operation answers 200 for every key that could exist, and documents no 401. The key is not
 * repeated.
 */
function malformedKey(request: Request, fields: Fields): Reply {
  const location = request.header(KEY_HEADER) === '' ? 'query.key' : 'header.X-API-KEY';
  const error = { location, message: 'expected 10 to 100 characters' };
  return problemReply(invalid(error), request.path, fields);
}

/** The answer for a version, or for the path without a version. */
function metricsReply(
  services: AccountServices,
  version: ApiVersion | null,
  request: Request,
): Reply {
  const found = services.gate.enter(RULES, request);
  const unknown = found instanceof Refused;
  if (unknown && found.why.failure !== 'invalid-key') return services.gate.refusal(found, request);
  const key = unknown ? null : found.key;
  // A disabled key has no requests remaining.
  const fields = unknown || !found.key.active ? rateFields(0, 0) : found.fields;
  const { query } = found;
  const format = formatStated(query);
  const head = headOf(format === 'xml' ? XML_TYPE : JSON_TYPE, fields);
  if (unknown) {
    const { key: text } = presentedKey(request);
    if (text === '') return { status: 400, head, body: currentText(MISSING, format ?? 'json') };
    if (!isKeyText(text)) return malformedKey(request, fields);
  }
  if (format === null) {
    const value = decodeValue(/(?:^|&)format=([^&]*)/.exec(query)?.[1] ?? '') ?? '';
    const error = { location: 'query.format', message: 'expected json or xml', value };
    return problemReply(invalid(error), request.path, fields);
  }
  const members = metricsMembers(version, metricsOf(services, key));
  return { status: 200, head, body: currentText(members, format) };
}

/** The routes of account metrics. */
export function accountRoutes(services: AccountServices): readonly Route[] {
  return [null, ...API_VERSIONS].map(
    (version): Route => ({
      method: 'GET',
      path: version === null ? '/account/metrics' : `/account/v${version}/metrics`,
      bodyBytesMax: 0,
      deadlineMs: 0,
      ask: services.gate.asking(RULES),
      handle: (request, answer) => {
        answer.send(metricsReply(services, version, request));
      },
    }),
  );
}
