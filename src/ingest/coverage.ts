/** What a rate book knows of every state, for the manifest and `situs dataset coverage`. */
import type { CoverageLevel, CoverageState } from '../dataset/manifest.js';
import type { ZipRecord } from '../dataset/records.js';
import type { DateInt } from '../tax/date.js';
import type { Level } from '../tax/jurisdiction.js';
import type { Boundaries } from './boundary/overlay.js';
import type { RateRow } from './model.js';
import type { ListMark, StateName } from './rates/facts.js';
import { DATE_OPEN, formatDate } from './rates/list.js';
import type { LoadedRates } from './rates/load.js';
import type { Addresses } from './street/addresses.js';
import { stateFileCoverage, stateFileGaps } from './street/agreement.js';
import { lostByState } from './street/lost.js';

/** Rows of a state's level in their order; each figure below concerns one level. */
type LevelRows = (state: string, level: Level) => readonly RateRow[];

function levelRows({ input }: LoadedRates): LevelRows {
  const rows = new Map<string, RateRow[]>();
  for (const row of input.rows) {
    const key = `${row.state} ${row.level}`;
    const known = rows.get(key);
    if (known === undefined) rows.set(key, [row]);
    else known.push(row);
  }
  return (state, level) => rows.get(`${state} ${level}`) ?? [];
}

function rateLevel(load: LoadedRates, rowsOf: LevelRows, state: StateName): CoverageLevel {
  const last = rowsOf(state.code, 'state').at(-1);
  const source = last ? (load.input.sources[last.source]?.name ?? '') : '';
  return {
    level: 'state',
    completeness: last ? 'complete' : 'none',
    source,
    asOf: last ? formatDate(last.asOf) : '',
    until: '',
    jurisdictions: last ? 1 : 0,
  };
}

/** The newest date of a level's rows, which may be newer than the source of its mark. */
function newest(rows: readonly RateRow[], start: DateInt): DateInt {
  return rows.reduce((latest, { asOf }) => (asOf > latest ? asOf : latest), start);
}

/** Key of a jurisdiction within its level; rows of a county for its places belong to the county. */
function keyOf({ level, place, county, code }: RateRow): string {
  return level === 'county' ? county : place || county || code;
}

/** The number of a level's jurisdictions with a row that `fits`, on any day. */
function countOf(rows: readonly RateRow[], fits: (row: RateRow) => boolean): number {
  return new Set(rows.filter(fits).map(keyOf)).size;
}

/** The number of jurisdictions that stay unknown, because no later row gives their rate. */
function refusedOf(rows: readonly RateRow[]): number {
  const last = new Map(
    rows.filter(({ to }) => to === DATE_OPEN).map((row) => [`${row.place} ${row.county}`, row]),
  );
  return countOf([...last.values()], ({ basis }) => basis === 'unknown');
}

/** Jurisdictions of a level by source, without rows that only older publications have. */
function listsOf(
  { input }: LoadedRates,
  all: readonly RateRow[],
): Readonly<Record<string, number>> {
  const rows = all.filter(({ basis }) => basis !== 'unknown');
  const published = new Map<number, DateInt>();
  for (const { source, asOf } of rows) {
    if (asOf > (published.get(source) ?? 0)) published.set(source, asOf);
  }
  const keys = new Map<string, Set<string>>();
  for (const row of rows) {
    if (row.to < published.get(row.source)!) continue;
    const name = input.sources[row.source]?.name ?? '';
    keys.set(name, (keys.get(name) ?? new Set()).add(keyOf(row)));
  }
  return Object.fromEntries(
    [...keys]
      .map(([name, own]): [string, number] => [name, own.size])
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

function localLevel(load: LoadedRates, rowsOf: LevelRows, mark: ListMark): CoverageLevel {
  const source = load.input.sources[mark.source];
  const held = mark.mark === 'complete' || mark.mark === 'partial';
  const rows = rowsOf(mark.state, mark.level);
  const lists = listsOf(load, rows);
  const asOf = source && held ? newest(rows, source.asOf) : DATE_OPEN;
  return {
    level: mark.level,
    completeness: mark.mark,
    source: source?.name ?? '',
    asOf: asOf === DATE_OPEN ? '' : formatDate(asOf),
    until: mark.until === DATE_OPEN ? '' : formatDate(mark.until),
    // A level without taxes may have rows for the past.
    jurisdictions: held ? countOf(rows, ({ basis }) => basis !== 'unknown') : 0,
    ...(Object.keys(lists).length === 0 ? {} : { lists }),
  };
}

/**
 * The gap text of a mark with its figures, which depend on the lists and places of the build:
 * {held} jurisdictions, {refused} of them without a rate, and {all} counties or municipalities of
 * the state.
 */
function gapText(load: LoadedRates, rowsOf: LevelRows, mark: ListMark): string {
  const rows = rowsOf(mark.state, mark.level);
  const figures: Readonly<Record<string, () => number>> = {
    held: () => countOf(rows, ({ basis }) => basis !== 'unknown'),
    refused: () => refusedOf(rows),
    all: () =>
      (mark.level === 'county' ? load.input.counties : load.input.places).filter(
        ({ state }) => state === mark.state,
      ).length,
  };
  return mark.gap.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const figure = figures[name];
    if (figure === undefined) throw new RangeError(`${mark.state} ${mark.level}: no ${name}`);
    return String(figure());
  });
}

