/** Rates and rules of an area as v60 shows them. */
import type { AreaRateRow, KnownRates } from '../../engine/rate/area-rates.js';
import type { AreaRecord, StateRuleRecord } from '../../dataset/records.js';
import type { Level } from '../../tax/jurisdiction.js';
import type { Rate } from '../../tax/rate.js';
import { rateOf, type WireList, type WireObject } from '../../wire/tree.js';

const LEVEL_LABELS: Readonly<Record<Level, string>> = {
  state: 'State', county: 'County', city: 'City', district: 'District',
};

const SERVICE_TEXTS: Readonly<Record<StateRuleRecord['serviceTaxable'], string>> = {
  Y: 'Services taxable',
  N: 'Services non-taxable',
  L: 'Services non-taxable, labor portion taxable',
};

const FREIGHT_TEXTS: Readonly<Record<StateRuleRecord['freightTaxable'], string>> = {
  Y: 'Freight taxable', N: 'Freight non-taxable',
};

const SOURCING_TEXTS: Readonly<Record<StateRuleRecord['sourcing'], string>> = {
  O: 'Origin Based Taxation', D: 'Destination Based Taxation',
};

function baseRate(row: AreaRateRow, rate: Rate, tax: 'Sales' | 'Use'): WireObject {
  const { level, jurName, jurCode } = row.component;
  return {
    rate: rateOf(rate),
    jurType: `US_${level.toUpperCase()}_${tax.toUpperCase()}_TAX`,
    jurName,
    jurDescription: `US ${LEVEL_LABELS[level]} ${tax} Tax`,
    jurTaxCode: jurCode,
  };
}

/** A Canadian levy is one row: there is no separate use tax. */
function levy(row: AreaRateRow, kind: string): WireObject {
  const { jurName, jurCode } = row.component;
  return {
    rate: rateOf(row.sales), jurType: kind, jurName, jurDescription: `Canada ${kind}`,
    jurTaxCode: jurCode,
  };
}

/** A sales and a use row per jurisdiction, in order; one row per levy where kinds are named. */
export function baseRates({ rows }: KnownRates): WireList {
  return rows.flatMap((row) => {
    const { kind } = row.component;
    if (kind !== null) return [levy(row, kind)];
    return [baseRate(row, row.sales, 'Sales'), baseRate(row, row.use, 'Use')];
  });
}

function summary(rate: Rate, tax: 'Sales' | 'Use', displayRates: WireList): WireObject {
  return {
    rate: rateOf(rate), taxType: `${tax.toUpperCase()}_TAX`, summaryName: `Total Base ${tax} Tax`,
    displayRates,
  };
}

/** Totals: sales and use, or where kinds are named one total that displays them. */
export function taxSummaries({ sales, use, rows }: KnownRates): WireList {
  const levies = rows.flatMap((row) =>
    row.component.kind === null ? [] : [{ name: row.component.kind, rate: rateOf(row.sales) }]);
  if (levies.length > 0) return [summary(sales, 'Sales', levies)];
  const total = (rate: Rate): WireList => [{ name: 'Total Rate', rate: rateOf(rate) }];
  return [summary(sales, 'Sales', total(sales)), summary(use, 'Use', total(use))];
}

export function service({ serviceTaxable }: StateRuleRecord): WireObject {
  return {
    adjustmentType: 'SERVICE_TAXABLE', taxable: serviceTaxable,
    description: SERVICE_TEXTS[serviceTaxable],
  };
}

/** Freight; `area` is given where the extended part was asked for. */
export function shipping(rules: StateRuleRecord, area: AreaRecord | null): WireObject {
  const { freightTaxable } = rules;
  const plain = {
    adjustmentType: 'FREIGHT_TAXABLE', taxable: freightTaxable,
    description: FREIGHT_TEXTS[freightTaxable],
  };
  if (area === null) return plain;
  const shippingExtended = {
    description: rules.freightDescription,
    exemptWhenSeparatelyStated: String(rules.freightExemptWhenSeparatelyStated),
    rule: rules.freightRule,
    stateCode: area.state,
    stateName: area.stateName,
  };
  return { ...plain, shippingExtended };
}

export function sourcingRules({ sourcing }: StateRuleRecord): WireObject {
  return {
    adjustmentType: 'ORIGIN_DESTINATION', description: SOURCING_TEXTS[sourcing], value: sourcing,
  };
}
