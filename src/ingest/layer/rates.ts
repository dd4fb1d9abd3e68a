/** Applies layers to rate lists, and reports what each row of a layer replaces. */
import type { SourceRecord } from '../../dataset/records.js';
import type { DateInt } from '../../tax/date.js';
import { formatRate, type Rate, RATE_ZERO } from '../../tax/rate.js';
import type { RateRow } from '../model.js';
import type { DistrictMember, ListMark } from '../rates/facts.js';
import { DATE_MIN, DATE_OPEN, formatDate } from '../rates/list.js';
import { indexRows } from '../rates/rate-rows.js';
import { paint, type Segment } from '../rates/timeline.js';
import { type Base, type BaseRates, Finder, type Found, membersOf } from './finder.js';
import { type Layer, layerLabel } from './layer-files.js';
import type { LayerRate } from './table.js';

/** A row of a layer for a district. */
export interface PlacedDistrict {
  readonly layer: Layer;
  readonly row: LayerRate;
  readonly code: string;
  /** FIPS digits. */
  readonly state: string;
  /** Whether the lists lack the district, so that the layer has to say where it is. */
  readonly isNew: boolean;
}

/** The lists with the layers applied. */
export interface LayeredRates extends Omit<BaseRates, 'gazetteer' | 'tiers'> {
  readonly districts: readonly PlacedDistrict[];
  /** A sentence on the effect of each row. */
  readonly lines: readonly string[];
}

function percent(rate: Rate): string {
  return `${formatRate((rate * 100) as Rate)} %`;
}

function days(from: DateInt, to: DateInt): string {
  const begin = from <= DATE_MIN ? '' : ` from ${formatDate(from)}`;
  return begin + (to >= DATE_OPEN ? '' : ` until ${formatDate(to)}`);
}

/** The rows that a jurisdiction has before the layer, as the rate book uses them. */
function heldOf({ index }: Base, { level, state }: LayerRate, found: Found): readonly RateRow[] {
  switch (level) {
    case 'state':
      return index.state(state);
    case 'county':
      return index.county(found.county);
    case 'city':
      return index.city(found.place, found.county);
    case 'district':
      return index.district(state, found.code);
  }
}

function isSame(segment: Segment, row: RateRow): boolean {
  return segment.basis === row.basis && segment.sales === row.sales && segment.use === row.use;
}

/** What the lists have for the days of a layer's row, and how that is replaced. */
function replacedBy(
  base: Base,
  row: LayerRate,
  found: Found,
  own: RateRow,
  sources: readonly SourceRecord[],
): string {
  const held = paint(heldOf(base, row, found)).filter(
    ({ from, to }) => from <= own.to && to >= own.from,
  );
  const said = `${found.label} ${percent(own.sales)}${days(own.from, own.to)}`;
  const told = held.map((one) =>
    one.basis === 'unknown'
      ? 'what was unknown'
      : `${percent(one.sales)}${one.basis === 'own' ? '' : ` (${one.basis})`}` +
        `${days(one.from, one.to)} of ${sources[one.source]?.name ?? 'the base'}`,
  );
  if (held.length > 0) {
    return held.every((one) => isSame(one, own))
      ? `${said} repeats ${told.join(', ')}`
      : `${said} replaces ${told.join(', ')}`;
  }
  const mark = base.marks.find((one) => one.state === row.state && one.level === row.level);
  const silent = mark?.unlisted === 'nothing' && row.level !== 'district';
  const why = mark?.mark === 'not-levied' ? 'the law levies none there' : 'its list has none';
  return silent && own.sales > 0
    ? `${said} contradicts ${sources[mark.source]?.name ?? 'the base'}: ${why}`
    : `${said} is new`;
}

/** Marks of levels that only layers have rates for; such a level is partially known. */
function marksWith(
  marks: readonly ListMark[],
  touched: ReadonlyMap<string, number>,
): readonly ListMark[] {
  return marks.map((mark) => {
    const source = touched.get(`${mark.state}/${mark.level}`);
    if (source === undefined || (mark.mark !== 'none' && mark.mark !== 'not-levied')) return mark;
    return { ...mark, mark: 'partial', source, gap: 'only what layers of the operator hold' };
  });
}

interface Taken {
  readonly rows: RateRow[];
  readonly members: DistrictMember[];
  readonly sources: SourceRecord[];
  readonly names: Map<string, string>;
  readonly districts: PlacedDistrict[];
  readonly touched: Map<string, number>;
  readonly lines: string[];
}

function sourceOf(layer: Layer, row: LayerRate, sources: SourceRecord[]): number {
  const name = layerLabel(layer.name);
  const known = sources.find((one) => one.name === name && one.publisher === row.source);
  if (known !== undefined) return known.id;
  const asOf = layer.rates
    .filter(({ source }) => source === row.source)
    .reduce((last, one) => (one.asOf > last ? one.asOf : last), row.asOf);
  sources.push({
    id: sources.length,
    name,
    publisher: row.source,
    licence: "the operator's own",
    asOf,
    estimated: false,
  });
  return sources.length - 1;
}

function at({ name, faults }: Layer, { line }: LayerRate): string {
  return `layer ${name}: ${faults.file} line ${line}`;
}

