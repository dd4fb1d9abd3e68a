/**
 * Findings about a release whose bytes are sound: figures that cannot be right, or should be
 * examined.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { byteTable, openTables, recordReader } from '../../dataset/layout.js';
import {
  type CoverageState,
  DATA_FILE,
  type Finding,
  type Manifest,
  readManifest,
} from '../../dataset/manifest.js';
import type { AreaRecord, ComponentRecord, ZipRecord } from '../../dataset/records.js';
import { type DateInt, formatDate } from '../../tax/date.js';
import { formatRate, parsePercent, type Rate, RATE_ONE, RATE_ZERO } from '../../tax/rate.js';
import { UNPLACED_GAP } from '../coverage.js';
import { dayAfter } from '../rates/list.js';
import { datasetsDir } from '../source-files.js';
import { readTable } from '../source/table-text.js';
import { finding } from './finding.js';
import { shrunkFindings } from './list-shrunk.js';

/** No place in any state levies more, by all lists; a higher total was added up twice. */
const TOTAL_MAX = 0.15 * RATE_ONE;
const JUMP_MAX = 0.03 * RATE_ONE;
/** Least number of a county's ZIPs that show where it is. */
const COUNTY_ZIPS_MIN = 2;

/** Most that all local levies of a state may add up to, by state. */
type LocalBounds = ReadonlyMap<string, Rate>;

/** Reads the table of bounds: state, most_local (percent), citation. */
function readBounds(text: string): LocalBounds {
  return new Map(
    readTable(text, '\t').map((row) => {
      const most = parsePercent(row.get('most_local'));
      if (most === null) throw new RangeError(`line ${row.line}: most_local`);
      return [row.get('state'), most];
    }),
  );
}

/** States where by law no level below the state levies. */
function withoutLocals(coverage: readonly CoverageState[]): LocalBounds {
  return new Map(
    coverage
      .filter(
        ({ levels }) =>
          levels.length > 1 &&
          levels.every(
            ({ level, completeness }) => level === 'state' || completeness === 'not-levied',
          ),
      )
      .map(({ state }) => [state, RATE_ZERO]),
  );
}

function percent(rate: number): string {
  return `${formatRate(Math.round(rate * 100) as Rate)} %`;
}

function placeOf(area: AreaRecord): string {
  return [area.placeName, area.countyFullName, area.state].filter((name) => name !== '').join(', ');
}

/** Whether an area has no known rate on a day. */
function isRefused({ unknown }: AreaRecord, day: DateInt): boolean {
  return unknown.some(({ from, to }) => from <= day && to >= day);
}

const NO_COMPONENT: Pick<ComponentRecord, 'level' | 'jurName' | 'jurCode' | 'periods'> = {
  level: 'state',
  jurName: '',
  jurCode: null,
  periods: [],
};

/** The finding for the first day on which an area's total is out of bounds; null for none. */
function totalFinding(
  area: AreaRecord,
  components: ReadonlyMap<number, ComponentRecord>,
  bounds: LocalBounds,
): Finding | null {
  const own = area.components.flatMap((id) => components.get(id) ?? []);
  const days = new Set(own.flatMap(({ periods }) => periods.map(({ from }) => from)));
  for (const day of [...days].sort((one, other) => one - other)) {
    if (isRefused(area, day)) continue;
    let [total, local] = [0, 0];
    for (const { level, periods } of own) {
      const sales = periods.find(({ from, to }) => from <= day && to >= day)?.sales ?? 0;
      total += sales;
      if (level !== 'state') local += sales;
    }
    const most = area.country === 'USA' ? bounds.get(area.state) : undefined;
    if (total > TOTAL_MAX || (most !== undefined && local > most)) {
      return finding(
        'total-out-of-bounds',
        placeOf(area),
        most !== undefined && local > most
          ? `${percent(local)} of local taxes on ${formatDate(day)}, ` +
              `the law allows ${percent(most)}`
          : `${percent(total)} on ${formatDate(day)}, more than ${percent(TOTAL_MAX)}`,
      );
    }
  }
  return null;
}

/** Findings about totals; places with the same name and figures are reported once. */
function totalFindings(
  areas: Iterable<AreaRecord>,
  components: ReadonlyMap<number, ComponentRecord>,
  bounds: LocalBounds,
): readonly Finding[] {
  const found = new Map<string, Finding>();
  for (const area of areas) {
    const one = totalFinding(area, components, bounds);
    if (one !== null) found.set(`${one.place}|${one.figures}`, one);
  }
  return [...found.values()];
}

/**
 * Rates that change by more than three points from one day to the next, if a place is answered on
 * both days.
 */
