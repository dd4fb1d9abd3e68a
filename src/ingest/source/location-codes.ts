/**
 * Files of authorities, other than the boundary files of the Streamlined Sales Tax states, that say
 * which jurisdictions ranges of addresses and ZIP+4s have: Washington's location codes and Texas'
 * local codes. Each row becomes a record as a boundary file has them.
 */
import { basename } from 'node:path';
import { DATE_MIN, DATE_OPEN, dateOf, type DateInt, parseDate } from '../../tax/date.js';
import type { FallenRows } from './fallen.js';
import { columnIndexes, readRows } from './rows.js';
import type { BoundaryRecord } from './sst-boundary.js';
import { splitMember } from './zip.js';

/** A record without contents; its state is that of the file's entry. */
export const BARE: BoundaryRecord = {
  kind: 'address',
  begin: DATE_MIN,
  end: DATE_OPEN,
  low: '',
  high: '',
  parity: '',
  street: '',
  city: '',
  zip: '',
  zip4: '',
  zipLow: 0,
  zipHigh: 0,
  plus4Low: 0,
  plus4High: 0,
  stateFips: '',
  units: false,
  stateTaxed: true,
  county: '',
  place: '',
  districts: [],
};

/** A record, or the fault of its row as the end of a sentence. */
export type Parsed = BoundaryRecord | string;

/** Whether a text consists of `min` to `max` digits. */
export function isDigits(text: string, min: number, max: number): boolean {
  return text.length >= min && text.length <= max && /^\d*$/.test(text);
}

/** A location code of four digits, whose leading zero may be missing; "" if it is none. */
function locationCode(text: string): string {
  return isDigits(text, 1, 4) ? text.padStart(4, '0') : '';
}

/** A location as a district, which is how its boundary and its rate are stored. */
function located(code: string): Pick<BoundaryRecord, 'districts' | 'alone'> {
  return { districts: [{ source: '', code, type: '' }], alone: 'location' };
}

/** The first day of "Q32026"; null for what is no quarter. */
function quarterBegin(text: string): DateInt | null {
  const [, quarter = '', year = ''] = /^Q([1-4])(\d{4})$/.exec(text) ?? [];
  return quarter === '' ? null : dateOf(Number(year), Number(quarter) * 3 - 2, 1);
}

type Field<Name> = (name: Name) => string;
type FurtherOf<Further> = (path: string, header: readonly string[]) => Further;
const NOTHING = (): null => null;

/**
 * Yields the records of comma-separated text with these columns; `further` finds others in the
 * header.
 */
async function* readColumns<Name extends string, Further>(
  path: string,
  columns: Readonly<Record<Name, string>>,
  parse: (field: Field<Name>, fields: readonly string[], further: Further) => Parsed,
  fallen: FallenRows | undefined,
  furtherOf: FurtherOf<Further>,
): AsyncGenerator<BoundaryRecord> {
  let found: { readonly at: Readonly<Record<Name, number>>; readonly further: Further } | null =
    null;
  for await (const fields of readRows(path, ',')) {
    if (found === null) {
      // Map programs shorten names to ten characters, and some publishers did so before.
      const header = fields.map((name) => name.replace(/HIG$/i, 'HIGH'));
      found = { at: columnIndexes(path, header, columns), further: furtherOf(path, header) };
      continue;
    }
    const { at, further } = found;
    const row = (fallen?.next() ?? 0) + 1;
    const record = parse((name) => (fields[at[name]] ?? '').trim(), fields, further);
    if (typeof record === 'string') fallen?.fault(row, record);
    else yield record;
  }
}

const ADDRESS_COLUMNS = {
  low: 'ADDR_LOW',
  high: 'ADDR_HIGH',
  parity: 'ODD_EVEN',
  street: 'STREET',
  zip: 'ZIP',
  plus4: 'PLUS4',
  period: 'PERIOD',
  code: 'CODE',
} as const;

/**
 * Yields Washington's ranges of addresses with their location codes (State_YYQn.zip): ADDR_LOW,
 * ADDR_HIG or ADDR_HIGH, ODD_EVEN, STREET, STATE, ZIP, PLUS4, PERIOD ("Q32026"), CODE, RTA,
 * PTBA_NAME, CEZ_NAME. A row holds from its quarter on.
 * @throws Error when a column is missing.
 */
export function readLocationAddresses(
  path: string,
  fallen?: FallenRows,
): AsyncGenerator<BoundaryRecord> {
  return readColumns(
    path,
    ADDRESS_COLUMNS,
    (field): Parsed => {
      const [code, begin] = [locationCode(field('code')), quarterBegin(field('period'))];
      if (code === '') return 'without a location code';
      if (begin === null) return 'without its quarter';
      if (!isDigits(field('zip'), 5, 5)) return 'with a ZIP that is none';
      return {
        ...BARE,
        ...located(code),
        begin,
        low: field('low'),
        high: field('high'),
        parity: field('parity').toUpperCase(),
        street: field('street'),
        zip: field('zip'),
        zip4: isDigits(field('plus4'), 1, 4) ? field('plus4').padStart(4, '0') : '',
      };
    },
    fallen,
    NOTHING,
  );
}

const ZIP4_COLUMNS = {
  zip: 'ZIP',
  low: 'PLUS4_LOW',
  high: 'PLUS4_HIGH',
  code: 'CODE',
  begin: 'EFF_START',
  end: 'EFF_END',
} as const;

