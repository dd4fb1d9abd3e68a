/** Rules that no cart applies. Carts to which one would apply are refused. */
import { fail, type Failure } from '../../failure.js';
import { formatUsd, parseUsd } from '../../tax/amount.js';
import type { AreaRecord } from '../../dataset/records.js';
import type { Cells } from '../product/table-cells.js';

/** What a rule concerns: only the amount of a sale above which a local tax changes. */
const REFUSED = ['sale'] as const;

/**
 * A row of rules-not-supported for which carts are refused; other rows only appear in explanations.
 */
export interface NotSupported {
  readonly refuses: (typeof REFUSED)[number];
  /** Amounts in 10⁻⁹ dollars by seven-digit place or five-digit county; "" is for all others. */
  readonly above: ReadonlyMap<string, bigint>;
}

/** Reads "500;0255910:145": an amount for everywhere, and a different one for a place. */
function readAmounts(text: string): ReadonlyMap<string, bigint> | null {
  const amounts = new Map<string, bigint>();
  for (const each of text.split(';')) {
    const [usd = '', code = ''] = each.split(':').reverse();
    const amount = parseUsd(usd);
    if (amount === null) return null;
    amounts.set(code, amount);
  }
  return amounts;
}

/** The rules for which carts are refused, by state. */
export function readNotSupported(
  rows: readonly Cells[],
): ReadonlyMap<string, readonly NotSupported[]> {
  const byState = new Map<string, readonly NotSupported[]>();
  for (const row of rows) {
    if (row.text('refuses') === '') continue;
    const state = row.text('state');
    const refuses = row.oneOf('refuses', REFUSED);
    const above = row.optional('above_usd', readAmounts) ?? new Map<string, bigint>();
    const rule = { refuses, above };
    byState.set(state, [...(byState.get(state) ?? []), rule]);
  }
  return byState;
}

/** The amount of a sale above which a rule applies in an area; null where none does. */
export function saleLimit(
  rules: readonly NotSupported[],
  { stateFips, countyFips, placeGeoid }: AreaRecord,
): bigint | null {
  const rule = rules.find(({ refuses }) => refuses === 'sale');
  if (rule === undefined) return null;
  const { above } = rule;
  return above.get(placeGeoid) ?? above.get(stateFips + countyFips) ?? above.get('') ?? null;
}

/** The refusal of a sale above the amount. */
export function aboveLimit(stateName: string, limit: bigint): Failure {
  return fail(
    'no-result',
    `How much of a sale above $${formatUsd(limit)} local taxes of ${stateName} are levied on ` +
      'here is not held.',
  );
}
