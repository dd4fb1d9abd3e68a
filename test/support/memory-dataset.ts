/**
 * A dataset in memory over an invented geography, for tests of the engine's top and of the wire.
 * Areas are one-degree boxes by coordinates; the streets are built by the real index builder.
 */
import { CellIndex, type CellJudge } from '../../src/dataset/cell-index.js';
import type { Dataset } from '../../src/dataset/dataset.js';
import type {
  AreaRecord,
  CityRecord,
  ComponentRecord,
  SourceRecord,
  StateRecord,
  StateRuleRecord,
  ZipRecord,
} from '../../src/dataset/records.js';
import { StreetIndex } from '../../src/dataset/street-index.js';
import type { ByteTable } from '../../src/dataset/layout.js';
import type { AddressPoint } from '../../src/ingest/source/points.js';
import { StreetIndexBuilder } from './street-table.js';
import { DATE_OPEN, type DateInt } from '../../src/tax/date.js';
import { streetTableOf } from './street-table.js';
import { AREAS, componentRecord, COMPONENTS, FROM } from './memory-areas.js';

/** Midday of 2026-11-21 in UTC. */
export const NOW_MS = Date.UTC(2026, 10, 21, 12);

/** Area ids by what is special about them. */
export const AREA = {
  city: 0,
  remainder: 1,
  independent: 2,
  manyDistricts: 3,
  unknown: 4,
  estimated: 5,
  levies: 6,
  harmonized: 7,
  territory: 8,
  markup: 9,
  unruled: 10,
} as const;

class TableOf<K extends number | string> implements ByteTable<K> {
  readonly #bytes: ReadonlyMap<K, Uint8Array>;

  constructor(entries: Iterable<readonly [K, Uint8Array]>) {
    this.#bytes = new Map(entries);
  }

  get(key: K): Uint8Array | null {
    return this.#bytes.get(key) ?? null;
  }
}

/** Area n is the box of one degree whose south-west corner is 10° N, n° E. */
class BoxCells extends CellIndex {
  readonly #count: number;

  constructor(count: number) {
    super(new TableOf<number>([]), new TableOf<number>([]));
    this.#count = count;
  }

  override locate(lat: number, lng: number): number {
    const box = Math.floor(lng / 1e6);
    return Math.floor(lat / 1e6) === 10 && box >= 0 && box < this.#count ? box : -1;
  }

  /** A square meets the areas of its corners: it is smaller than a box. */
  override anyNear(lat: number, lng: number, reach: number, judge: CellJudge): boolean {
    const spread = reach / Math.cos((lat / 1e6) * (Math.PI / 180));
    return [lat - reach, lat + reach].some((y) =>
      [lng - spread, lng + spread].some((x) => judge.whole(this.locate(y, x))),
    );
  }
}

const RULE: StateRuleRecord = {
  from: FROM,
  to: DATE_OPEN,
  serviceTaxable: 'N',
  freightTaxable: 'N',
  freightRule: 'EXEMPT_WHEN_SEPARATELY_STATED',
  freightExemptWhenSeparatelyStated: true,
  freightDescription: 'Delivery charges are exempt when stated "separately".',
  sourcing: 'D',
  sourcingDescription: 'destination',
  source: 0,
};

const STATES: readonly StateRecord[] = [
  {
    code: 'QZ',
    fips: '97',
    name: 'Zephyria',
    country: 'USA',
    timeZone: 'America/Los_Angeles',
    rules: [
      { ...RULE, serviceTaxable: 'L', to: 20211231 as DateInt },
      {
        ...RULE,
        from: 20220101 as DateInt,
      },
    ],
  },
  {
    code: 'QP',
    fips: '96',
    name: 'Port Quill',
    country: 'PRI',
    timeZone: 'America/Puerto_Rico',
    rules: [{ ...RULE, serviceTaxable: 'Y', freightTaxable: 'Y', sourcing: 'O' }],
  },
  { code: 'QU', fips: '', name: 'Quillon', country: 'CAN', timeZone: 'UTC', rules: [] },
  { code: 'QH', fips: '', name: 'Harmonia', country: 'CAN', timeZone: 'UTC', rules: [] },
  { code: 'QN', fips: '95', name: 'Nullmark', country: 'USA', timeZone: 'UTC', rules: [] },
];

function part(area: number, city: string): ZipRecord['parts'][number] {
  return {
    area,
    weight: 500_000,
    land: null,
    city,
    incorporated: AREAS[area]?.incorporated === true,
    lat: 0,
    lng: 0,
  };
}

