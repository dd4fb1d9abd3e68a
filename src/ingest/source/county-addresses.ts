/** Counties of addresses, from the flat file of states for sellers of mobile telecommunications. */
import { DATE_OPEN, parseDate } from '../../tax/date.js';
import type { FallenRows } from './fallen.js';
import { readLines } from './rows.js';
import { type BoundaryRecord, OPEN_FROM } from './sst-boundary.js';
import { BARE, isDigits, type Parsed } from './location-codes.js';

/** Widths of the fields of the flat file, in their order; districts follow. */
const FLAT_WIDTHS = {
  begin: 8,
  end: 8,
  low: 10,
  high: 10,
  parity: 1,
  pre: 2,
  name: 20,
  suffix: 4,
  post: 2,
  unit: 4,
  unitLow: 8,
  unitHigh: 8,
  unitParity: 1,
  city: 28,
  zip: 5,
  plus4: 4,
  state: 2,
  county: 3,
  place: 5,
  placeClass: 2,
} as const;
type FlatField = keyof typeof FLAT_WIDTHS;

const FLAT_AT: Readonly<Record<FlatField, readonly [number, number]>> = flatPlaces();

function flatPlaces(): Record<FlatField, readonly [number, number]> {
  let at = 0;
  const places = Object.entries(FLAT_WIDTHS).map(([name, width]) => {
    at += width;
    return [name, [at - width, at]] as const;
  });
  return Object.fromEntries(places) as Record<FlatField, readonly [number, number]>;
}

function parseFlat(line: string): Parsed {
  const field = (name: FlatField): string => line.slice(...FLAT_AT[name]).trim();
  const [begin, end] = [parseDate(field('begin')), parseDate(field('end'))];
  if (begin === null || (end === null && !/^0*$/.test(field('end')))) {
    return 'with a date that is none';
  }
  if (!isDigits(field('state'), 2, 2)) return 'without a state';
  if (!isDigits(field('county'), 3, 3)) return 'without a county';
  if (!isDigits(field('zip'), 5, 5)) return 'with a ZIP that is none';
  // Numbers are written with zeros in front.
  const number = (name: 'low' | 'high'): string => field(name).replace(/^0+(?=\d)/, '');
  return {
    ...BARE,
    begin,
    end: end === null || end >= OPEN_FROM ? DATE_OPEN : end,
    low: number('low'),
    high: number('high'),
    parity: field('parity').toUpperCase(),
    street: (['pre', 'name', 'suffix', 'post'] as const)
      .map(field)
      .filter((part) => part !== '')
      .join(' '),
    city: field('city'),
    zip: field('zip'),
    zip4: isDigits(field('plus4'), 4, 4) ? field('plus4') : '',
    stateFips: field('state'),
    county: field('county'),
    units: field('unitLow') !== '' || field('unitHigh') !== '',
    alone: 'county',
  };
}

/**
 * Yields the counties of ranges of addresses out of the flat file that states publish for sellers
 * of mobile telecommunications (Federation of Tax Administrators, wireless sourcing, after
 * transaction set 158 of ASC X12): lines of fixed width without a header. Codes of places are those
 * of one register or another by state, and districts are of other taxes: neither is read, so that
 * the file serves states whose counties alone levy a tax, as Florida's; it leads nowhere in others.
 * @throws Error where its first line is none: then it is something else.
 */
export async function* readCountyAddresses(
  path: string,
  fallen?: FallenRows,
): AsyncGenerator<BoundaryRecord> {
  let first = true;
  for await (const line of readLines(path)) {
    if (line === '') continue;
    const row = fallen?.next() ?? 0;
    const record = parseFlat(line);
    if (typeof record !== 'string') yield record;
    else if (first) {
      throw new Error(
        `${path}: these are no addresses of fixed width: a first line ${record}: ` +
          line.slice(0, 80),
      );
    } else fallen?.fault(row, record);
    first = false;
  }
}
