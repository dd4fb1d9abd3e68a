/**
 * Every reader of a publisher's format, in one table by the section of a recipe that names it: what
 * the reader is called there, what it yields, and which keys its entry takes. A key is required
 * unless it is `optional`; recipes are checked against this table when they are read.
 */
import { choice, closed, flag, list, type Members, optional, whole } from '../base/shape.js';
import {
  DAY,
  type Entry,
  entryOf,
  EXPRESSION,
  group,
  isExpression,
  MAY,
  MAY_LIST,
  TEXT,
  TEXTS,
  textsByName,
} from './entry-shapes.js';
import type { RateReader } from './rates/list.js';
import { readBoundaryFile } from './source/boundary-file.js';
import { readAddressCollection, readNationalAddresses } from './source/collected-addresses.js';
import type { FallenRows } from './source/fallen.js';
import {
  type AddressPoint,
  POINT_LAYOUTS,
  type PointLayout,
  readDelimitedPoints,
  readGeoJsonPoints,
} from './source/points.js';
import type { PointOptions } from './source/address-source.js';
import { readDelimitedRanges, readTigerRanges, type StreetRange } from './source/ranges.js';
import { readAlabama } from './source/rates/alabama.js';
import { readCdtfa } from './source/rates/california.js';
import {
  readArizona,
  readOklahoma,
  readVirginia,
  VIRGINIA_COLUMNS,
} from './source/rates/code-tables.js';
import { readColorado } from './source/rates/colorado.js';
import { readColoradoWorkbook } from './source/rates/colorado-workbook.js';
import { readSstDerived } from './source/rates/county-and-place.js';
import { readEstimated, readZipTable } from './source/rates/estimates.js';
import { readIllinois, readIllinoisOrdinary } from './source/rates/illinois.js';
import { readAuthority, readProvinces, readStateRates } from './source/rates/many-states.js';
import { readFactTable } from './source/rates/own-tables.js';
import { readLouisiana, readNewYork, readSouthCarolina } from './source/rates/page-lists.js';
import { readCoded, readCombined, readTownOption } from './source/rates/prepared-lists.js';
import { readSst } from './source/rates/sst.js';
import { readTexas, readTexasQuarter } from './source/rates/texas.js';
import { readMissouri, readNewMexico, readUtah } from './source/rates/total-lists.js';
import { readWaDor, readWashingtonQuarter } from './source/rates/washington.js';
import { readAlaska, readFlorida, readIowa } from './source/rates/workbooks.js';
import {
  readLocationAddresses,
  readLocationZip4,
  readTexasAddresses,
} from './source/location-codes.js';
import { readCountyAddresses } from './source/county-addresses.js';
import {
  type BoundaryRecord,
  readSstBoundary,
  readSstLocations,
  readSstPlaces,
} from './source/sst-boundary.js';
import { readGeonamesZips, readZipCities, readZipCounties } from './source/zip-lists.js';

/** One reader: what its files become, the entry of a recipe that names one, and the function. */
export interface Reader<Read> extends Entry {
  readonly yields: string;
  readonly read: Read;
  /** Columns by which a list's layout is recognized, separated by bars. */
  readonly columns?: string;
}

type PointReader = (path: string, options: PointOptions) => AsyncGenerator<AddressPoint>;
type RangeReader = (path: string, options: PointOptions) => AsyncGenerator<StreetRange>;
type RecordReader = (path: string, fallen?: FallenRows) => AsyncGenerator<BoundaryRecord>;

// Rate lists.

/** Keys of a list that names its states itself, and below of one for a single state. */
const MANY_STATES: Members = { path: TEXT, source: TEXT };
const ONE_STATE: Members = { ...MANY_STATES, state: TEXT };

/** A reader of rate lists, with the keys of its `options` and of its further `files`. */
function rates(
  read: RateReader,
  keys: Members,
  options: Members = {},
  files: Members = {},
): Reader<RateReader> {
  const others = group('files', files);
  const earlier = closed({ path: TEXT, asOf: DAY, ...others });
  const entry = closed({
    reader: TEXT,
    ...keys,
    ...group('options', options),
    ...others,
    ...('source' in keys ? { earlier: optional(list(earlier)) } : {}),
  });
  return { yields: 'rates of jurisdictions, and what lies in a district', read, ...entryOf(entry) };
}

/** A reader of a list with these columns in its header, in any case. */
function headed(columns: string, reader: Reader<RateReader>): Reader<RateReader> {
  return { ...reader, columns };
}

/**
 * Options for the days of a list that does not name them, and for the state's part in its totals.
 */
