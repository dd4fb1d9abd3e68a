/** Applies layers to what a recipe has: boundaries, places of districts and product rules. */
import { dayBefore } from '../../tax/date.js';
import { formatRate } from '../../tax/rate.js';
import { type Boundaries, type BoundaryFeature, drawnOver } from '../boundary/overlay.js';
import type { RateBookInput } from '../rates/book.js';
import type { DistrictMember } from '../rates/facts.js';
import { DATE_MIN, DATE_OPEN, dayAfter, formatDate, listDate } from '../rates/list.js';
import { drawnDistricts, type OwnDistrict, OwnDistricts } from './districts.js';
import { boundaryOf, type Layer, layerLabel } from './layer-files.js';
import type { LayeredRates, PlacedDistrict } from './rates.js';
import type { LayerProduct } from './table.js';

/** The counties of each ZIP in any list of a recipe. */
type ZipCounties = ReadonlyMap<number, ReadonlySet<string>>;

/** Districts of layers: those that are drawn, and those that consist of ZIPs. */
interface DistrictPlaces {
  readonly features: readonly BoundaryFeature[];
  readonly districts: readonly OwnDistrict[];
}

type Placed =
  | { readonly kind: 'drawn'; readonly feature: BoundaryFeature }
  | { readonly kind: 'listed'; readonly district: OwnDistrict };

function byZips({ layer, row, code, state }: PlacedDistrict, known: ZipCounties): OwnDistrict {
  const counties = new Set<string>();
  for (const zip of row.zips) {
    const all = known.get(zip);
    const own = [...(all ?? [])].filter((county) => county.startsWith(state));
    for (const county of own) counties.add(county);
    const text = String(zip).padStart(5, '0');
    if (own.length === 0) {
      layer.faults.add(
        row.line,
        'zips',
        all === undefined
          ? `no list knows the ZIP ${text}`
          : `the ZIP ${text} is none of ${row.state}`,
      );
    }
  }
  return { code, state, zips: row.zips, counties: [...counties].sort(), whole: [] };
}

async function placeOf(one: PlacedDistrict, known: ZipCounties): Promise<Placed | null> {
  const { layer, row, code } = one;
  if (row.zips.length > 0 && row.boundary !== '') {
    layer.faults.add(row.line, 'zips', 'it has a boundary, which says where it is');
  }
  if (row.zips.length > 0) return { kind: 'listed', district: byZips(one, known) };
  const feature = await boundaryOf(layer, row, code, row.code || row.name);
  return feature === null ? null : { kind: 'drawn', feature };
}

/**
 * Finds the land of every district of the layers; any of its rows may give it.
 * @throws Error with the rows of districts without land, and of boundaries that cannot be read.
 */
async function placeDistricts(
  rows: readonly PlacedDistrict[],
  members: readonly DistrictMember[],
  known: ZipCounties,
): Promise<DistrictPlaces> {
  const found = new Map<string, { readonly of: PlacedDistrict; readonly place: Placed }>();
  const unread = new Set<string>();
  for (const one of rows) {
    const { layer, row, code, isNew } = one;
    if (row.boundary === '' && row.zips.length === 0 && !isNew) continue;
    const place = await placeOf(one, known);
    const before = found.get(code);
    if (
      place !== null &&
      before?.of.layer === layer &&
      row.boundary + row.zips.join() !== '' &&
      before.of.row.boundary + before.of.row.zips.join() !== row.boundary + row.zips.join()
    ) {
      layer.faults.add(row.line, 'boundary', `line ${before.of.row.line} places it elsewhere`);
    }
    if (place !== null) found.set(code, { of: one, place });
    else if (row.boundary !== '') unread.add(code);
  }
  for (const { layer, row, code, isNew } of rows) {
    const isMember = members.some((one) => one.state === row.state && one.code === code);
    if (!isNew || isMember || found.has(code) || unread.has(code)) continue;
    layer.faults.add(
      row.line,
      'boundary',
      `nobody knows where the district ${row.name} is: name a ` +
        'GeoJSON file of its boundary, its zips, or the counties or cities that it holds in',
    );
  }
  for (const { layer } of rows) layer.faults.settle();
  const places = [...found.values()];
  return {
    features: places.flatMap(({ place }) => (place.kind === 'drawn' ? [place.feature] : [])),
    districts: places.map(({ of: { code, state }, place }) =>
      place.kind === 'drawn' ? { code, state, zips: [], counties: [], whole: [] } : place.district,
    ),
  };
}

/** A row of the product table, by column. */
type ProductRow = Readonly<Record<string, string>>;

const BETWEEN_CODES = ';';

function codesOf(row: ProductRow): readonly string[] {
  return (row['tic'] ?? '').split(BETWEEN_CODES).filter((tic) => tic !== '');
}

function day(date: number): string {
  return String(date).padStart(8, '0');
}

function rowOf({ name }: Layer, rule: LayerProduct): ProductRow {
  const { state, tics, taxable, rate, scope, condition, from, to, source, asOf } = rule;
  return {
    state,
    category: layerLabel(name),
    tic: tics.join(BETWEEN_CODES),
    taxable,
    state_rate: rate === null ? '' : formatRate(rate),
    percent_taxable: '',
    threshold_usd: '',
    threshold_kind: '',
    scope,
    scope_basis: source,
    food_drug: 'no',
    covers_children: 'no',
    condition,
    effective_from: day(from),
    effective_to: to >= DATE_OPEN ? '' : day(to),
    citation: source,
    confidence: 'medium',
    source: layerLabel(name),
    as_of: day(asOf),
  };
}

