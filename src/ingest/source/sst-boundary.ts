/**
 * Boundary files of the Streamlined Sales Tax states: address ranges, ZIP+4 ranges and ZIPs with
 * the jurisdictions that hold there. No header, 89 columns (90 in some states).
 */
import { DATE_MIN, DATE_OPEN, type DateInt, parseDate } from '../../tax/date.js';
import type { FallenRows } from './fallen.js';
import { rangeSide, type RangeSide, type StreetRange } from './ranges.js';
import { readRows } from './rows.js';

interface BoundaryDistrict {
  readonly source: string;
  readonly code: string;
  readonly type: string;
}

export interface BoundaryRecord {
  readonly kind: 'address' | 'zip9' | 'zip5';
  readonly begin: DateInt;
  readonly end: DateInt;
  /** For address records: the numbers, and the parts of the street. */
  readonly low: string;
  readonly high: string;
  readonly parity: string;
  readonly street: string;
  readonly city: string;
  readonly zip: string;
  readonly zip4: string;
  /** For ZIP records the first and last ZIP, for ZIP+4 records also the add-ons, as integers. */
  readonly zipLow: number;
  readonly zipHigh: number;
  readonly plus4Low: number;
  readonly plus4High: number;
  /** Two digits; "" for the file's own state. */
  readonly stateFips: string;
  /** For address records: whether they concern only some units of their buildings. */
  readonly units: boolean;
  /** Whether the state's own tax applies. */
  readonly stateTaxed: boolean;
  /** Three digits or "". */
  readonly county: string;
  /** Five digits or "". */
  readonly place: string;
  readonly districts: readonly BoundaryDistrict[];
  /**
   * What alone a record is used for: `county`, or `places` (county and municipality). Or what
   * stands among its districts: `location`, whose rate is all that is levied there, or `codes`,
   * which the state's rate list has for county, city and districts.
   */
  readonly alone?: 'county' | 'places' | 'location' | 'codes';
}

const KINDS: Readonly<Record<string, BoundaryRecord['kind']>> = {
  A: 'address',
  4: 'zip9',
  Z: 'zip5',
};

/** Column numbers from zero; the standard counts from one. */
const COLUMN = {
  kind: 0,
  begin: 1,
  end: 2,
  low: 3,
  high: 4,
  parity: 5,
  pre: 6,
  name: 7,
  suffix: 8,
  post: 9,
  unitLow: 11,
  unitHigh: 12,
  city: 14,
  zip: 15,
  plus4: 16,
  zipLow: 17,
  plus4Low: 18,
  zipHigh: 19,
  plus4High: 20,
  state: 22,
  stateTaxed: 23,
  county: 24,
  place: 25,
  placeClass: 26,
  districts: 29,
} as const;
const DISTRICTS_MAX = 20;
/** Washington lists its location codes among the districts, with the type of states. */
const TYPE_STATE = '45';
/** States write "no end" as a day of 2078, 2099, 2999 or 9999. */
export const OPEN_FROM = 20780101;
/** Class codes of places that are not municipalities begin with this. */
const CLASS_UNINCORPORATED = 'U';

/** The districts of a record or, with `ofStates`, the codes with the type of states. */
function districtsOf(fields: readonly string[], ofStates = false): BoundaryDistrict[] {
  const districts: BoundaryDistrict[] = [];
  for (let index = 0; index < DISTRICTS_MAX; index += 1) {
    const at = COLUMN.districts + index * 3;
    const code = (fields[at + 1] ?? '').trim();
    if (code === '') continue;
    const type = (fields[at + 2] ?? '').trim().padStart(2, '0');
    if ((type === TYPE_STATE) !== ofStates) continue;
    districts.push({ source: (fields[at] ?? '').trim(), code, type });
  }
  return districts;
}

function digits(text: string, width: number): string {
  return /^\d+$/.test(text) ? text.padStart(width, '0') : text;
}

/** Columns of the standard, and one that some states add; rows may be shorter. */
const COLUMNS_MAX = 90;

/** The fault of a record as the end of a sentence; null for none. */
function faultOf(
  fields: readonly string[],
  field: (name: keyof typeof COLUMN) => string,
): string | null {
  const kind = KINDS[field('kind').toUpperCase()];
  if (kind === undefined) return 'of no record type (A, 4 or Z)';
  if (fields.length <= COLUMN.place || fields.length > COLUMNS_MAX) {
    return `with another number of columns than ${COLUMNS_MAX - 1}`;
  }
  for (const name of ['begin', 'end'] as const) {
    if (field(name) !== '' && parseDate(field(name)) === null) return 'with a date that is none';
  }
  if (!/^\d{1,2}$/.test(field('state'))) return 'without a state';
  const zips = kind === 'address' ? (['zip'] as const) : (['zipLow', 'zipHigh'] as const);
  if (zips.some((name) => !/^\d{0,5}$/.test(field(name)))) return 'with a ZIP that is none';
  return zips[0] === 'zipLow' && field('zipLow') === '' ? 'without a ZIP' : null;
}