const MAY_DAY = optional(DAY);
const DAYS: Members = { from: MAY_DAY, to: MAY_DAY };
const TOTALS: Members = { state: TEXT, ...DAYS };

/** Lists of single states in the form in which their authorities publish them. */
// biome-ignore format: a row tells a list's name, the header it is known by, and its keys
const PUBLISHED: readonly (readonly [string, Reader<RateReader>])[] = [
  ['ak-members', rates(readAlaska, ONE_STATE)],
  ['al-text', headed('Locality Code|Locality Name|TaxType|Rate Type|Active Date|Inactive Date|Rate'
    + '|PJ|County Code', rates(readAlabama, ONE_STATE))],
  ['az-tpt', headed('RegionCode|RegionName|BusinessCode|TaxRate|TaxRateType|RateStartDate'
    + '|RateEndDate', rates(readArizona, ONE_STATE, { state: TEXT, counties: TEXTS }))],
  ['co-workbook', rates(readColoradoWorkbook, ONE_STATE, TOTALS)],
  ['fl-surtax', rates(readFlorida, ONE_STATE)],
  ['ia-lost', rates(readIowa, ONE_STATE)],
  ['il-ordmache', rates(readIllinoisOrdinary, ONE_STATE)],
  ['la-domiciles', rates(readLouisiana, ONE_STATE)],
  ['mo-tables', rates(readMissouri, ONE_STATE, TOTALS)],
  ['nm-grt', headed('name|county|locat_cdr|locat_cd1|locat_cd2|grt_rate',
    rates(readNewMexico, ONE_STATE, { ...TOTALS, areas: optional(flag()) }))],
  ['ny-718', rates(readNewYork, ONE_STATE, { state: TEXT })],
  ['ok-copo', rates(readOklahoma, ONE_STATE)],
  ['sc-st575', rates(readSouthCarolina, ONE_STATE, { state: TEXT })],
  ['tx-quarter', rates(readTexasQuarter, ONE_STATE, { placed: MAY_LIST, whole: MAY_LIST })],
  ['ut-combined', rates(readUtah, ONE_STATE)],
  ['va-localities', headed(VIRGINIA_COLUMNS.join('|'),
    rates(readVirginia, ONE_STATE, { state: TEXT, from: MAY_DAY }))],
  ['wa-quarter', headed('Name|Code|State|Local|RTA|Rate|Effective Date|Expiration Date',
    rates(readWashingtonQuarter, ONE_STATE, { areas: optional(flag()) }))],
];

/** Option for the levels of rows to read. */
const LEVELS = list(choice(['county', 'city', 'district']));

// biome-ignore format: as above
const RATE_LISTS: ReadonlyMap<string, Reader<RateReader>> = new Map([
  ['authority', headed('state|level|name|rate_pct|effective_from|effective_to|parent',
    rates(readAuthority, ONE_STATE, {
      levels: LEVELS, from: MAY_DAY, skipZero: optional(LEVELS), sole: optional(LEVELS),
      everyCounty: MAY,
    }))],
  ['cdtfa', headed('Location|Rate|County|Type',
    rates(readCdtfa, ONE_STATE, { floor: TEXT, ...DAYS }))],
  ['coded', headed('level|name|code|as_of',
    rates(readCoded, ONE_STATE, { basis: optional(choice(['own', 'total'])), to: MAY_DAY }))],
  ['colorado', headed('level|name|local_pct|as_of',
    rates(readColorado, ONE_STATE, { decided: MAY_LIST, within: MAY_LIST, boxed: MAY_LIST },
      { history: TEXT }))],
  ['combined', headed('level|name|fips|county|rate|kind|effective_from|effective_to',
    rates(readCombined, ONE_STATE, { after: MAY_DAY }))],
  ['estimated', rates(readEstimated, MANY_STATES)],
  ['facts', rates(readFactTable, { path: TEXT })],
  ['illinois', headed('level|name|fips|combined_pct|effective_from|as_of',
    rates(readIllinois, ONE_STATE))],
  ['provinces', headed('province|name|effective_from|effective_to',
    rates(readProvinces, MANY_STATES))],
  ['sst', rates(readSst, ONE_STATE, {
    cities: optional(choice(['own', 'sole'])), districts: MAY_LIST, without: MAY_LIST,
    stateDiffers: MAY_LIST,
  })],
  ['sst-derived', headed('level|name|fips|combined_pct|local_pct|effective_from|as_of',
    rates(readSstDerived, ONE_STATE, {
      basis: optional(choice(['own', 'sole', 'total'])), after: MAY_DAY, exceptCounty: MAY_LIST,
      began: MAY_LIST, gapUnlisted: optional(choice(['multi', 'noted', 'parts'])),
      ceiling: MAY,
    }))],
  ['state-rates', headed('state|effective_from|effective_to|sales_rate_pct|use_rate_pct',
    rates(readStateRates, MANY_STATES, { skip: MAY_LIST }))],
  ['texas', headed('level|name|code|fips|local_pct|effective_from|as_of',
    rates(readTexas, ONE_STATE, { placed: MAY_LIST, whole: MAY_LIST }, { areas: TEXT }))],
  ['town-option', headed('town|rate_pct|effective_from',
    rates(readTownOption, ONE_STATE))],
  ['wa-dor', headed('location_code|location|local_rate|total_rate|effective_from|effective_to',
    rates(readWaDor, ONE_STATE))],
  ...PUBLISHED,
  ['zip-table', rates(readZipTable, MANY_STATES, {}, { counties: TEXT })],
]);

