/**
 * Rounding and explanation of carts, from query parameters or members of the body, which take
 * precedence. `rounding` is a mode (half-up, half-even, up, down), optionally followed by a comma
 * and a level (line, cart). The front end reads the query and passes the options to the workers as
 * bits of the request.
 */
import { anyText, flag, optional, told } from '../../base/shape.js';
import { invalid, type Problem } from '../../base/problem.js';
import {
  ROUNDING_LEVELS,
  ROUNDING_MODES,
  type RoundingLevel,
  type RoundingMode,
} from '../../tax/exact.js';

export interface CartOptions {
  readonly mode: RoundingMode;
  readonly level: RoundingLevel;
  readonly explain: boolean;
  /**
   * Whether the id of a cart that was sent without one is derived from the body and the moment, so
   * that it is the same when they are.
   */
  readonly sameIds?: boolean;
}

/** Each line is rounded to the nearest unit, ties upward. */
export const CART_DEFAULTS: CartOptions = { mode: 'half-up', level: 'line', explain: false };

/** The members of a body that are options. */
export const OPTION_MEMBERS = {
  rounding: told(
    optional(anyText()),
    'half-up (default), half-even, up or down; ",cart" rounds whole carts and spreads the rest.',
  ),
  explain: told(optional(flag()), 'Tells how each amount came about.'),
};

const LEVEL_BIT = 4;
const EXPLAIN_BIT = 8;
/**
 * A further bit that is not an option: the key of a cart without a merchant may use product codes.
 */
export const PRODUCT_BIT = 16;
/** The bit of `sameIds`, set where a query asks for a kept release or a receipt. */
export const SAME_IDS_BIT = 32;
const MODE_BITS = 3;

const EXPECTED = `expected ${ROUNDING_MODES.join(', ')}, with ",cart" for whole carts`;

interface Rounding {
  readonly mode: RoundingMode;
  readonly level: RoundingLevel;
}

function parseRounding(text: string): Rounding | null {
  const [modeText, levelText = 'line', ...more] = text.split(',');
  const mode = ROUNDING_MODES.find((name) => name === modeText);
  const level = ROUNDING_LEVELS.find((name) => name === levelText);
  return mode === undefined || level === undefined || more.length > 0 ? null : { mode, level };
}

/** Options as texts; an empty text counts as absent. */
interface OptionTexts {
  readonly rounding?: string;
  readonly explain?: string;
}

function textsOf(query: string): Required<OptionTexts> {
  const parameters = new URLSearchParams(query);
  const first = (name: string): string => parameters.getAll(name).find((text) => text !== '') ?? '';
  return { rounding: first('rounding'), explain: first('explain') };
}

/** Names of the options that a query sets. */
export function askedOptions(query: string): readonly string[] {
  if (query === '') return [];
  const { explain, rounding } = textsOf(query);
  return [
    ...(rounding === '' ? [] : ['rounding']),
    ...(explain === '' || explain.toLowerCase() === 'false' ? [] : ['explain']),
  ];
}

/** The options of a query string, or what is wrong with it. */
export function optionsOfQuery(query: string): CartOptions | Problem {
  return query === '' ? CART_DEFAULTS : optionsOfTexts(textsOf(query), 'query.');
}

/**
 * The options that texts stand for, or what is wrong with one. `where` precedes its name in the
 * location.
 */
export function optionsOfTexts(
  { rounding: named = '', explain: asked = '' }: OptionTexts,
  where = '',
): CartOptions | Problem {
  // The common case is quick, since every row of a table takes it.
  if (named === '' && asked === '') return CART_DEFAULTS;
  const explain = asked.toLowerCase() || 'false';
  if (explain !== 'true' && explain !== 'false') {
    const message = 'expected true or false';
    return invalid({ location: `${where}explain`, message, value: explain });
  }
  const text = named || CART_DEFAULTS.mode;
  const rounding = parseRounding(text);
  if (rounding === null) {
    return invalid({ location: `${where}rounding`, message: EXPECTED, value: text });
  }
  return { ...rounding, explain: explain === 'true' };
}

/** The options of a body, where it has any, in place of those of its query. */
export function optionsOfBody(
  body: Readonly<Record<string, unknown>>,
  base: CartOptions,
): CartOptions | Problem {
  const { rounding: text = null, explain = null } = body;
  if (text === null && explain === null) return base;
  if (explain !== null && typeof explain !== 'boolean') {
    return invalid({ location: 'body.explain', message: 'expected true or false' });
  }
  const options = { ...base, explain: explain ?? base.explain };
  if (text === null) return options;
  const rounding = typeof text === 'string' ? parseRounding(text) : null;
  return rounding === null
    ? invalid({ location: 'body.rounding', message: EXPECTED })
    : { ...options, ...rounding };
}

/** Options as bits of a request to the pool. */
export function optionBits({ mode, level, explain }: CartOptions): number {
  return (
    ROUNDING_MODES.indexOf(mode) | (level === 'cart' ? LEVEL_BIT : 0) | (explain ? EXPLAIN_BIT : 0)
  );
}

/** The options that the bits of a request to the pool stand for. */
export function optionsOfBits(bits: number): CartOptions {
  return {
    mode: ROUNDING_MODES[bits & MODE_BITS] ?? CART_DEFAULTS.mode,
    level: (bits & LEVEL_BIT) === 0 ? 'line' : 'cart',
    explain: (bits & EXPLAIN_BIT) !== 0,
    ...((bits & SAME_IDS_BIT) === 0 ? {} : { sameIds: true }),
  };
}