/** Reads the fields of one record, or returns its fault. */
function parseBoundary(fields: readonly string[]): BoundaryRecord | string {
  const field = (name: keyof typeof COLUMN): string => (fields[COLUMN[name]] ?? '').trim();
  const fault = faultOf(fields, field);
  const kind = KINDS[field('kind').toUpperCase()];
  if (fault !== null || kind === undefined) return fault ?? '';
  const zipLow = Number(field('zipLow') || field('zip'));
  const plus4Low = Number(field('plus4Low') || field('plus4') || 0);
  const parts = [field('pre'), field('name'), field('suffix'), field('post')];
  const stateFips = digits(field('state'), 2);
  const end = parseDate(field('end')) ?? DATE_OPEN;
  const isPlace =
    field('place') !== '' && !field('placeClass').toUpperCase().startsWith(CLASS_UNINCORPORATED);
  return {
    kind,
    begin: parseDate(field('begin')) ?? DATE_MIN,
    end: end >= OPEN_FROM ? DATE_OPEN : end,
    low: field('low'),
    high: field('high'),
    parity: field('parity').toUpperCase(),
    street: parts.filter((part) => part !== '').join(' '),
    city: field('city'),
    zip: field('zip') === '' ? '' : digits(field('zip'), 5),
    zip4: field('plus4') === '' ? '' : digits(field('plus4'), 4),
    zipLow,
    zipHigh: Number(field('zipHigh') || zipLow),
    plus4Low,
    plus4High: Number(field('plus4High') || plus4Low),
    units: field('unitLow') !== '' || field('unitHigh') !== '',
    stateFips,
    stateTaxed: digits(field('stateTaxed'), 2) === stateFips,
    county: field('county') === '' ? '' : digits(field('county'), 3),
    place: isPlace ? digits(field('place'), 5) : '',
    districts: districtsOf(fields),
  };
}

async function* readRecords(
  path: string,
  fallen: FallenRows | undefined,
  parse: (fields: readonly string[]) => BoundaryRecord | string,
): AsyncGenerator<BoundaryRecord> {
  let first = true;
  for await (const fields of readRows(path, ',')) {
    const row = fallen?.next() ?? 0;
    const record = parse(fields);
    if (typeof record !== 'string') yield record;
    else if (first) {
      throw new Error(
        `${path}: this is no boundary file: a first row ${record}: ` +
          fields.join(',').slice(0, 80),
      );
    } else fallen?.fault(row, record);
    first = false;
  }
}

/** Yields the records of a file. @throws Error where its first row is none of a boundary file. */
export function readSstBoundary(path: string, fallen?: FallenRows): AsyncGenerator<BoundaryRecord> {
  return readRecords(path, fallen, parseBoundary);
}

/**
 * Yields the records of a file whose counties and municipalities have the codes of the Census
 * Bureau, and whose rates do not add up with its rate file: what a county and a city levy is told
 * by lists, and a record that names a district leads nowhere. So Tennessee's (the code of a city in
 * several counties stands among the districts, surcharges of transit in neither file; codes are
 * FIPS by Tenn. Code 67-6-806) and Nevada's (its rates are totals of counties, and of districts).
 * @throws Error where its first row is none of a boundary file.
 */
export function readSstPlaces(path: string, fallen?: FallenRows): AsyncGenerator<BoundaryRecord> {
  return readRecords(path, fallen, (fields) => {
    const record = parseBoundary(fields);
    return typeof record === 'string' ? record : { ...record, alone: 'places' };
  });
}

/** The code of a location among districts. Rate lists have its four digits. */
const LOCATION = /^L(\d{4})$/i;

/**
 * Yields the records of a file that names the location which each of its records lies in, under
 * the type of states ("L1704"), beside jurisdictions that the location's rate has in it. So
 * Washington's: what a location levies is told by the list of its Department of Revenue. A record
 * of no location, or of several, leads nowhere.
 * @throws Error where its first row is none of a boundary file.
 */
export function readSstLocations(
  path: string,
  fallen?: FallenRows,
): AsyncGenerator<BoundaryRecord> {
  return readRecords(path, fallen, (fields) => {
    const record = parseBoundary(fields);
    if (typeof record === 'string') return record;
    const districts = districtsOf(fields, true).map((district) => ({
      ...district,
      code: district.code.replace(LOCATION, '$1'),
    }));
    return { ...record, place: '', districts, alone: 'location' };
  });
}

const PARITIES: Readonly<Record<string, RangeSide['parity']>> = {
  O: 'odd',
  E: 'even',
  B: 'both',
};

/** Why an address record is no range of house numbers; null where it is one. */
function unusedRange({ low, high, parity, street }: BoundaryRecord): string | null {
  if (street === '') return 'without a street';
  if (/^P\.? ?O\.? BOX\b/i.test(street)) return 'of post office boxes';
  if (low === '' || high === '') return 'without house numbers';
  if (!/^\d+$/.test(low) || !/^\d+$/.test(high)) return 'with house numbers that are no integers';
  // Numbers of the wrong parity: either the numbers or the parity are an error.
  const other = parity === 'O' ? 0 : parity === 'E' ? 1 : -1;
  return [low, high].every((end) => Number(end) % 2 === other)
    ? 'with house numbers of the other side of the street'
    : null;
}

/**
 * An address record as a range without a shape. A text is the reason why an intact record is none;
 * null means that its numbers cannot be read.
 */
export function boundaryRange(
  record: BoundaryRecord,
  area: number,
  state: string,
  source: string,
): StreetRange | string | null {
  const unused = unusedRange(record);
  if (unused !== null) return unused;
  const parity = record.parity === 'B' ? 'B' : '';
  const side = rangeSide(record.low, record.high, parity, record.zip, record.zip4);
  if (side === null) return null;
  // Without a stated side, the ends decide.
  const stated = PARITIES[record.parity] ?? side.parity;
  return {
    street: record.street,
    city: record.city,
    municipality: '',
    state,
    left: { ...side, parity: stated },
    right: null,
    geometry: [],
    area,
    begin: record.begin,
    end: record.end,
    units: record.units,
    source,
  };
}
