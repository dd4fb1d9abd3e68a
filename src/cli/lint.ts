/** `situs lint`: how well the rows of an address file are located, and what is wrong with them. */
import { createHash } from 'node:crypto';
import { loadConfig } from '../config.js';
import type { Dataset } from '../dataset/dataset.js';
import { openDataset } from '../dataset/open.js';
import { Engine } from '../engine/engine.js';
import { GRANT_ALL } from '../pool/types.js';
import { isProblem } from '../base/problem.js';
import { isFailure, type Failure } from '../failure.js';
import type { ByteSource } from '../bulk/job/byte-source.js';
import { readBeginning } from '../bulk/job/file-run.js';
import type { Begun } from '../bulk/run/csv-beginning.js';
import { csvReader, placesOf } from '../bulk/row/text-rows.js';
import type { CsvRow } from '../bulk/row/row.js';
import { CHUNK_BYTES_MAX, CHUNK_ROWS_MAX, type RawChunk } from '../bulk/row/record-form.js';
import type { Table } from '../bulk/row/chunk-payload.js';
import type { Mapping, Role } from '../bulk/row/mapping.js';
import { cellReader, fiveDigits } from '../bulk/row/row-parameters.js';
import { parseParameters } from '../api/lookup/query.js';
import { openRows, requestFor, type RowsAsked } from './bulk-options.js';
import { print, UsageError } from './command-line.js';
import { rowCutter } from '../bulk/run/run.js';
import { keptRelease, requireActive, soundRelease } from './sound-release.js';
import { normalizedAddress, PRECISIONS, type Precision } from '../engine/situs.js';

/** Most line numbers that are kept as examples of a finding. */
const EXAMPLES_MAX = 5;

/** Findings in the order of the table. Each row has exactly one of FOUND; FAULTS are additional. */
const FOUND = [...PRECISIONS, 'zip', 'ambiguous', 'not found', 'malformed'] as const;
const FAULTS = ['duplicate', 'ZIP not in state', 'empty field'] as const;

type Found = (typeof FOUND)[number];
type Fault = (typeof FAULTS)[number];

/** Precisions that count as found at the door. */
const EXACT: readonly Precision[] = ['point', 'range'];

interface Finding {
  readonly name: Found | Fault;
  readonly rows: number;
  /** Line numbers of the first rows. */
  readonly lines: readonly number[];
}

interface LintReport {
  readonly dataset: string;
  readonly rows: number;
  /** How many rows were found at the door. */
  readonly exact: number;
  /** One of these for each row. */
  readonly found: readonly Finding[];
  readonly faults: readonly Finding[];
}

