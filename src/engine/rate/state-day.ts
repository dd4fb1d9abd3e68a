/** What day it is in a state, and which rules it has on a day. */
import type { Dataset } from '../../dataset/dataset.js';
import type { AreaRecord, StateRecord, StateRuleRecord } from '../../dataset/records.js';
import { DATE_MIN, DATE_OPEN, dateOf, type DateInt } from '../../tax/date.js';
import type { Situs } from '../situs.js';

/** Every zone's midnight falls on a multiple of this, so a date holds for a whole slot. */
const SLOT_MS = 15 * 60 * 1000;

interface Cached {
  readonly format: Intl.DateTimeFormat;
  slot: number;
  date: DateInt;
}

const cache = new Map<string, Cached>();

function read(format: Intl.DateTimeFormat, ms: number): DateInt {
  const field = { year: 0, month: 0, day: 0 };
  for (const { type, value } of format.formatToParts(ms)) {
    if (type === 'year' || type === 'month' || type === 'day') field[type] = Number(value);
  }
  const date = dateOf(field.year, field.month, field.day);
  if (date === null) throw new Error(`no calendar date at ${ms}`);
  return date;
}

function open(timeZone: string): Cached {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  const opened = { format, slot: Number.NaN, date: 0 as DateInt };
  cache.set(timeZone, opened);
  return opened;
}

/** The date at `nowMs` (milliseconds since 1970 UTC) in the state's main time zone. */
export function todayAt(state: StateRecord, nowMs: number): DateInt {
  return todayIn(state.timeZone, nowMs);
}

/** The date at `nowMs` in an IANA time zone. */
export function todayIn(timeZone: string, nowMs: number): DateInt {
  const cached = cache.get(timeZone) ?? open(timeZone);
  const slot = Math.floor(nowMs / SLOT_MS);
  if (cached.slot !== slot) {
    cached.date = read(cached.format, nowMs);
    cached.slot = slot;
  }
  return cached.date;
}

/** Goods, freight and services are taxed alike in Canada, at the destination. */
const CANADIAN: StateRuleRecord = {
  from: DATE_MIN,
  to: DATE_OPEN,
  serviceTaxable: 'Y',
  freightTaxable: 'Y',
  freightRule: 'TAXABLE',
  freightExemptWhenSeparatelyStated: false,
  freightDescription: 'Delivery charges are taxable.',
  sourcing: 'D',
  sourcingDescription: 'destination',
  source: -1,
};

/** The rules of a state, province or territory on a day; null where none are held. */
export function rulesAt(state: StateRecord, date: DateInt): StateRuleRecord | null {
  for (const rule of state.rules) {
    if (rule.from <= date && date <= rule.to) return rule;
  }
  return state.country === 'CAN' ? CANADIAN : null;
}

/** The area that a lookup led to; what a boundary file decided is published until it ends. */
export function areaOf(dataset: Dataset, { area: id, stated }: Situs): AreaRecord {
  const area = dataset.area(id);
  if (stated !== true) return area;
  const { statedUntil = DATE_OPEN } = dataset.state(area.state) ?? {};
  return statedUntil < area.staleAfter ? { ...area, staleAfter: statedUntil } : area;
}

const LETTERS = 26;
const CAPITAL_A = 65;

/** The states, provinces and territories of one dataset. */
export class States {
  readonly #dataset: Dataset;
  /** Days of the present slot by the letters of a state's code; 0 for those not asked for yet. */
  readonly #days = new Uint32Array(LETTERS * LETTERS);
  #slot = Number.NaN;

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
  }

  /** @throws Error where the dataset has no such state, though it has areas in it. */
  require(code: string): StateRecord {
    const state = this.#dataset.state(code);
    if (state === null) throw new Error(`the dataset has areas in ${code} but no such state`);
    return state;
  }

  /** The date at `nowMs` in the state's main time zone. */
  today(code: string, nowMs: number): DateInt {
    const slot = Math.floor(nowMs / SLOT_MS);
    if (slot !== this.#slot) this.#days.fill(0);
    this.#slot = slot;
    const first = code.charCodeAt(0) - CAPITAL_A;
    const second = code.charCodeAt(1) - CAPITAL_A;
    // A code of other letters is no number here, and is looked for anew each time.
    const isNumber = code.length === 2 && second >= 0 && second < LETTERS;
    const at = isNumber ? first * LETTERS + second : -1;
    const known = this.#days[at] ?? 0;
    if (known !== 0) return known as DateInt;
    const today = todayAt(this.require(code), nowMs);
    if (at >= 0) this.#days[at] = today;
    return today;
  }

  /** The rules on a day; null where none are held. */
  rules(code: string, date: DateInt): StateRuleRecord | null {
    const state = this.#dataset.state(code);
    return state === null ? null : rulesAt(state, date);
  }
}