function jumpFindings(
  areas: Iterable<AreaRecord>,
  components: ReadonlyMap<number, ComponentRecord>,
): readonly Finding[] {
  const found = new Map<string, Finding>();
  for (const area of areas) {
    for (const id of area.components) {
      const { level, jurName, jurCode, periods } = components.get(id) ?? NO_COMPONENT;
      periods.forEach((period, at) => {
        const before = periods[at - 1];
        if (before === undefined || dayAfter(before.to) !== period.from) return;
        if (Math.abs(period.sales - before.sales) <= JUMP_MAX) return;
        if (isRefused(area, before.to) || isRefused(area, period.from)) return;
        const place = `${area.state} ${level} ${jurName}${jurCode === null ? '' : ` (${jurCode})`}`;
        const figures =
          `${percent(before.sales)} until ${formatDate(before.to)}, ` +
          `${percent(period.sales)} from the day after`;
        found.set(place + figures, finding('rate-jump', place, figures));
      });
    }
  }
  return [...found.values()];
}

interface CountyZips {
  readonly name: string;
  readonly states: Map<string, number>;
}

/** ZIPs and counties that lie in another state than that of their post office. */
function stateFindings(
  zips: Iterable<ZipRecord>,
  areas: ReadonlyMap<number, AreaRecord>,
): readonly Finding[] {
  const found: Finding[] = [];
  const counties = new Map<string, CountyZips>();
  for (const { zip, state, parts } of zips) {
    const of = parts.flatMap((part) => areas.get(part.area) ?? []);
    const states = [...new Set(of.map((area) => area.state))].sort();
    if (state !== '' && of.length > 0 && !states.includes(state)) {
      found.push(
        finding(
          'zip-outside-state',
          `ZIP ${String(zip).padStart(5, '0')}`,
          `its post office is in ${state}, all its parts lie in ${states.join(', ')}`,
        ),
      );
    }
    for (const area of new Set(of.map((one) => `${one.stateFips}${one.countyFips}`))) {
      const one = of.find((each) => `${each.stateFips}${each.countyFips}` === area)!;
      if (one.countyFips === '' || state === '') continue;
      const county = counties.get(area) ?? {
        name: `${one.countyFullName}, ${one.state}`,
        states: new Map<string, number>(),
      };
      county.states.set(state, (county.states.get(state) ?? 0) + 1);
      counties.set(area, county);
    }
  }
  return [...found, ...countyFindings(counties)];
}

function countyFindings(counties: ReadonlyMap<string, CountyZips>): readonly Finding[] {
  return [...counties.values()].flatMap(({ name, states }) => {
    const own = name.slice(-2);
    const others = [...states].filter(([state]) => state !== own);
    const beyond = others.reduce((sum, [, count]) => sum + count, 0);
    if (states.has(own) || beyond < COUNTY_ZIPS_MIN) return [];
    const where = others.map(([state, count]) => `${count} of ${state}`).join(', ');
    return [
      finding('county-outside-state', name, `none of its ZIPs is of the state, but ${where}`),
    ];
  });
}

/** Cities and districts with rates but without a known place, as coverage lists them. */
function unplacedFindings(coverage: readonly CoverageState[], mark: string): readonly Finding[] {
  return coverage.flatMap(({ state, gaps }) =>
    gaps
      .filter((gap) => gap.startsWith(mark))
      .flatMap((gap) =>
        gap
          .slice(mark.length)
          .split(', ')
          .map((city) =>
            finding(
              'jurisdiction-without-boundary',
              `${city}, ${state}`,
              'the list names the city, no boundary of it is held',
            ),
          ),
      ),
  );
}

/**
 * File of the bounds by states' laws. It is not among the facts, since it is no source of any
 * figure.
 */
const BOUNDS = join('checks', 'rate_bounds.tsv');
function boundsOf({ coverage }: Manifest): LocalBounds {
  const file = join(datasetsDir(), BOUNDS);
  const held = existsSync(file) ? readBounds(readFileSync(file, 'utf8')) : new Map();
  return new Map([...withoutLocals(coverage), ...held]);
}

/**
 * Findings of the release in `dir`, beginning with those of its build. `before` is the manifest of
 * a release to compare lists with. Keeps areas and components in memory; does not read streets and
 * leaves.
 * @throws Error when there is no readable release.
 */
export async function findingsOf(
  dir: string,
  before: Manifest | null,
): Promise<readonly Finding[]> {
  const manifest = readManifest(dir);
  const tables = openTables(join(dir, DATA_FILE), 'read');
  try {
    const reader = recordReader(byteTable(tables.text.meta).get('structures'));
    const all = function* all<T>(name: 'areas' | 'components' | 'zips'): Generator<T> {
      for (const { value } of tables.number[name].getRange({})) yield reader.unpack(value) as T;
    };
    const areas = new Map([...all<AreaRecord>('areas')].map((area) => [area.id, area]));
    const components = new Map([...all<ComponentRecord>('components')].map((one) => [one.id, one]));
    return [
      ...(manifest.findings ?? []),
      ...unplacedFindings(manifest.coverage, UNPLACED_GAP),
      ...totalFindings(areas.values(), components, boundsOf(manifest)),
      ...jumpFindings(areas.values(), components),
      ...stateFindings(all<ZipRecord>('zips'), areas),
      ...(before === null ? [] : shrunkFindings(before, manifest)),
    ];
  } finally {
    await tables.root.close();
  }
}
