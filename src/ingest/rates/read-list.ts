/** Reads one list of a recipe with its older publications. Errors name the list. */
import type { SourceRecord } from '../../dataset/records.js';
import type { DateInt } from '../../tax/date.js';
import type { RateRow } from '../model.js';
import { READERS } from '../readers.js';
import type { RateList } from '../recipe.js';
import { headerAt, splitRows } from '../source/table-text.js';
import { type DistrictMember, type DistrictName, sourceIndex } from './facts.js';
import type { Gazetteer } from './gazetteer.js';
import {
  checkFigures,
  DATE_OPEN,
  type Land,
  listDate,
  ListReport,
  type ListResult,
} from './list.js';
import { joinVintages, type Vintage } from './timeline.js';

/** What is needed to read lists. */
export interface Loading {
  readonly files: { text(path: string): string };
  readonly gazetteer: Gazetteer;
  readonly sources: readonly SourceRecord[];
  readonly names: readonly DistrictName[];
}

/** A list with its older publications, joined. */
export interface ReadList {
  readonly rows: readonly RateRow[];
  readonly members: readonly DistrictMember[];
  /** Reports of its publications, the newest last. */
  readonly reports: readonly ListReport[];
  readonly codes: ReadonlyMap<string, Land>;
}

/** Source number for a list whose rows name their own sources. */
const NO_SOURCE = -1;

/** Beginning of a text in which a header is searched; titles and notes may precede it. */
const HEADER_CHARS_MAX = 65_536;

/** @throws Error where a list lacks a column, because its publisher has changed the layout. */
function checkHeader(text: string, columns: string | undefined, path: string): void {
  if (columns === undefined) return;
  const top = text.slice(0, HEADER_CHARS_MAX);
  const rows = splitRows(top, top.slice(0, top.indexOf('\n')).includes('\t') ? '\t' : ',');
  const wanted = columns.split('|');
  if (headerAt(rows, wanted) >= 0) return;
  const found = new Set((rows[0] ?? []).map((cell) => cell.trim().toLowerCase()));
  const missing = wanted.filter((name) => !found.has(name.toLowerCase()));
  throw new Error(
    `${path}: its layout is another: it has no column ${missing.join(', ')}, but: ` +
      `${(rows[0] ?? []).join(', ').slice(0, 200) || 'no header'}`,
  );
}

/** Runs a reader; an exception gets the list's name. */
function readIn<Result>(path: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * Checks that a list has rows of its state. Without any, it would seem that nothing is levied.
 * @throws RangeError if not.
 */
function checkRows(
  { rows, codes }: Pick<ListResult, 'rows' | 'codes'>,
  { read, dropped }: ListReport,
  ofState: string,
  gazetteer: Gazetteer,
): void {
  // All rows may have been left out on purpose, because another list has them. Rates by codes apply
  // whatever jurisdictions their names match.
  if (read === 0 || rows.length + dropped.length + (codes?.size ?? 0) === 0) {
    throw new RangeError(`it has no rows${ofState === '' ? '' : ` of ${ofState}`}`);
  }
  const fipsOf = new Map(gazetteer.states().map(({ code, fips }) => [code, fips]));
  for (const { state, county, place, name } of rows) {
    const fips = fipsOf.get(state) ?? '';
    const strange = [county, place].find((code) => !code.startsWith(fips) && code !== '');
    if (strange === undefined) continue;
    throw new RangeError(
      `it is of another state: ${name} has the code ${strange}, none of ${state}`,
    );
  }
}

/**
 * Reads one publication of a list. Its day is that of its source, unless `earlier` gives another.
 */
function readVintage(
  list: RateList,
  loading: Loading,
  published?: DateInt,
): Vintage & Pick<ListResult, 'codes'> & { readonly report: ListReport } {
  const { files, gazetteer, sources, names } = loading;
  const report = new ListReport(`${list.reader} ${list.path}${list.state ? `#${list.state}` : ''}`);
  const sourceOf = sourceIndex(sources);
  const reader = READERS.lists.get(list.reader);
  if (!reader) throw new RangeError(`no reader named "${list.reader}" for ${list.path}`);
  const source = list.source === undefined ? NO_SOURCE : sourceOf(list.source);
  const state = list.state ?? '';
  const asOf = published ?? sources[source]?.asOf ?? DATE_OPEN;
  const text = files.text(list.path);
  checkHeader(text, reader.columns, list.path);
  const result = readIn(list.path, () =>
    reader.read(text, {
      state,
      gazetteer,
      source,
      sourceOf,
      report,
      asOf,
      options: list.options ?? {},
      extra: (option) => files.text(list.files?.[option] ?? ''),
      districtCode: (listed) =>
        names.find((name) => name.state === state && name.listed === listed)?.code ?? null,
    }),
  );
  readIn(list.path, () => {
    checkFigures(result.rows);
    checkRows(result, report, state, gazetteer);
  });
  return { ...result, report, list: report.list, asOf };
}

/** Reads a list with its older publications, and records contradictions in and between them. */
export function readList({ earlier = [], ...list }: RateList, loading: Loading): ReadList {
  const newest = readVintage(list, loading);
  const older = earlier.map(({ asOf, ...file }) => {
    const day = readIn(file.path, () => listDate(asOf, DATE_OPEN));
    return readVintage({ ...list, ...file }, loading, day);
  });
  const { rows, members, contradictions } = joinVintages([...older, newest]);
  newest.report.contradictions.push(...contradictions);
  return {
    rows,
    members,
    reports: [...older, newest].map(({ report }) => report),
    codes: newest.codes ?? new Map(),
  };
}
