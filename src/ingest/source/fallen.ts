/**
 * Counts the rows of a file that are left out, by reason and with the number of the first row: rows
 * that say nothing about an address, and rows that cannot be read, of which a file may have a
 * limited share.
 */

/** Percent of rows that may be unreadable, unless a recipe says otherwise. */
const TOLERANCE_PERCENT = '0.1';

interface Reason {
  rows: number;
  readonly first: number;
  readonly malformed: boolean;
}

/** "1,234,567" */
function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

export class FallenRows {
  read = 0;
  #malformed = 0;
  readonly #reasons = new Map<string, Reason>();

  /** `tolerance` is a percentage of the rows read. */
  constructor(
    readonly file: string,
    readonly tolerance: number,
  ) {}

  /** Counts a row and returns its number, from one. The reader decides whether headers count. */
  next(): number {
    this.read += 1;
    return this.read;
  }

  /** Records a row that is intact but not needed. */
  leave(row: number, reason: string): void {
    this.#note(row, reason, false);
  }

  /** Records a row that cannot be read. */
  fault(row: number, reason: string): void {
    this.#malformed += 1;
    this.#note(row, reason, true);
  }

  #note(row: number, reason: string, malformed: boolean): void {
    const known = this.#reasons.get(reason);
    if (known === undefined) this.#reasons.set(reason, { rows: 1, first: row, malformed });
    else known.rows += 1;
  }

  /** Numbers of rows by reason, highest first. */
  get reasons(): readonly (readonly [reason: string, rows: number])[] {
    return [...this.#reasons]
      .map(([reason, { rows }]) => [reason, rows] as const)
      .sort((one, other) => other[1] - one[1]);
  }

  /** A sentence on rows that were left out; null for none. */
  sentence(): string | null {
    const reasons = [...this.#reasons].sort((one, other) => other[1].rows - one[1].rows);
    if (reasons.length === 0) return null;
    const fallen = reasons.reduce((sum, [, { rows }]) => sum + rows, 0);
    const told = reasons.map(
      ([reason, { rows, first }]) => `${grouped(rows)} ${reason} (first: row ${grouped(first)})`,
    );
    return (
      `${this.file}: ${grouped(fallen)} of ${grouped(this.read)} rows left out: ` + told.join('; ')
    );
  }

  /**
   * Checks the whole file after its last row.
   * @throws Error where it had no row, or too many that cannot be read.
   */
  settle(): void {
    if (this.read === 0) throw new Error(`${this.file}: it has no rows`);
    if (this.#malformed * 100 <= this.read * this.tolerance) return;
    const found = [...this.#reasons]
      .filter(([, { malformed }]) => malformed)
      .map(
        ([reason, { rows, first }]) => `${grouped(rows)} ${reason} (first: row ${grouped(first)})`,
      );
    throw new Error(
      `${this.file}: ${grouped(this.#malformed)} of ${grouped(this.read)} rows ` +
        `cannot be read, more than the ${this.tolerance} % that are tolerated: ` +
        found.join('; '),
    );
  }
}

/** Yields the rows of a reader, and checks the file at the end. */
export async function* settled<Row>(
  rows: AsyncGenerator<Row>,
  fallen: FallenRows,
  report: (line: string, fallen: FallenRows) => void,
): AsyncGenerator<Row> {
  yield* rows;
  fallen.settle();
  const sentence = fallen.sentence();
  if (sentence !== null) report(sentence, fallen);
}

/** The tolerance in a recipe's entry. @throws Error where it is not a percentage. */
export function toleranceOf(file: string, text: string = TOLERANCE_PERCENT): number {
  const value = Number(text);
  if (/^\d{1,3}(?:\.\d+)?$/.test(text) && value <= 100) return value;
  throw new Error(`${file}: "${text}" is no tolerance in percent`);
}