class LintTally {
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
    const finding = (name: Found | Fault): Finding => ({
      name,
      ...(this.#counts.get(name) ?? { rows: 0, lines: [] }),
    });
    // A place that was found has some precision, so `none` does not occur.
    const found = FOUND.filter((name) => name !== 'none').map(finding);
    const exact = found
      .filter(({ name }) => (EXACT as readonly string[]).includes(name))
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

/** Part of the whole in percent: "12.5 %". */
function share(rows: number, all: number): string {
  return all === 0 ? '-' : `${((rows / all) * 100).toFixed(1)} %`;
}

/** Whether no row needs attention. */
function isClean({ rows, exact, faults }: LintReport): boolean {
  return rows === exact && faults.every((fault) => fault.rows === 0);
}

/** The report as text. */
function lintTable(report: LintReport): string {
  const { rows, exact, found, faults, dataset } = report;
  const lines = [
    ['rows', String(rows), '', ''],
    ['exact (point, range)', String(exact), share(exact, rows), ''],
    ...[...found.map((each) => ({ ...each, name: `  ${each.name}` })), ...faults].map((each) => [
      each.name,
      String(each.rows),
      share(each.rows, rows),
      each.rows === 0
        ? ''
        : `line ${each.lines.join(', ')}${each.rows > each.lines.length ? ' …' : ''}`,
    ]),
  ];
  const width = Math.max(...lines.map(([name = '']) => name.length));
  const table = lines.map(([name = '', count = '', part = '', where = '']) =>
    `${name.padEnd(width)}  ${count.padStart(10)}  ${part.padStart(8)}  ${where}`.trimEnd(),
  );
  return [...table, '', `dataset ${dataset}`].join('\n');
}

const NOT_CLEAN = 3;
/** Most rows that are compared for duplicates; with more, memory would not suffice. */
const COMPARED_ROWS_MAX = 20_000_000;

function foundOf(failure: Failure): Found {
  if (failure.ambiguous === true) return 'ambiguous';
  return failure.failure === 'no-result' || failure.failure === 'address-incomplete'
    ? 'not found'
    : 'malformed';
}

/** Roles whose cell must not be empty if the file has such a column. */
const NEEDED: readonly Role[] = ['address', 'street', 'city', 'state', 'zip', 'lat', 'lng'];

/** A text in lower case, without anything but letters and digits. */
function folded(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

class Linter {
  readonly tally = new LintTally();
  readonly #dataset: Dataset;
  readonly #engine: Engine;
  readonly #table: Table;
  readonly #read: ReturnType<typeof cellReader>;
  /** Codes of states, by their names. */
  readonly #states: ReadonlyMap<string, string>;
  readonly #seen = new Set<bigint>();
  readonly #now: number;

  constructor(
    dataset: Dataset,
    table: Table,
    defaults: ReturnType<typeof requestFor>['defaults'],
    now: number,
  ) {
    this.#now = now;
    this.#dataset = dataset;
    this.#engine = new Engine(dataset);
    this.#states = new Map(dataset.states().map(({ code, name }) => [name.toUpperCase(), code]));
    this.#table = table;
    this.#read = cellReader(table.mapping, defaults);
  }

  chunk(chunk: RawChunk): void {
    const read = csvReader(chunk, this.#table, undefined);
    for (const place of placesOf(chunk)) {
      const row = read(place);
      if (row.problem === null) this.#row(place.line, row);
      else this.tally.found(place.line, 'malformed');
    }
  }

  #row(line: number, { cells, decoded }: CsvRow): void {
    const { mapping } = this.#table;
    const cell = (role: Role): string => this.#cell(mapping, cells, role);
    if (NEEDED.some((role) => mapping[role] !== undefined && cell(role) === '')) {
      this.tally.fault(line, 'empty field');
    }
    if (this.#isElsewhere(cell('zip'), cell('state'))) this.tally.fault(line, 'ZIP not in state');
    const parsed = parseParameters(this.#read(cells, decoded), 60, GRANT_ALL);
    const outcome = isFailure(parsed) ? parsed : this.#engine.lookup(parsed.query, this.#now);
    if (isFailure(outcome)) this.tally.found(line, foundOf(outcome));
    else this.tally.found(line, outcome.kind === 'postal' ? 'zip' : outcome.situs.precision);
    // Two rows are duplicates if their normalized addresses are equal; without an address, if their
    // cells are.
    const door =
      !isFailure(outcome) &&
      outcome.kind === 'situs' &&
      outcome.situs.houseNumber !== '' &&
      outcome.situs.street !== ''
        ? normalizedAddress(outcome.situs)
        : '';
    const own = NEEDED.map((role) => folded(cell(role))).join('|');
    // The unit is added, because doors in one building differ by it.
    const name = door === '' ? own : `${door}|${folded(cell('street2'))}`;
    if (this.#isKnown(name)) this.tally.fault(line, 'duplicate');
  }

  #cell(mapping: Mapping, cells: readonly string[], role: Role): string {
    const column = mapping[role];
    return column === undefined ? '' : (cells[column] ?? '').trim();
  }

  #isElsewhere(written: string, stateWritten: string): boolean {
    const zip = fiveDigits(written);
    const name = stateWritten.toUpperCase();
    const state = this.#states.get(name) ?? (/^[A-Z]{2}$/.test(name) ? name : '');
    if (!/^\d{5}/.test(zip) || state === '') return false;
    const record = this.#dataset.zip(Number(zip.slice(0, 5)));
    if (record === null) return true;
    const states = new Set(record.parts.map(({ area }) => this.#dataset.area(area).state));
    return states.size > 0 && !states.has(state);
  }

  #isKnown(name: string): boolean {
    const digest = createHash('sha256').update(name).digest().readBigUInt64LE(0);
    if (this.#seen.has(digest)) return true;
    if (this.#seen.size < COMPARED_ROWS_MAX) this.#seen.add(digest);
    return false;
  }
}

/** Passes all rows after the header line to the linter. */
async function lintRows(linter: Linter, { table, head }: Begun, rows: ByteSource): Promise<void> {
  const cutter = rowCutter(table, 'lookup', null);
  const drain = (): void => {
    for (;;) {
      const chunk = cutter.take(CHUNK_ROWS_MAX, CHUNK_BYTES_MAX);
      if (chunk === null) return;
      linter.chunk(chunk);
    }
  };
  for await (const piece of rows(head.bytes)) {
    cutter.push(piece);
    drain();
  }
  cutter.end();
  drain();
}

async function lint(file: string, asked: RowsAsked): Promise<LintReport> {
  const request = requestFor(file, asked, 'lookup');
  if (request.input !== 'csv') throw new UsageError('lint reads CSV');
  const { varDir } = loadConfig();
  const { kept } = request;
  const release = kept === undefined ? requireActive(varDir) : keptRelease(varDir, kept.dataset);
  const input = await openRows(file);
  let dataset: Dataset | null = null;
  try {
    const begun = await readBeginning(input.source, request);
    if (begun === null || isProblem(begun)) throw new Error(begun?.detail ?? 'no table');
    dataset = openDataset(await soundRelease(varDir, release));
    const { defaults } = request;
    const linter = new Linter(dataset, begun.table, defaults, kept?.atMs ?? Date.now());
    await lintRows(linter, begun, input.source);
    return linter.tally.report(release);
  } finally {
    dataset?.close();
    input.close();
  }
}

/** Runs `situs lint FILE`. */
export async function lintCommand(
  file: string,
  asked: RowsAsked & { readonly json?: boolean },
): Promise<number> {
  const report = await lint(file, asked);
  print(asked.json ? JSON.stringify(report) : lintTable(report));
  return isClean(report) ? 0 : NOT_CLEAN;
}
