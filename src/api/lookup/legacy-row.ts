/**
 * The flat rows of v10 to v50: up to 34 fields, none of them null. The parts of a row always add up
 * to its totals, so rates that have no field of their own are added to one that has.
 */
import type { AreaRateRow } from '../../engine/lookup-query.js';
import type { Level } from '../../tax/jurisdiction.js';
import { sumRates, type Rate } from '../../tax/rate.js';
import type { RuledArea } from './fragment.js';
import { rateOf, type WireObject, type WireValue } from '../../wire/tree.js';

/** How many districts a row has fields for; further districts are added to the last one. */
export const DISTRICTS_MAX = 5;

interface Part {
  readonly code: string;
  readonly sales: Rate;
  readonly use: Rate;
}

function joined(rows: readonly AreaRateRow[]): Part {
  return {
    code: rows[0]?.component.jurCode ?? '',
    sales: sumRates(rows.map((row) => row.sales)),
    use: sumRates(rows.map((row) => row.use)),
  };
}

function at({ rates }: RuledArea, level: Level): readonly AreaRateRow[] {
  return rates.rows.filter((row) => row.component.level === level);
}

/** The first fields of a row in every version, after geoPostalCode and geoCity. */
export function basicFields({ area, rates, rules }: RuledArea): WireObject {
  return {
    geoCounty: area.countyName.toUpperCase(),
    geoState: area.state,
    taxSales: rateOf(rates.sales),
    taxUse: rateOf(rates.use),
    txbService: rules.serviceTaxable,
    txbFreight: rules.freightTaxable,
  };
}

/** The rates of state, city and county. */
export function partFields(ruled: RuledArea): WireObject {
  const state = joined(at(ruled, 'state'));
  const city = joined(at(ruled, 'city'));
  const county = joined(at(ruled, 'county'));
  return {
    stateSalesTax: rateOf(state.sales),
    stateUseTax: rateOf(state.use),
    citySalesTax: rateOf(city.sales),
    cityUseTax: rateOf(city.use),
    cityTaxCode: city.code,
    countySalesTax: rateOf(county.sales),
    countyUseTax: rateOf(county.use),
    countyTaxCode: county.code,
  };
}

/** The sum of all districts. */
export function districtSums(ruled: RuledArea): WireObject {
  const { sales, use } = joined(at(ruled, 'district'));
  return { districtSalesTax: rateOf(sales), districtUseTax: rateOf(use) };
}

/** One group of fields per district. */
export function districtFields(ruled: RuledArea): WireObject {
  const districts = at(ruled, 'district');
  const fields: Record<string, WireValue> = {};
  for (let index = 0; index < DISTRICTS_MAX; index += 1) {
    const last = index === DISTRICTS_MAX - 1;
    const { code, sales, use } = joined(districts.slice(index, last ? undefined : index + 1));
    const name = `district${index + 1}`;
    fields[`${name}Code`] = code;
    fields[`${name}SalesTax`] = rateOf(sales);
    fields[`${name}UseTax`] = rateOf(use);
  }
  return fields;
}

/** Where tax is due: at the origin or at the destination. */
export function sourcingField({ rules }: RuledArea): WireObject {
  return { originDestination: rules.sourcing };
}