const ZIPS: readonly Omit<ZipRecord, 'reach'>[] = [
  {
    zip: 97001,
    state: 'QZ',
    cities: ['BROOKMERE'],
    parts: [
      { ...part(AREA.city, 'BROOKMERE'), weight: null, land: 600_000 },
      { ...part(AREA.remainder, 'BROOKMERE'), weight: null, land: 400_000 },
    ],
  },
  { zip: 97002, state: 'QZ', cities: ['FENWAY'], parts: [part(AREA.manyDistricts, 'FENWAY')] },
  { zip: 97003, state: 'QZ', cities: ['MISTY'], parts: [part(AREA.unknown, 'MISTY')] },
  { zip: 97004, state: 'QZ', cities: ['NORTH'], parts: [part(AREA.markup, 'O\'BRIEN & "SONS"')] },
  {
    zip: 97005,
    state: 'QZ',
    cities: ['HARBOROUGH'],
    parts: [part(AREA.independent, 'HARBOROUGH')],
  },
  { zip: 97006, state: 'QZ', cities: ['OLDBURY'], parts: [part(AREA.estimated, 'OLDBURY')] },
  { zip: 501, state: 'QP', cities: ['PORT QUILL'], parts: [part(AREA.territory, 'PORT QUILL')] },
];

const CITIES = new Map<string, CityRecord>([
  ['QZ|BROOKMERE', { name: 'Brookmere', zips: [97001], areas: [AREA.city] }],
  ['QZ|FENWAY', { name: 'Fenway', zips: [97002], areas: [] }],
  ['QZ|HARBOROUGH', { name: 'Harborough', zips: [97005], areas: [AREA.independent] }],
]);

const SOURCES: readonly SourceRecord[] = [
  { id: 0, name: 'invented', publisher: 'nobody', licence: 'none', asOf: FROM, estimated: false },
  { id: 1, name: 'guessed', publisher: 'nobody', licence: 'none', asOf: FROM, estimated: true },
];

const SINGLE_ARTICLE_ITEMS = {
  local_tax_applies_to_first_usd: '1600',
  state_single_article_rate: '0.0275',
  single_article_to_usd: '3200',
};

const DOCUMENTS = new Map<string, object>([
  [
    'single-article',
    Object.entries(SINGLE_ARTICLE_ITEMS).map(([item, value]) => ({
      state: 'QZ',
      item,
      value,
      effective_from: '20020715',
      effective_to: '',
    })),
  ],
]);

function addressPoint(number: string, street: string, area: number, zip4: string): AddressPoint {
  return {
    number,
    street,
    unit: '',
    city: area === AREA.manyDistricts ? 'Fenway' : 'Brookmere',
    municipality: '',
    county: '',
    state: 'QZ',
    zip: area === AREA.manyDistricts ? '97002' : '97001',
    zip4,
    lat: 10_500_000,
    lng: area * 1e6 + 250_001,
    source: 'invented',
  };
}

const POINTS: readonly AddressPoint[] = [
  addressPoint('200', 'Spindle Center Dr', AREA.city, '5003'),
  addressPoint('12', 'Orchard Rd', AREA.remainder, ''),
  addressPoint('7', 'Levee Ln', AREA.manyDistricts, ''),
];

/** What a test may replace. */
interface MemoryOptions {
  readonly id?: string;
  readonly components?: readonly ComponentRecord[];
  readonly areas?: readonly AreaRecord[];
}

function streets(cells: CellIndex): StreetIndex {
  const gazetteer = {
    stateOf: (words: string) => STATES.find(({ code }) => code === words)?.code ?? '',
    isCity: (state: string, city: string) => CITIES.has(`${state}|${city}`),
  };
  const builder = new StreetIndexBuilder(
    (lat, lng) => cells.locate(lat, lng),
    gazetteer,
    (lat, lng, reach) => cells.isNear(lat, lng, reach),
  );
  for (const point of POINTS) builder.addPoint(point);
  const table = new TableOf(builder.entries());
  return new StreetIndex(streetTableOf((key) => table.get(key)));
}

function required<T>(list: readonly T[], id: number): T {
  const found = list[id];
  if (found === undefined) throw new RangeError(`no record ${id}`);
  return found;
}

/** The invented dataset, or one with other areas and components. */
export function memoryDataset(options: MemoryOptions = {}): Dataset {
  const components = options.components ?? COMPONENTS.map(componentRecord);
  const areas = options.areas ?? AREAS.map((area, id) => ({ ...area, id }));
  const cells = new BoxCells(areas.length);
  return {
    id: options.id ?? '2026-11-21-000000000000',
    hasLayer: () => true,
    area: (id) => required(areas, id),
    component: (id) => required(components, id),
    source: (id) => required(SOURCES, id),
    states: () => STATES,
    state: (code) => STATES.find((state) => state.code === code) ?? null,
    zip: (zip) => {
      const found = ZIPS.find((record) => record.zip === zip);
      return found === undefined ? null : { ...found, reach: [] };
    },
    city: (state, name) => CITIES.get(`${state}|${name}`) ?? null,
    document: (name) => DOCUMENTS.get(name) ?? null,
    cells,
    streets: streets(cells),
    close: () => undefined,
  };
}
