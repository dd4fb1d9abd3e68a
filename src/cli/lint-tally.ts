/** What is wrong with the rows of an address file, counted. */
import { PRECISIONS, type Precision } from '../engine/situs.js';

/** Examples of a finding that are kept: numbers of lines. */
const EXAMPLES_MAX = 5;

/** In the order of the table. The first ones are every row's, once; the others come beside. */
export const FOUND = [
  ...PRECISIONS, 'zip', 'ambiguous', 'not found', 'malformed',
] as const;
export const FAULTS = ['duplicate', 'ZIP not in state', 'empty field'] as const;

export type Found = (typeof FOUND)[number];
export type Fault = (typeof FAULTS)[number];

/** Precisions of a door. */
export const EXACT: readonly Precision[] = ['point', 'range'];

export interface Finding {
  readonly name: Found | Fault;
  readonly rows: number;
  /** Lines of the first ones. */
  readonly lines: readonly number[];
}

export interface LintReport {
  readonly dataset: string;
  readonly rows: number;
  /** Found at the door. */
  readonly exact: number;
  /** What every row is, once. */
  readonly found: readonly Finding[];
  readonly faults: readonly Finding[];
}

export class LintTally {
  #rows = 0;
  readonly #counts = new Map<Found | Fault, { rows: number; lines: number[] }>();

  /** Counts a row by how it was found. */
  found(line: number, name: Found): void {
    this.#rows += 1;
    this.#add(line, name);
  }

  fault(line: number, name: Fault): void {
    this.#add(line, name);
  }

  report(dataset: string): LintReport {
    const finding = (name: Found | Fault): Finding =>
      ({ name, ...this.#counts.get(name) ?? { rows: 0, lines: [] } });
    // A place that was found has some precision.
    const found = FOUND.filter((name) => name !== 'none').map(finding);
    const exact = found.filter(({ name }) => (EXACT as readonly string[]).includes(name))
      .reduce((sum, { rows }) => sum + rows, 0);
    return { dataset, rows: this.#rows, exact, found, faults: FAULTS.map(finding) };
  }

  #add(line: number, name: Found | Fault): void {
    const count = this.#counts.get(name) ?? { rows: 0, lines: [] };
    count.rows += 1;
    if (count.lines.length < EXAMPLES_MAX) count.lines.push(line);
    this.#counts.set(name, count);
  }
}

/** "12.5 %" of so many. */
function share(rows: number, all: number): string {
  return all === 0 ? '-' : `${((rows / all) * 100).toFixed(1)} %`;
}

/** Whether anything is to be looked at. */
export function isClean({ rows, exact, faults }: LintReport): boolean {
  return rows === exact && faults.every((fault) => fault.rows === 0);
}

/** The report as a table for people. */
export function lintTable(report: LintReport): string {
  const { rows, exact, found, faults, dataset } = report;
  const lines = [
    ['rows', String(rows), '', ''],
    ['exact (point, range)', String(exact), share(exact, rows), ''],
    ...[...found.map((each) => ({ ...each, name: `  ${each.name}` })), ...faults].map((each) => [
      each.name, String(each.rows), share(each.rows, rows),
      each.rows === 0 ? ''
        : `line ${each.lines.join(', ')}${each.rows > each.lines.length ? ' …' : ''}`,
    ]),
  ];
  const width = Math.max(...lines.map(([name = '']) => name.length));
  const table = lines.map(([name = '', count = '', part = '', where = '']) =>
    `${name.padEnd(width)}  ${count.padStart(10)}  ${part.padStart(8)}  ${where}`.trimEnd());
  return [...table, '', `dataset ${dataset}`].join('\n');
}