/**
 * Yields Washington's ranges of ZIP+4 with their location codes (ZIP4QnYYC.zip): ZIP, PLUS4_LOW,
 * PLUS4_HIGH, CODE, STATE, LOCAL, TOT_RATE, EFF_START, EFF_END. The rates are those of the code.
 * The last day is that of the quarter the file was made for, and the next file goes on: a range
 * holds on.
 * @throws Error when a column is missing.
 */
export function readLocationZip4(
  path: string,
  fallen?: FallenRows,
): AsyncGenerator<BoundaryRecord> {
  return readColumns(
    path,
    ZIP4_COLUMNS,
    (field): Parsed => {
      const [code, begin] = [locationCode(field('code')), parseDate(field('begin'))];
      if (code === '') return 'without a location code';
      if (begin === null || parseDate(field('end')) === null) return 'with a date that is none';
      if (!isDigits(field('zip'), 5, 5)) return 'with a ZIP that is none';
      const [low, high] = [field('low'), field('high')];
      if (!isDigits(low, 1, 4) || !isDigits(high, 1, 4)) return 'with an add-on that is none';
      const zip = Number(field('zip'));
      return {
        ...BARE,
        ...located(code),
        kind: 'zip9',
        begin,
        zipLow: zip,
        zipHigh: zip,
        plus4Low: Number(low),
        plus4High: Number(high),
      };
    },
    fallen,
    NOTHING,
  );
}

const TEXAS_COLUMNS = {
  low: 'From',
  high: 'To',
  parity: 'Even-Odd',
  pre: 'Pre Dir',
  name: 'Street',
  suffix: 'Suffix',
  post: 'Post Dir',
  city: 'Postal City',
  zip: 'Zip',
  plus4: 'Plus 4',
} as const;

/** Columns of local codes by the beginning of their names, with the least number of each kind. */
const TEXAS_CODES: readonly (readonly [name: RegExp, least: number])[] = [
  [/^County TAID/i, 1],
  [/^City TAID/i, 1],
  [/^Transit Authority \d+ TAID/i, 2],
  [/^Special Purpose District \d+ TAID/i, 4],
  [/^Unique Authority TAID/i, 1],
];
const TEXAS_CODE = /^[2-6]\d{6}$/;

/**
 * The columns of local codes. A code of the last kind may replace the others or be in addition to
 * them.
 */
function codeColumns(
  path: string,
  header: readonly string[],
): {
  readonly added: readonly number[];
  readonly other: readonly number[];
} {
  const kinds = TEXAS_CODES.map(([name]) =>
    header.flatMap((column, at) => (name.test(column.trim()) ? [at] : [])),
  );
  const known = new Set(kinds.flat());
  const stranger = header.find((column, at) => /\bTAID\b/i.test(column) && !known.has(at));
  if (stranger !== undefined || TEXAS_CODES.some(([, least], at) => kinds[at]!.length < least)) {
    throw new Error(
      `${path}: its layout is another: ${
        stranger === undefined
          ? 'it lacks columns of local codes (TAID)'
          : `it has a column "${stranger}"`
      }`,
    );
  }
  return { added: kinds.slice(0, -1).flat(), other: kinds.at(-1)! };
}

/**
 * Yields Texas' ranges of addresses with the Comptroller's local codes of seven digits, a file for
 * each county (TX-County-FIPS-029-2026Q4.zip): From, To, Even-Odd, Pre Dir, Street, Suffix,
 * Post Dir, Postal City, St, Zip, Plus 4, and codes (TAID) of the county, the city, two transit
 * authorities, four special purpose districts and a unique authority, each "" where there is none.
 * They are worth what the list of rates has them with. What a unique authority's code takes the
 * place of is not described: a record with one leads nowhere. A file is of the quarter in its name.
 * @throws Error when a column or the quarter is missing.
 */
export function readTexasAddresses(
  path: string,
  fallen?: FallenRows,
): AsyncGenerator<BoundaryRecord> {
  const name = basename(splitMember(path).file);
  const [, year = '', quarter = ''] = /(20\d\d)Q([1-4])/.exec(name) ?? [];
  const begin = quarterBegin(`Q${quarter}${year}`);
  if (begin === null) {
    throw new Error(`${path}: its name has no quarter ("2026Q4"), which its rows hold from`);
  }
  return readColumns(
    path,
    TEXAS_COLUMNS,
    (field, fields, { added, other }): Parsed => {
      const codes = (columns: readonly number[]): readonly string[] =>
        columns.map((at) => (fields[at] ?? '').trim()).filter((code) => code !== '');
      if (![...codes(added), ...codes(other)].every((code) => TEXAS_CODE.test(code))) {
        return 'with a local code that is none';
      }
      if (!isDigits(field('zip'), 5, 5)) return 'with a ZIP that is none';
      return {
        ...BARE,
        begin,
        low: field('low'),
        high: field('high'),
        alone: 'codes',
        parity: field('parity').charAt(0).toUpperCase(),
        city: field('city'),
        zip: field('zip'),
        zip4: isDigits(field('plus4'), 1, 4) ? field('plus4').padStart(4, '0') : '',
        street: (['pre', 'name', 'suffix', 'post'] as const)
          .map(field)
          .filter((part) => part !== '')
          .join(' '),
        districts: [...codes(added), ...codes(other).map((code) => `unique ${code}`)].map(
          (code) => ({ source: '', code, type: '' }),
        ),
      };
    },
    fallen,
    codeColumns,
  );
}
