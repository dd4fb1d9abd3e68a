/** The parts of a line's tax for explanations, one for each levy. */
import { type HolidayReach, lineParts } from '../../tax/line-tax.js';
import type { CartLine } from './outcome.js';
import type { GoodsTotal, TaxedLine } from './taxed-line.js';
import type { Levy, Treatment } from './treatment.js';

/** One part of a tax: base × rate + fixed, divided by the line's denominator. */
export interface Part {
  readonly levy: Levy;
  /** In 10⁻²² dollars. */
  readonly base: bigint;
  /** In 10⁻³¹ dollars. */
  readonly fixed: bigint;
  readonly denominator: bigint;
}

/** The tax of a part, in 10⁻³¹ dollars, before division by the denominator. */
export function partTax({ levy, base, fixed }: Part): bigint {
  return base * BigInt(levy.rate) + fixed;
}

/** The parts of items that are treated the same. */
function itemParts(
  treatment: Treatment,
  { price, quantity }: CartLine,
  reach: HolidayReach,
): readonly Part[] {
  const exempt = treatment.rule?.taxable === false;
  const parts: Part[] = [];
  lineParts(treatment, price, quantity, reach, (levy, base, fixed) => {
    const taxed = exempt && levy.ruled && fixed === 0n ? 0n : base;
    parts.push({ levy, base: taxed, fixed, denominator: 1n });
  });
  return parts;
}

/** The parts of all goods, added up by levy. */
function gathered(parts: readonly Part[]): readonly Part[] {
  const found = new Map<string, Part>();
  for (const part of parts) {
    const { site, meal, bracket, rate } = part.levy;
    const id = site === null ? (meal?.taxName ?? `bracket ${bracket}`) : site.row.component.id;
    const key = `${id}|${rate}|${meal?.code ?? ''}`;
    const known = found.get(key);
    found.set(
      key,
      known === undefined
        ? part
        : { ...known, base: known.base + part.base, fixed: known.fixed + part.fixed },
    );
  }
  return [...found.values()];
}

/** The parts of a delivery charge; `ofGoods` are those of all goods, added up by levy. */
function freightParts(
  charge: Treatment,
  line: CartLine,
  tax: TaxedLine,
  goods: GoodsTotal,
  ofGoods: readonly Part[],
): readonly Part[] {
  switch (tax.freight) {
    case 'as-goods':
      return ofGoods.map((part) => ({
        ...part,
        base: part.base * BigInt(tax.gross) * tax.scale.gross,
        fixed: part.fixed * BigInt(tax.gross) * tax.scale.gross,
        denominator: BigInt(goods.gross) * goods.scale.gross,
      }));
    case 'ordinary':
    case 'whole':
      return itemParts(charge, line, 'none').filter(
        ({ levy }) => tax.freight === 'ordinary' || (levy.ofState ? goods.state : goods.local) > 0,
      );
    default:
      return [];
  }
}

/** The parts of every line; `charge` is how delivery charges are treated at the site. */
export function partsOf(
  charge: Treatment,
  lines: readonly CartLine[],
  taxed: readonly TaxedLine[],
  goods: GoodsTotal,
): readonly (readonly Part[])[] {
  const own = taxed.map(({ treatment, reach }, at) =>
    treatment === null ? [] : itemParts(treatment, lines[at]!, reach),
  );
  const ofGoods = taxed.some(({ freight }) => freight === 'as-goods') ? gathered(own.flat()) : [];
  return taxed.map((tax, at) =>
    tax.treatment === null ? freightParts(charge, lines[at]!, tax, goods, ofGoods) : own[at]!,
  );
}
