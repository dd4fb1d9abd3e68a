/** The tax areas of the invented geography, and what is levied in them. */
import type { AreaRecord, ComponentRecord } from '../../src/dataset/records.js';
import { DATE_OPEN, type DateInt } from '../../src/tax/date.js';
import type { Level } from '../../src/tax/jurisdiction.js';
import { parsePercent, type Rate } from '../../src/tax/rate.js';

/** The first day of every rate. */
export const FROM = 20200101 as DateInt;

function rate(percent: string): Rate {
  const parsed = parsePercent(percent);
  if (parsed === null) throw new Error(`no percentage: ${percent}`);
  return parsed;
}

type ComponentRow = readonly [
  level: Level,
  jurName: string,
  jurCode: string | null,
  percent: string,
  usePercent?: string,
  kind?: string,
];

export const COMPONENTS: readonly ComponentRow[] = [
  ['state', 'QZ', '97', '6.25'],
  ['county', 'ORCHARD', '001', '0.5'],
  ['city', 'BROOKMERE', '12345', '1.125', '1'],
  ['district', 'ORCHARD TRANSIT', 'T-1', '0.375'],
  ['district', 'BROOKMERE LIBRARY', null, '0.0625'],
  ['city', 'HARBOROUGH', '54321', '0'],
  ['county', 'SALTMARSH', '003', '0.25'],
  ['district', 'LEVEE 1', 'L1', '0.1'],
  ['district', 'LEVEE 2', 'L2', '0.2'],
  ['district', 'LEVEE 3', 'L3', '0.3'],
  ['district', 'LEVEE 4', 'L4', '0.4'],
  ['district', 'LEVEE 5', 'L5', '0.5', '0.25'],
  ['district', 'LEVEE 6', 'L6', '0.0001'],
  ['district', 'LEVEE 7', 'L7', '0.7'],
  ['state', 'Quillon', null, '5', '5', 'GST'],
  ['state', 'Quillon', null, '9.975', '9.975', 'PST'],
  ['state', 'Harmonia', null, '13', '13', 'HST'],
  ['state', 'QP', '96', '10.5'],
  ['city', 'O\'BRIEN & "SONS" <NORTH>', null, '1'],
  ['county', 'ÑUÑOA', '005', '0.0000001'],
  ['state', 'QN', '95', '4'],
];

export function componentRecord(row: ComponentRow, id: number): ComponentRecord {
  const [level, jurName, jurCode, percent, usePercent = percent, kind = null] = row;
  // The estimated source stands behind the sixth component alone.
  const source = id === 5 ? 1 : 0;
  return {
    id,
    level,
    jurName,
    jurCode,
    kind,
    periods: [
      {
        from: FROM,
        to: DATE_OPEN,
        sales: rate(percent),
        use: rate(usePercent),
        source,
        asOf: FROM,
      },
    ],
  };
}

const STATE = {
  country: 'USA',
  state: 'QZ',
  stateName: 'Zephyria',
  stateFips: '97',
} as const;
const ORCHARD = { countyFips: '001', countyName: 'Orchard', countyFullName: 'Orchard County' };
const NO_COUNTY = { countyFips: '', countyName: '', countyFullName: '' };
const NO_PLACE = { placeName: '', placeGeoid: '', incorporated: false };
const SOUND = { unknown: [], staleAfter: 99991231 as DateInt, estimated: false };

function province(state: string, stateName: string): Omit<AreaRecord, 'id' | 'components'> {
  return {
    country: 'CAN',
    state,
    stateName,
    stateFips: '',
    ...NO_COUNTY,
    ...NO_PLACE,
    ...SOUND,
  };
}

export const AREAS: readonly Omit<AreaRecord, 'id'>[] = [
  {
    ...STATE,
    ...ORCHARD,
    ...SOUND,
    placeName: 'Brookmere',
    placeGeoid: '9712345',
    incorporated: true,
    components: [0, 1, 2, 3, 4],
  },
  { ...STATE, ...ORCHARD, ...NO_PLACE, ...SOUND, components: [0, 1, 3] },
  {
    ...STATE,
    countyFips: '510',
    countyName: 'Harborough',
    countyFullName: 'Harborough County',
    ...SOUND,
    placeName: 'Harborough',
    placeGeoid: '9754321',
    incorporated: true,
    components: [0, 5],
  },
  {
    ...STATE,
    countyFips: '003',
    countyName: 'Saltmarsh',
    countyFullName: 'Saltmarsh County',
    ...NO_PLACE,
    ...SOUND,
    components: [0, 6, 7, 8, 9, 10, 11, 12, 13],
  },
  {
    ...STATE,
    ...ORCHARD,
    ...NO_PLACE,
    ...SOUND,
    components: [0, 1],
    unknown: [
      {
        level: 'city',
        from: FROM,
        to: DATE_OPEN,
        reason: 'City rates of Zephyria are not loaded.',
      },
    ],
  },
  {
    ...STATE,
    ...ORCHARD,
    ...NO_PLACE,
    unknown: [],
    staleAfter: 20000101 as DateInt,
    estimated: true,
    components: [0, 1],
  },
  { ...province('QU', 'Quillon'), components: [14, 15] },
  { ...province('QH', 'Harmonia'), components: [16] },
  {
    country: 'PRI',
    state: 'QP',
    stateName: 'Port Quill',
    stateFips: '96',
    ...NO_COUNTY,
    ...NO_PLACE,
    ...SOUND,
    components: [17],
  },
  {
    ...STATE,
    countyFips: '005',
    countyName: 'Ñuñoa',
    countyFullName: 'Ñuñoa County',
    ...SOUND,
    placeName: 'O\'Brien & "Sons" <North>',
    placeGeoid: '9700005',
    incorporated: true,
    components: [0, 19, 18],
  },
  {
    country: 'USA',
    state: 'QN',
    stateName: 'Nullmark',
    stateFips: '95',
    ...NO_COUNTY,
    ...NO_PLACE,
    ...SOUND,
    components: [20],
  },
];
