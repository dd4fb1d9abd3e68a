/** Bodies of account metrics: each version's members, in its order. */
import type { Counts } from '../../store/usage-meter.js';
import { jsonMembers, type Decimal, type WireObject } from '../../wire/tree.js';
import { V60_XML_CLOSE, V60_XML_OPEN } from '../../wire/lookup-envelope.js';
import type { ApiVersion, Format } from '../../wire/version.js';
import { xmlMembers } from '../../wire/xml.js';

export interface AccountMetrics {
  /** Used in the current period. */
  readonly used: Counts;
  /** Allowed in a period; 0 is unmetered. */
  readonly limits: Counts;
  readonly geoEnabled: boolean;
  readonly active: boolean;
  /** How to change the plan or its limits. */
  readonly message: string;
}

/** Places after the point where a percentage does not end before. */
const PERCENT_DECIMALS = 12;

/**
 * A count in percent of its limit as an exact decimal, rounded half up only where it has no end
 * within twelve places. Doubles would print 15595 of 1000000 as 1.5595000000000003 or so.
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

/** Core and geocoded lookups apart, as up to v50. */
function apart({ used, limits, geoEnabled }: AccountMetrics): WireObject {
  return {
    ...counter('core_', used.core, limits.core),
    ...counter('geo_', used.geo, limits.geo),
    geo_enabled: geoEnabled,
  };
}

/** The members of a version; without a version the union of all, and merchant operations. */
export function metricsMembers(version: ApiVersion | null, metrics: AccountMetrics): WireObject {
  const { used, limits, active, message } = metrics;
  const end = { is_active: active, message };
  const unified = counter('', used.core, limits.core);
  if (version === 60) return { ...unified, ...end };
  if (version !== null) return { ...apart(metrics), ...end };
  const merchant = counter('merchant_', used.merchant, limits.merchant);
  return { ...unified, ...apart(metrics), ...merchant, ...end };
}

/** A body of the account operations in either format. */
export function accountBody(members: WireObject, format: Format): string {
  return format === 'json'
    ? `{${jsonMembers(members)}}`
    : `${V60_XML_OPEN}${xmlMembers(members)}${V60_XML_CLOSE}`;
}
