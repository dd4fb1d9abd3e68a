/** Cells of a layer's table; faults are reported with their line and column. */
import { FIVE_DIGITS } from '../../base/patterns.js';
import type { DateInt } from '../../tax/date.js';
import { parsePercent, type Rate, RATE_ONE } from '../../tax/rate.js';
import { DATE_OPEN, dateOf, RATE_MAX } from '../rates/list.js';

/** Columns of the table. The first ones are required, the others only where they are needed. */
export const LAYER_COLUMNS = [
  'state',
  'level',
  'name',
  'rate',
  'from',
  'source',
  'as_of',
  'code',
  'county',
  'city',
  'zips',
  'boundary',
  'use',
  'basis',
  'until',
  'tic',
  'taxable',
  'scope',
  'condition',
  'note',
] as const;
export type LayerColumn = (typeof LAYER_COLUMNS)[number];

/**
 * A smaller number without a percent sign may be a fraction or a very small percentage, so it is
 * refused.
 */
const PLAIN_RATE_MIN = RATE_ONE / 400;
const FAULTS_SHOWN = 20;

/** The faults of a file, which are all reported together. */
export class LayerFaults {
  readonly #found: string[] = [];

  constructor(readonly file: string) {}

  add(line: number, column: LayerColumn | '', why: string): void {
    const place = column === '' ? `line ${line}` : `line ${line}, column ${column}`;
    this.#found.push(`${this.file} ${place}: ${why}`);
  }

  /** @throws Error with the first faults, if there are any. */
  settle(): void {
    if (this.#found.length === 0) return;
    const more = this.#found.length - FAULTS_SHOWN;
    throw new Error(
      [...this.#found.slice(0, FAULTS_SHOWN), ...(more > 0 ? [`and ${more} more`] : [])].join('\n'),
    );
  }
}

/** Cells of one row; faults are reported with their line and column. */
export class Cells {
  constructor(
    readonly line: number,
    readonly faults: LayerFaults,
    readonly text: (column: LayerColumn) => string,
  ) {}

  bad(column: LayerColumn, why: string): void {
    this.faults.add(this.line, column, why);
  }

  required(column: LayerColumn): string {
    const text = this.text(column);
    if (text === '') this.bad(column, 'it is empty');
    return text;
  }

  oneOf<T extends string>(column: LayerColumn, words: readonly T[], empty: T | null): T {
    const text = this.text(column);
    if (text === '' && empty !== null) return empty;
    const found = words.find((word) => word.toLowerCase() === text.toLowerCase());
    if (found === undefined) this.bad(column, `"${text}" is none of: ${words.join(', ')}`);
    return found ?? words[0]!;
  }

  list(column: LayerColumn): readonly string[] {
    return this.text(column)
      .split(';')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  }

  zips(): readonly number[] {
    const parts = this.text('zips')
      .split(/[\s;,]+/)
      .filter((part) => part !== '');
    for (const part of parts) {
      if (!FIVE_DIGITS.test(part)) this.bad('zips', `"${part}" is no ZIP of five digits`);
    }
    return [...new Set(parts.map(Number))].sort((one, other) => one - other);
  }

  day(column: LayerColumn, empty: DateInt | null): DateInt {
    const text = this.text(column);
    if (text === '' && empty !== null) return empty;
    const day = dayOf(text);
    if (day === null) {
      this.bad(
        column,
        text === ''
          ? 'it is empty'
          : `"${text}" is no day as 2026-01-31 or 1/31/2026 (month first)`,
      );
    }
    return day ?? DATE_OPEN;
  }

  rate(column: LayerColumn): Rate | null {
    const text = this.text(column);
    const rate = parsePercent(text.replace(/\s*%$/, ''));
    if (rate === null || rate < 0 || rate > RATE_MAX) {
      this.bad(
        column,
        text === '' ? 'it is empty' : `"${text}" is no percentage from 0 to 25, as 4.75 or 4.75%`,
      );
      return null;
    }
    if (rate > 0 && rate < PLAIN_RATE_MIN && !text.endsWith('%')) {
      this.bad(
        column,
        `"${text}" may be a fraction or a percentage: write it with its sign, ` +
          `${text}%, or as 4.75`,
      );
    }
    return rate;
  }
}

/** A day as people and spreadsheets write it; null for any other text. */
function dayOf(text: string): DateInt | null {
  const iso = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text);
  if (iso !== null) return dateOf(Number(iso[1]), Number(iso[2]), Number(iso[3]));
  const american = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text);
  if (american !== null) {
    return dateOf(Number(american[3]), Number(american[1]), Number(american[2]));
  }
  return null;
}