// Doors and streets.

const ADDRESSES = entryOf(
  closed({
    file: TEXT,
    layout: TEXT,
    source: TEXT,
    state: TEXT,
    city: MAY,
    cityIsMunicipality: optional(flag()),
    tolerance: MAY,
  }),
);

function doors(read: PointReader): Reader<PointReader> {
  return { yields: 'doors', read, ...ADDRESSES };
}

function columns(layout: PointLayout): Reader<PointReader> {
  return doors((path, options) => readDelimitedPoints(path, layout, options));
}

function ranges(read: RangeReader): Reader<RangeReader> {
  return {
    yields: 'stretches of street with the house numbers of their sides',
    read,
    ...ADDRESSES,
  };
}

/** The layout of an entry of `sst` that has none. */
export const SST_LAYOUT = 'sst-boundary';

const RECORDS = entryOf(
  closed({
    file: TEXT,
    layout: MAY,
    state: TEXT,
    source: TEXT,
    tolerance: MAY,
    unless: MAY_LIST,
  }),
);

function records(read: RecordReader): Reader<RecordReader> {
  return {
    yields: 'address and ZIP+4 ranges with the jurisdictions that hold there',
    read,
    ...RECORDS,
  };
}

/** Layers of boundaries. */
const LAYERS = ['county', 'province', 'place', 'town', 'district'] as const;

export const READERS = {
  /** Readers of the rates section's `lists` and `estimates`, by `reader`. */
  lists: RATE_LISTS,
  /** Readers of address points, by `layout`. */
  points: new Map([
    ['e911-sites', columns(POINT_LAYOUTS['e911-sites'])],
    ['county-zip4', columns(POINT_LAYOUTS['county-zip4'])],
    ['city-units', columns(POINT_LAYOUTS['city-units'])],
    ['openaddresses', columns(POINT_LAYOUTS.openaddresses)],
    ['geojson', doors(readGeoJsonPoints)],
    ['openaddresses-collection', doors(readAddressCollection)],
    ['nad', doors(readNationalAddresses)],
  ]),
  /** Readers of ranges, by `layout`. */
  ranges: new Map([
    ['segments', ranges(readDelimitedRanges)],
    ['tiger-addrfeat', ranges(readTigerRanges)],
  ]),
  boundaries: {
    yields: 'polygons of one layer, from shapefiles, TopoJSON or GeoJSON',
    read: readBoundaryFile,
    entry: closed({
      layer: choice(LAYERS),
      path: TEXT,
      source: TEXT,
      object: MAY,
      key: MAY,
      prefix: MAY,
      width: optional(whole({ min: 1 })),
      pattern: optional(EXPRESSION),
      template: MAY,
      states: MAY_LIST,
      where: optional(textsByName(isExpression, 'expression')),
    }),
  },
  /** Readers of boundary files, by `layout`. */
  sst: new Map([
    [SST_LAYOUT, records(readSstBoundary)],
    ['sst-places', records(readSstPlaces)],
    ['sst-locations', records(readSstLocations)],
    ['wa-addresses', records(readLocationAddresses)],
    ['wa-zip4', records(readLocationZip4)],
    ['county-addresses', records(readCountyAddresses)],
    ['tx-addresses', records(readTexasAddresses)],
  ]),
  /** Readers of ZIP lists; each has its own key below `zips`. */
  zips: {
    points: { yields: 'ZIPs with their post offices', entry: TEXT, read: readGeonamesZips },
    delivered: { yields: 'counties of ZIPs', entry: MAY, read: readZipCounties },
    tabulated: { yields: 'counties of ZIPs', entry: MAY, read: readZipCounties },
    cities: { yields: 'cities of ZIPs', entry: MAY, read: readZipCities },
  },
} as const;