/** Beginning of the gap that names listed cities without a boundary. */
export const UNPLACED_GAP = 'listed cities without boundary: ';

/** Coverage of every state and province, in the order of the states. */
export function coverage(load: LoadedRates): readonly CoverageState[] {
  const { input } = load;
  const rowsOf = levelRows(load);
  const unplaced = load.reports.flatMap((report) => report.unplaced);
  return input.states.map((state): CoverageState => {
    const marks = input.marks.filter((mark) => mark.state === state.code);
    const names = unplaced.filter((city) => city.state === state.code).map((city) => city.name);
    const cities = [...new Set(names)].sort().join(', ');
    const notes = load.notSupported.filter((entry) => entry.state === state.code);
    return {
      state: state.code,
      name: state.name,
      levels: [
        rateLevel(load, rowsOf, state),
        ...marks.map((mark) => localLevel(load, rowsOf, mark)),
      ],
      placeBoundaries: false,
      addressPoints: 0,
      gaps: [
        ...new Set(marks.map((mark) => gapText(load, rowsOf, mark)).filter((gap) => gap !== '')),
        ...(cities === '' ? [] : [UNPLACED_GAP + cities]),
        ...notes.map(({ note }) => `not supported: ${note}`),
      ],
    };
  });
}

/** What the coverage needs to know of a build. */
interface CoverageInput {
  readonly rates: LoadedRates;
  readonly boundaries: Pick<Boundaries, 'placesLoaded'>;
  readonly states: readonly { readonly code: string; readonly fips: string }[];
  /** The newest date of any source. */
  readonly asOf: DateInt;
}

/** Coverage of each state: its rates, boundaries, doors and boundary files. */
export function heldCoverage(
  { rates, boundaries, states, asOf }: CoverageInput,
  { doors, lost, stated }: Addresses,
  zips: readonly ZipRecord[],
): readonly CoverageState[] {
  const leftOut = lostByState(lost);
  const byZip =
    stated.size === 0 ? new Map<number, ZipRecord>() : new Map(zips.map((zip) => [zip.zip, zip]));
  const files = new Map([...stated].map(([state, own]) => [state, stateFileCoverage(own, byZip)]));
  const fips = new Map(states.map(({ code, fips: own }) => [code, own]));
  return coverage(rates).map((state): CoverageState => {
    const file = files.get(state.state);
    return {
      ...state,
      placeBoundaries: boundaries.placesLoaded.has(fips.get(state.state) ?? '-'),
      addressPoints: doors.get(state.state) ?? 0,
      ...(file === undefined ? {} : { stateFile: file }),
      gaps: [
        ...state.gaps,
        ...(leftOut.has(state.state) ? [leftOut.get(state.state)!] : []),
        ...(file === undefined ? [] : stateFileGaps(file, formatDate(asOf))),
      ],
    };
  });
}

// Coverage as a table in Markdown, which the documentation includes.

/** "complete (38) 2026-07-01, until 2026-12-31" */
export function coverageCell(level: CoverageLevel | undefined): string {
  if (level === undefined) return '';
  const until = level.until === '' ? '' : `, until ${level.until}`;
  const asOf = level.asOf === '' ? '' : ` ${level.asOf}${until}`;
  const count = level.jurisdictions > 0 ? ` (${level.jurisdictions})` : '';
  return `${level.completeness}${count}${asOf}`;
}

/** Formats one line per state: how each level is known, boundaries, doors, gaps. */
export function coverageTable(states: readonly CoverageState[]): string {
  const lines = [
    '| State | State rate | Counties | Cities | Districts | City boundaries | Doors | Gaps |',
    '|---|---|---|---|---|---|---|---|',
  ];
  for (const state of states) {
    const level = (name: string): string =>
      coverageCell(state.levels.find((entry) => entry.level === name));
    lines.push(
      `| ${[
        state.state,
        level('state'),
        level('county'),
        level('city'),
        level('district'),
        state.placeBoundaries ? 'yes' : 'no',
        state.addressPoints || '',
        state.gaps.join('; '),
      ].join(' | ')} |`,
    );
  }
  return lines.join('\n');
}
