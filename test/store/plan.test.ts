import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  GRANT_ALL,
  GRANT_CANADA,
  GRANT_GEO,
  GRANT_HISTORICAL,
  GRANT_PRODUCT,
} from '../../src/pool/types.js';
import {
  ENTITLEMENTS,
  entitlementsOf,
  grantsOf,
  isEntitlement,
  PLAN_FEATURES,
} from '../../src/store/plan.js';

test('entitlements are the bits that the engine reads', () => {
  assert.deepEqual(ENTITLEMENTS, {
    geo_enabled: GRANT_GEO,
    rate_loc_can: GRANT_CANADA,
    product_rates: GRANT_PRODUCT,
    historical: GRANT_HISTORICAL,
  });
  assert.equal(PLAN_FEATURES.enterprise.grants, GRANT_ALL);
});

test('the table of plans', () => {
  const rows = Object.entries(PLAN_FEATURES).map(
    ([plan, { rate, grants, merchants, bulk, provider }]) => [
      plan,
      rate,
      entitlementsOf(grants).length,
      merchants,
      bulk,
      provider,
    ],
  );
  assert.deepEqual(rows, [
    ['starter', 10, 1, false, false, false],
    ['growth', 100, 1, false, false, false],
    ['pro', 500, 4, true, true, false],
    ['enterprise', 10_000, 4, true, true, true],
  ]);
});

test('names and bits go both ways', () => {
  assert.deepEqual(entitlementsOf(grantsOf(['historical', 'geo_enabled'])), [
    'geo_enabled',
    'historical',
  ]);
  assert.ok(isEntitlement('rate_loc_can') && !isEntitlement('toString'));
});
