/**
 * Recomputes every amount of a calculated cart from its explanations alone, as an auditor would:
 * the rate and base of every part, their sum, the rounding, the total. Reads plain JSON, knows
 * nothing of the engine. Gives what does not add up; an empty list is a proof by hand.
 */
import {
  add,
  apportioned,
  compare,
  rational,
  rounded,
  subtract,
  times,
  ZERO,
  type Rational,
} from './rational.js';

interface Part {
  readonly jurisdiction: string;
  readonly rate: string;
  readonly base: string;
  readonly fixed: string;
  readonly tax: string;
}

interface Line {
  readonly index: number;
  readonly price: string;
  readonly quantity: string;
  readonly parts: readonly Part[];
  readonly exact: string;
  readonly amount: string;
}

/** The explanations of a cart: of the whole, and of its lines. */
interface Explained {
  readonly cart: {
    readonly rounding: { readonly mode: string; readonly level: string; readonly digits: number };
    readonly total: string;
  };
  readonly lines: readonly Line[];
}

function same(one: Rational, other: Rational): boolean {
  return compare(one, other) === 0;
}

/** The exact tax of a line by its parts. */
function lineTax(line: Line, wrong: string[]): Rational {
  const gross = times(rational(line.price), rational(line.quantity));
  let sum = ZERO;
  for (const { jurisdiction, rate, base, fixed, tax } of line.parts) {
    const due = add(times(rational(base), rational(rate)), rational(fixed));
    const where = `line ${line.index}, ${jurisdiction}`;
    if (!same(due, rational(tax))) wrong.push(`${where}: base × rate is not ${tax}`);
    if (compare(rational(base), gross) > 0) wrong.push(`${where}: the base exceeds the price`);
    sum = add(sum, due);
  }
  if (!same(sum, rational(line.exact)))
    wrong.push(`line ${line.index}: parts are not ${line.exact}`);
  return sum;
}

/** Everything that does not follow from the explanations. */
export function recompute({ cart, lines }: Explained): readonly string[] {
  const wrong: string[] = [];
  const { mode, level, digits } = cart.rounding;
  const unit: Rational = { over: 10n ** BigInt(digits), under: 1n };
  const exact = lines.map((line) => times(lineTax(line, wrong), unit));
  const units =
    level === 'cart'
      ? apportioned(exact, mode, (at) => lines[at]!.index)
      : exact.map((each) => rounded(each, mode));
  let total = ZERO;
  units.forEach((count, at) => {
    const amount: Rational = { over: count, under: unit.over };
    const { index, amount: said } = lines[at]!;
    if (!same(amount, rational(said))) wrong.push(`line ${index}: the amount is not ${said}`);
    total = add(total, amount);
  });
  if (!same(total, rational(cart.total))) wrong.push(`the total is not ${cart.total}`);
  if (level === 'cart') {
    const whole = { over: rounded(exact.reduce(add, ZERO), mode), under: unit.over };
    if (compare(subtract(total, whole), ZERO) !== 0) wrong.push('the total is not the rounded sum');
  }
  return wrong;
}
