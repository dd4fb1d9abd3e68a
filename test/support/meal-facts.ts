/** Meal taxes at a place as tests ask for them, by the fact table unless told otherwise. */
import {
  mealTaxAt,
  type MealPlace,
  type MealTable,
  type MealTax,
  readMeals,
} from '../../src/engine/product/meal-tax.js';
import { cellsOf } from '../../src/engine/product/table-cells.js';
import type { DateInt } from '../../src/tax/date.js';
import { formatRate } from '../../src/tax/rate.js';
import { FACT_DOCUMENTS } from './product-facts.js';

const TODAY = 20261121 as DateInt;
export const FACTS = readMeals(cellsOf(FACT_DOCUMENTS.get('meal-tax'), 'meal-tax') ?? []);
export const UNMAPPED = 'UNMAPPED_SCOPES_IN_STATE';

/** A place whose jurisdictions are known for certain. */
export function place(stateFips: string, countyFips = '', placeGeoid = ''): MealPlace {
  return { stateFips, countyFips, placeGeoid, certain: true, bordersHeld: true };
}

/** What is levied there. */
export function at(
  where: MealPlace,
  table: MealTable | null = FACTS,
  date: number = TODAY,
): MealTax {
  return mealTaxAt(table, where, date as DateInt);
}

/** "codes of the rules = combined rate (reasons)". */
export function shown({ combined, reasons, rules }: MealTax): string {
  const rate = combined === null ? 'none' : formatRate(combined);
  return `${rules.map(({ code }) => code).join('+')}=${rate} ${reasons.join(',')}`.trim();
}