/** The rows that a table's row leaves beside a rule: for its other codes, and for other days. */
function leftOf(row: ProductRow, rule: LayerProduct): readonly ProductRow[] {
  const from = listDate(row['effective_from'] ?? '', DATE_MIN);
  const to = listDate(row['effective_to'] ?? '', DATE_OPEN);
  const hit =
    row['state'] === rule.state && from <= rule.to && to >= rule.from
      ? codesOf(row).filter((tic) => rule.tics.includes(tic))
      : [];
  if (hit.length === 0) return [row];
  const others = codesOf(row).filter((tic) => !hit.includes(tic));
  const same = { ...row, tic: hit.join(BETWEEN_CODES) };
  return [
    ...(others.length > 0 ? [{ ...row, tic: others.join(BETWEEN_CODES) }] : []),
    ...(from < rule.from ? [{ ...same, effective_to: day(dayBefore(rule.from)) }] : []),
    ...(to > rule.to ? [{ ...same, effective_from: day(dayAfter(rule.to)) }] : []),
  ];
}

/**
 * The product table with the rules of the layers, and what each rule has replaced.
 * @throws Error with the rows of unknown codes (not in `tics`) and unknown states.
 */
function withProducts(
  rows: readonly ProductRow[],
  layers: readonly Layer[],
  tics: ReadonlySet<string>,
  states: ReadonlySet<string>,
): { readonly rows: readonly ProductRow[]; readonly lines: readonly string[] } {
  let table = rows;
  const lines: string[] = [];
  for (const layer of layers) {
    for (const rule of layer.products) {
      for (const tic of rule.tics) {
        if (!tics.has(tic)) layer.faults.add(rule.line, 'tic', `the catalogue has no code ${tic}`);
      }
      if (!states.has(rule.state)) {
        layer.faults.add(rule.line, 'state', `"${rule.state}" is no state of the recipe`);
      }
      const left = table.flatMap((row) => leftOf(row, rule));
      const replaced = table.filter((row) => !left.includes(row));
      lines.push(
        `layer ${layer.name}: ${layer.faults.file} line ${rule.line}: ${rule.state} ` +
          `${rule.tics.join(', ')} taxable ${rule.taxable} from ${formatDate(rule.from)}` +
          (replaced.length === 0
            ? ' is new'
            : ` replaces ${replaced
                .map((row) => `${row['category'] ?? ''} (taxable ${row['taxable'] ?? ''})`)
                .join(', ')}`),
      );
      table = [...left, rowOf(layer, rule)];
    }
    layer.faults.settle();
  }
  return { rows: table, lines };
}

export type Documents = ReadonlyMap<string, readonly ProductRow[]>;

/** What a recipe has before layers are applied. */
interface Unlayered {
  readonly boundaries: Boundaries;
  readonly documents: Documents;
  readonly rates: {
    readonly input: Pick<RateBookInput, 'members' | 'states'>;
    readonly layered: Pick<LayeredRates, 'districts' | 'lines'>;
  };
  /** Only called where a district consists of ZIPs. */
  readonly zipCounties: () => ZipCounties;
}

/** What a recipe has after layers were applied. */
export interface Layered {
  readonly boundaries: Boundaries;
  readonly documents: Documents;
  readonly districts: OwnDistricts;
  /** A sentence for each replacement. */
  readonly lines: readonly string[];
}

function replacedPolygons(
  what: string,
  held: readonly BoundaryFeature[],
  own: readonly BoundaryFeature[],
): readonly string[] {
  const keys = new Set(held.map(({ polygon }) => polygon.key));
  return own
    .filter(({ polygon }) => keys.has(polygon.key))
    .map(
      ({ polygon, properties }) =>
        `layers draw the ${what} ${properties['NAME'] ?? ''} (${polygon.key}) anew`,
    );
}

/** The boundaries with cities that layers draw in place of those of the recipe. */
export function withCities(
  boundaries: Boundaries,
  own: readonly BoundaryFeature[],
): { readonly boundaries: Boundaries; readonly lines: readonly string[] } {
  return {
    boundaries: { ...boundaries, places: drawnOver(boundaries.places, own) },
    lines: replacedPolygons('city', boundaries.places, own),
  };
}

/**
 * Applies the layers to boundaries and documents; rates already include them.
 * @throws Error with the rows that cannot be placed or applied.
 */
export async function lay(layers: readonly Layer[], given: Unlayered): Promise<Layered> {
  const {
    boundaries,
    documents,
    rates: { input, layered },
  } = given;
  const { features, districts } = await placeDistricts(
    layered.districts,
    input.members,
    layered.districts.some(({ row }) => row.zips.length > 0) ? given.zipCounties() : new Map(),
  );
  const products = withProducts(
    documents.get('products') ?? [],
    layers,
    new Set((documents.get('tic') ?? []).map((row) => row['tic'] ?? '')),
    new Set(input.states.map(({ code }) => code)),
  );
  const own = new Set(districts.map(({ code }) => code));
  const drawn = new Set(
    boundaries.districts.map(({ polygon }) => polygon.key).filter((code) => !own.has(code)),
  );
  const hasRules = layers.some((layer) => layer.products.length > 0);
  return {
    boundaries: { ...boundaries, districts: drawnOver(boundaries.districts, features) },
    documents: hasRules ? new Map([...documents, ['products', products.rows]]) : documents,
    districts: new OwnDistricts([...districts, ...drawnDistricts(drawn)]),
    lines: [
      ...layered.lines,
      ...replacedPolygons('district', boundaries.districts, features),
      ...products.lines,
    ],
  };
}
