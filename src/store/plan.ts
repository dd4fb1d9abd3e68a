/** Plans and what they include. A key may be given more or less than its plan. */
import { bitsOf, namesOfBits } from './scope.js';

export const PLANS = ['starter', 'growth', 'pro', 'enterprise'] as const;
export type Plan = (typeof PLANS)[number];

/** Entitlements by their public names; the values are bits of a key's grants. */
export const ENTITLEMENTS = {
  geo_enabled: 1,
  rate_loc_can: 2,
  product_rates: 4,
  historical: 8,
} as const;
export type Entitlement = keyof typeof ENTITLEMENTS;

interface PlanFeatures {
  /** Limit of requests in a rolling minute. */
  readonly rate: number;
  readonly grants: number;
  /** Merchant operations, and reading whether credentials exist. */
  readonly merchants: boolean;
  /** Bulk files: their rows count for the quotas, but not for the rate. */
  readonly bulk: boolean;
  /** Setting and deleting credentials, and merchants of the provider type. */
  readonly provider: boolean;
}

const { geo_enabled, rate_loc_can, product_rates, historical } = ENTITLEMENTS;
const ALL = geo_enabled | rate_loc_can | product_rates | historical;

export const PLAN_FEATURES: Readonly<Record<Plan, PlanFeatures>> = {
  starter: { rate: 10, grants: geo_enabled, merchants: false, bulk: false, provider: false },
  growth: { rate: 100, grants: geo_enabled, merchants: false, bulk: false, provider: false },
  pro: { rate: 500, grants: ALL, merchants: true, bulk: true, provider: false },
  enterprise: { rate: 10_000, grants: ALL, merchants: true, bulk: true, provider: true },
};

/** Whether a text is the name of an entitlement. */
export function isEntitlement(text: string): text is Entitlement {
  return Object.hasOwn(ENTITLEMENTS, text);
}

/** The bits of some entitlements. */
export function grantsOf(entitlements: readonly Entitlement[]): number {
  return bitsOf(ENTITLEMENTS, entitlements);
}

/** The entitlements that bits stand for. */
export function entitlementsOf(grants: number): readonly Entitlement[] {
  return namesOfBits(ENTITLEMENTS, grants);
}
