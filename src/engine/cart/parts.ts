/** The exact tax of a line, jurisdiction by jurisdiction; the parts add up to the line's tax. */
import type { Dataset } from '../../dataset/dataset.js';
import { articleParts, capped, ruledUnit, volumeTax } from '../../tax/line-tax.js';
import { RATE_ONE } from '../../tax/rate.js';
import type { GoodsTotal, HolidayReach, TaxedLine } from './line.js';
import type { CartLine } from './query.js';
import type { Site } from './site.js';
import { GENERAL, treatmentOf, type Levy, type Treatment } from './treatment.js';

/** One part: tax = base × rate + fixed, all over the denominator. */
export interface Part {
  readonly levy: Levy;
  /** 10⁻²² dollars. */
  readonly base: bigint;
  /** 10⁻³¹ dollars. */
  readonly fixed: bigint;
  readonly denominator: bigint;
}

const ONE = BigInt(RATE_ONE);

/** The tax of a part in 10⁻³¹ dollars over its denominator. */
export function partTax({ levy, base, fixed }: Part): bigint {
  return base * BigInt(levy.rate) + fixed;
}

interface Unit {
  readonly base: bigint;
  readonly fixed: bigint;
}

/** Base and fixed part of one item by levy, before holidays. */
function unitOf(
  { shape, single, ruledState, ruledLocal }: Treatment, price: bigint,
): (levy: Levy) => Unit {
  const full = price * ONE;
  const unit = ruledUnit(shape, price);
  const whole = { state: unit * ruledState, local: unit * ruledLocal };
  const cut = capped(shape, whole.state, whole.local);
  const isCapped = cut.state !== whole.state || cut.local !== whole.local;
  // What a cap leaves goes to the widest jurisdictions first.
  let left = cut.state + cut.local;
  let volume = volumeTax(shape);
  return (levy) => {
    if (single !== null && (levy.bracket || !levy.ofState)) {
      const parts = articleParts(single, price);
      return { base: (levy.bracket ? parts.bracket : parts.local) * ONE, fixed: 0n };
    }
    const extra = levy.ofState ? volume : 0n;
    if (levy.ofState) volume = 0n;
    if (!levy.ruled) return { base: full, fixed: extra };
    if (!isCapped) return { base: unit, fixed: extra };
    const tax = unit * BigInt(levy.rate);
    const fixed = tax < left ? tax : left;
    left -= fixed;
    return { base: 0n, fixed: fixed + extra };
  };
}

function isExempt(reach: HolidayReach, { ofState }: Levy): boolean {
  return reach === 'all' || (reach === 'state' && ofState);
}

/** The parts of goods that are treated alike. */
export function goodsParts(
  treatment: Treatment, price: bigint, quantity: bigint, reach: HolidayReach,
): readonly Part[] {
  const unit = unitOf(treatment, price);
  const exempt = treatment.rule?.taxable === false;
  return treatment.levies.map((levy): Part => {
    const { base, fixed } = unit(levy);
    const times = isExempt(reach, levy) || (exempt && levy.ruled && fixed === 0n) ? 0n : quantity;
    return { levy, base: base * times, fixed: fixed * times, denominator: 1n };
  });
}

/** Parts of all goods together by what is levied. */
function gathered(parts: readonly Part[]): readonly Part[] {
  const found = new Map<string, Part>();
  for (const part of parts) {
    const { site, meal, bracket, rate } = part.levy;
    const id = site === null ? meal?.taxName ?? `bracket ${bracket}` : site.row.component.id;
    const key = `${id}|${rate}|${meal?.code ?? ''}`;
    const known = found.get(key);
    found.set(key, known === undefined
      ? part : { ...known, base: known.base + part.base, fixed: known.fixed + part.fixed });
  }
  return [...found.values()];
}

/** The parts of a delivery charge. */
function freightParts(
  dataset: Dataset, site: Site, line: CartLine, tax: TaxedLine, goods: GoodsTotal,
  ofGoods: readonly Part[],
): readonly Part[] {
  const quantity = BigInt(line.quantity);
  switch (tax.freight) {
    case 'as-goods':
      return gathered(ofGoods).map((part) => ({
        ...part, base: part.base * tax.gross, fixed: part.fixed * tax.gross,
        denominator: tax.denominator,
      }));
    case 'ordinary':
    case 'whole': {
      const ordinary = { ...treatmentOf(dataset, site, GENERAL) };
      const levies = ordinary.levies.filter((levy) => !levy.bracket && (tax.freight === 'ordinary'
        || (levy.ofState ? goods.state : goods.local) > 0n));
      return goodsParts({ ...ordinary, single: null, levies }, line.price, quantity, 'none');
    }
    default:
      return [];
  }
}

/** The parts of every line. */
export function partsOf(
  dataset: Dataset, site: Site, lines: readonly CartLine[], taxed: readonly TaxedLine[],
  goods: GoodsTotal,
): readonly (readonly Part[])[] {
  const own = taxed.map(({ treatment, reach }, at) => {
    const { price, quantity } = lines[at]!;
    return treatment === null ? [] : goodsParts(treatment, price, BigInt(quantity), reach);
  });
  const ofGoods = own.flat();
  return taxed.map((tax, at) => (tax.treatment === null
    ? freightParts(dataset, site, lines[at]!, tax, goods, ofGoods) : own[at]!));
}