/** Whether the lists have a district, at least its name or where it lies. */
function knows(base: Base, { state, code }: Pick<RateRow, 'state' | 'code'>): boolean {
  return (
    base.districtNames.has(`${state}/${code}`) ||
    base.index.district(state, code).length > 0 ||
    base.members.some((one) => one.state === state && one.code === code)
  );
}

function takeDistrict(
  base: Base,
  layer: Layer,
  row: LayerRate,
  { code }: Found,
  finder: Finder,
  taken: Taken,
): void {
  const key = `${row.state}/${code}`;
  const held = knows(base, { state: row.state, code });
  const members = membersOf(finder, row, code);
  const foreign = taken.districts.find((one) => one.code === code && one.row.state !== row.state);
  if (foreign !== undefined) {
    finder.fault(row, 'code', `${code} is a district of ${foreign.row.state} too: name another`);
  }
  const isPlaced = members.length > 0 || row.zips.length > 0 || row.boundary !== '';
  if (isPlaced && held) {
    taken.lines.push(
      `${at(layer, row)}: the district ${row.name}, ${row.state} lies where the ` +
        'layer says, no longer where the base does',
    );
    const others = taken.members.filter((one) => one.state !== row.state || one.code !== code);
    taken.members.splice(0, taken.members.length, ...others);
  }
  taken.members.push(...members);
  if (!taken.names.has(key)) taken.names.set(key, row.name);
  const state = base.states.get(row.state)?.fips ?? '';
  taken.districts.push({ layer, row, code, state, isNew: !held });
}

/** The rate row that a layer's row becomes. */
function ownRow(row: LayerRate, found: Found, source: number): RateRow | null {
  const { state, level, basis, sales, use, from, to, asOf } = row;
  if (sales === null || use === null) return null;
  const { county, place, code } = found;
  const name = row.name === '*' ? found.label : row.name;
  return { state, level, county, place, name, code, basis, sales, use, from, to, source, asOf };
}

/**
 * A row for the other days where the lists have no row. A list that begins with a layer's row would
 * be taken for unknown before that row, which must not happen.
 */
function rowBelow(base: Base, own: RateRow, label: string, layer: Layer): RateRow | null {
  const none = { ...own, from: DATE_MIN, to: DATE_OPEN, sales: RATE_ZERO, use: RATE_ZERO };
  if (own.level === 'district') return knows(base, own) ? null : none;
  const mark = base.marks.find((one) => one.state === own.state && one.level === own.level);
  if (mark?.unlisted === 'nothing') {
    return { ...none, basis: 'own', from: mark.since, source: mark.source, asOf: mark.since };
  }
  const note = `${label}: the layer ${layer.name} has no rate of this day.`;
  return mark === undefined ? null : { ...none, basis: 'unknown', note };
}

function clashes(layer: Layer, done: Map<string, LayerRate[]>, row: LayerRate, at: Found): void {
  const key = `${row.level}/${row.state}/${at.county}/${at.place}/${at.code}`;
  const others = done.get(key) ?? [];
  const other =
    row.sales === null
      ? undefined
      : others.find((one) => one.sales !== null && one.from <= row.to && one.to >= row.from);
  if (other !== undefined) {
    layer.faults.add(
      row.line,
      'from',
      `line ${other.line} has a rate of ${at.label} for the same ` + 'days',
    );
  }
  done.set(key, [...others, row]);
}

function takeLayer(base: Base, layer: Layer, taken: Taken): void {
  const finder = new Finder(base, layer);
  const done = new Map<string, LayerRate[]>();
  const below: RateRow[] = [];
  const rows: RateRow[] = [];
  for (const row of layer.rates) {
    const source = sourceOf(layer, row, taken.sources);
    for (const found of finder.find(row)) {
      clashes(layer, done, row, found);
      if (row.level === 'district') takeDistrict(base, layer, row, found, finder, taken);
      const own = ownRow(row, found, source);
      if (own === null) continue;
      const isHeld = heldOf(base, row, found).length > 0;
      const other = isHeld ? null : rowBelow(base, own, found.label, layer);
      if (other !== null) below.push(other);
      rows.push(own);
      taken.touched.set(`${row.state}/${row.level}`, source);
      taken.lines.push(`${at(layer, row)}: ${replacedBy(base, row, found, own, taken.sources)}`);
    }
  }
  layer.faults.settle();
  taken.rows.push(...below, ...rows);
}

/**
 * Applies layers to the lists, later layers over earlier ones.
 * @throws Error with every row whose jurisdiction, place or days are unclear.
 */
export function withLayers(given: BaseRates, layers: readonly Layer[]): LayeredRates {
  const states = new Map(given.gazetteer.states().map((state) => [state.code, state]));
  const taken: Taken = {
    rows: [...given.rows],
    members: [...given.members],
    sources: [...given.sources],
    names: new Map(given.districtNames),
    districts: [],
    touched: new Map(),
    lines: [],
  };
  const tiers = new Map(given.tiers.map((tier) => [tier.county, tier]));
  for (const layer of layers) {
    takeLayer(
      {
        ...given,
        states,
        rows: taken.rows.slice(),
        members: taken.members.slice(),
        districtNames: new Map(taken.names),
        index: indexRows(taken.rows, tiers, new Map()),
      },
      layer,
      taken,
    );
  }
  return {
    rows: taken.rows,
    members: taken.members,
    sources: taken.sources,
    districtNames: taken.names,
    marks: marksWith(given.marks, taken.touched),
    districts: taken.districts,
    lines: taken.lines,
  };
}
