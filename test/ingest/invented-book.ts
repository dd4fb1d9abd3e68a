/** Rows, marks and members of an invented state, and what a rate book of them tells. */
import assert from 'node:assert/strict';
import { createRateBook, type RateBookInput } from '../../src/ingest/rates/book.js';
import { DATE_MIN, DATE_OPEN, type DateInt } from '../../src/tax/date.js';
import { formatRate, parsePercent, sumRates, type Rate } from '../../src/tax/rate.js';
import type { AreaTuple, RateRow } from '../../src/ingest/model.js';
import type { DistrictMember, ListMark } from '../../src/ingest/rates/facts.js';

export const day = (value: number): DateInt => value as DateInt;
const TODAY = day(20261121);

export function percent(text: string): Rate {
  const rate = parsePercent(text);
  assert.ok(rate !== null);
  return rate;
}

export function row(level: RateRow['level'], rate: string, more: Partial<RateRow> = {}): RateRow {
  return {
    state: 'XX',
    level,
    county: '',
    place: '',
    name: '',
    code: '',
    basis: 'own',
    sales: percent(rate),
    use: percent(rate),
    from: day(20200101),
    to: DATE_OPEN,
    source: 0,
    asOf: day(20260101),
    ...more,
  };
}

export function mark(level: ListMark['level'], more: Partial<ListMark> = {}): ListMark {
  return {
    state: 'XX',
    level,
    mark: 'complete',
    unlisted: 'nothing',
    since: day(20200101),
    history: 'current',
    until: DATE_OPEN,
    source: 0,
    fill: 'the newest list',
    gap: '',
    ...more,
  };
}

export const SILENT = { mark: 'partial', unlisted: 'unknown' } as const;
export const PARTIAL_CITY = mark('city', SILENT);

export function member(code: string, more: Partial<DistrictMember> = {}): DistrictMember {
  return {
    state: 'XX',
    code,
    scope: 'county',
    county: '99001',
    place: '',
    except: [],
    from: DATE_MIN,
    to: DATE_OPEN,
    ...more,
  };
}

const BASE: RateBookInput = {
  sources: [
    { id: 0, name: 's', publisher: 'p', licence: 'l', asOf: day(20260101), estimated: false },
  ],
  rows: [],
  estimates: [],
  states: [
    { code: 'XX', fips: '99', name: 'Xland', country: 'USA' },
    { code: 'CA-AA', fips: 'CA-AA', name: 'Aaland', country: 'CAN' },
  ],
  counties: [
    { fips: '99001', state: 'XX', fullName: 'Alpha County', code: '' },
    { fips: '99002', state: 'XX', fullName: 'Beta County', code: '07' },
    { fips: '99510', state: 'XX', fullName: 'Gamma city', code: '' },
  ],
  places: [
    {
      geoid: '9900010',
      name: 'Arden',
      fullName: 'Arden city',
      state: 'XX',
      counties: ['99001', '99002'],
      independent: false,
    },
    {
      geoid: '9900020',
      name: 'Gamma',
      fullName: 'Gamma city',
      state: 'XX',
      counties: ['99510'],
      independent: true,
    },
  ],
  tiers: [{ county: '99510', place: '9900020', kind: 'independent' }],
  members: [],
  districtNames: new Map([['XX/D1', 'Metro District']]),
  marks: [mark('county'), mark('city'), mark('district')],
  caps: [],
};

export const STATE = row('state', '5', { from: DATE_MIN });
export const ALPHA = row('county', '1', { county: '99001' });

export function area(input: Partial<RateBookInput>, tuple: Partial<AreaTuple> = {}) {
  return createRateBook({ ...BASE, ...input }).resolve({
    state: '99',
    county: '99001',
    place: '',
    town: '',
    districts: [],
    ...tuple,
  });
}

/** "XX 5 | ALPHA 1 = 6", or the reasons of a refusal, on a day. */
export function told(found: ReturnType<typeof area>, on: DateInt = TODAY): string {
  const reasons = found.unknown.filter(({ from, to }) => from <= on && to >= on);
  if (reasons.length > 0)
    return reasons.map(({ level, reason }) => `${level}: ${reason}`).join('\n');
  const rows = found.components.flatMap((component) => {
    const period = component.periods.find(({ from, to }) => from <= on && to >= on);
    return period ? [{ name: component.jurName, rate: period.sales }] : [];
  });
  const parts = rows.map(({ name, rate }) => `${name} ${formatRate(rate)}`).join(' | ');
  return `${parts} = ${formatRate(sumRates(rows.map(({ rate }) => rate)))}`;
}
