/**
 * Rows of a file that become nothing, by reason and with the first row of each: those that say
 * nothing of an address, and those that cannot be read, of which a file may have a stated share.
 */

/** Percent of rows that cannot be read up to which a file is taken, unless a recipe says more. */
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

  /** Counts a row and gives its number, from one; headers count where the reader says so. */
  next(): number {
    this.read += 1;
    return this.read;
  }

  /** Notes a row that is whole and says nothing that is asked for. */
  leave(row: number, reason: string): void {
    this.#note(row, reason, false);
  }

  /** Notes a row that cannot be read. */
  fault(row: number, reason: string): void {
    this.#malformed += 1;
    this.#note(row, reason, true);
  }

  #note(row: number, reason: string, malformed: boolean): void {
    const known = this.#reasons.get(reason);
    if (known === undefined) this.#reasons.set(reason, { rows: 1, first: row, malformed });
    else known.rows += 1;
  }

  /** Rows by reason, most first. */
  get reasons(): readonly (readonly [reason: string, rows: number])[] {
    return [...this.#reasons]
      .map(([reason, { rows }]) => [reason, rows] as const)
      .sort((one, other) => other[1] - one[1]);
  }

  /** A sentence on what fell away; null where nothing did. */
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
   * Looks at the whole file when its last row was read.
   * @throws Error where it had no row, or more than the tolerated share cannot be read.
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

/** Yields what a reader does, and looks at what fell away when it is through. */
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

/**
 * The tolerance of an entry of a recipe.
 * @throws Error where it is no percentage.
 */
export function toleranceOf(file: string, text: string = TOLERANCE_PERCENT): number {
  const value = Number(text);
  if (/^\d{1,3}(?:\.\d+)?$/.test(text) && value <= 100) return value;
  throw new Error(`${file}: "${text}" is no tolerance in percent`);
}
