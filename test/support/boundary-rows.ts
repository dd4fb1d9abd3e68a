/**
 * Rows of boundary files as the Technology Guide of the Streamlined Sales Tax Governing Board lays
 * them out (May 2022, chapter 5): 89 columns without a header, here by their numbers, counted from
 * one. And a file of the invented state of Aldermark, with whatever publishers do to such files.
 */
export type Columns = Readonly<Record<number, string>>;

/** One row; `width` is 90 in some states. */
export function boundaryRow(columns: Columns, width = 89): string {
  return Array.from({ length: width }, (_, index) => columns[index + 1] ?? '').join(',');
}

/** In force from 2024 on, in Ash County; a city is written on top. */
const HELD: Columns = { 2: '20240101', 3: '99991231', 23: '91', 24: '91', 25: '001' };
const ELMTON: Columns = { 26: '00100', 27: 'C1' };
const GORSE: Columns = { 25: '003', 26: '00300', 27: 'C1' };
const TRANSIT: Columns = { 30: 'ST', 31: 'ELM-TRANSIT', 32: '63' };

function street(low: string, high: string, parity: string, more: Columns): Columns {
  return { 1: 'A', ...HELD, 4: low, 5: high, 6: parity, ...more };
}

function addOn(zip: string, low: string, high: string, more: Columns = {}): Columns {
  return { 1: '4', ...HELD, 18: zip, 19: low, 20: zip, 21: high, ...more };
}

const BORDER: Columns = { 8: 'BORDER', 9: 'AVE', 16: '91011', ...ELMTON };
const QUILL: Columns = { 8: 'QUILL', 9: 'LN', 16: '91012' };
const FENNEL: Columns = { 8: 'FENNEL', 9: 'RD', 16: '91012' };
const TESSEL: Columns = { 8: 'TESSEL', 9: 'CT', 16: '91012' };

/** Rows that are kept. */
const KEPT: readonly Columns[] = [
  // The boundaries have the doors from 21 on outside Elmton, and the odd ones outside the district.
  street('1', '99', 'O', BORDER),
  street('2', '98', 'e', { ...BORDER, ...TRANSIT, 2: '20250101', 3: '20251231', 1: 'a' }),
  // Streets without doors, cut at the county line, beside each other and one upon the other.
  street('1', '99', 'B', { ...QUILL, ...GORSE }),
  street('101', '199', 'B', { ...QUILL, 25: '003', 33: 'ST', 34: 'L1704', 35: '45' }),
  street('101', '149', 'B', { ...QUILL, ...GORSE, 2: '20250701', 7: '', 17: '7' }),
  street('1', '9', 'B', { 7: 'N', 8: 'WREN', 9: 'RD', 10: 'W', 16: '91020', 25: '003' }),
  // A building of which some units lie elsewhere, and one of which they do not.
  street('1', '9', 'B', { ...TESSEL, 25: '003' }),
  street('5', '5', 'O', { ...TESSEL, ...GORSE, 11: 'APT', 12: '1', 13: '20', 14: 'B' }),
  street('7', '7', 'O', { ...TESSEL, 25: '003', 11: 'APT', 12: '1', 13: '20' }),
  // Two towns of a ZIP, each with the street; that of the one was stated later.
  street('1', '9', 'B', { ...FENNEL, ...GORSE, 15: 'GORSE' }),
  street('1', '5', 'B', { ...FENNEL, 15: 'BIRCHWOOD', 25: '003', 2: '20250101' }),
  // A street that has its doors in Elmton, stated of another town of the ZIP.
  street('38', '38', 'E', { ...BORDER, 15: 'GORSE' }),
  // Without a side, which its ends tell.
  street('1', '9', '', { ...GORSE, 8: 'SAGE', 9: 'RD', 16: '91012' }),
  // A reservation where the state's own tax does not apply.
  street('1', '9', 'B', { 8: 'MESA', 9: 'TRL', 16: '91010', 24: '' }),
  // ZIP+4s, without zeros in front; the later beginning holds, and one list over two ZIPs.
  addOn('91012', '1', '100', GORSE),
  addOn('91012', '101', '200', { 25: '003' }),
  addOn('91012', '150', '160', { ...GORSE, 2: '20250701' }),
  { ...addOn('91011', '9990', '5', { 25: '003' }), 20: '91012' },
  // A city in one county alone tells the county.
  addOn('91010', '1', '9', { ...ELMTON, 25: '001', 90: 'x' }),
  // Whole ZIPs: nothing else is stated of the first; of the others something is, and some differs.
  { 1: 'Z', ...HELD, 18: '91020', 20: '91020', 25: '003' },
  { 1: 'z', ...HELD, 18: '91011', 20: '91012', 25: '001' },
  // ZIPs that no list has: one of one rate, one with an add-on elsewhere, and add-ons alone.
  { 1: 'Z', ...HELD, 18: '91055', 20: '91055', 25: '003' },
  { 1: 'Z', ...HELD, 18: '91056', 20: '91056', 25: '003' },
  addOn('91056', '1', '100', GORSE),
  addOn('91057', '1', '100', GORSE),
];

/** Rows that lead nowhere, with the reason that is told. */
const FALLEN: readonly (readonly [reason: string, columns: Columns])[] = [
  ['that end before they begin', street('1', '9', 'B', { ...QUILL, 2: '20240101', 3: '20231231' })],
  ['with house numbers that are no integers', street('1256 1/2', '1258', 'B', QUILL)],
  ['of post office boxes', street('1', '999', 'B', { ...QUILL, 8: 'PO BOX', 9: '' })],
  ['without a street', street('1', '9', 'B', { 16: '91012' })],
  ['of another state', street('1', '9', 'B', { ...QUILL, 23: '92', 24: '92' })],
  ['with a county that is not known', street('1', '9', 'B', { ...QUILL, 25: '999' })],
  ['with a place that is not known', street('1', '9', 'B', { ...QUILL, 26: '77777' })],
  // An add-on that is made up may name the city and not the county.
  ['without the county, though it levies a tax', addOn('91010', '1', '1', { ...ELMTON, 25: '' })],
  ['without a county, which nothing else tells', addOn('91012', '9000', '9001', { 25: '' })],
];
const BYTE_ORDER_MARK = '\uFEFF';

/** Aldermark's file. */
export function aldermarkFile(): string {
  const rows = [...KEPT, ...FALLEN.map(([, columns]) => columns)].map((columns) =>
    boundaryRow(columns, columns[90] === undefined ? 89 : 90),
  );
  return `${BYTE_ORDER_MARK}${rows.join('\r\n')}\r\n`;
}

/** What is told of it. */
export const ALDERMARK_FALLEN = FALLEN.map(([reason]) => reason);
export const ALDERMARK_KEPT = KEPT.length;

/** A file of Brookmark that ended in March 2023: streets go on as they were, whole ZIPs do not. */
export function brookmarkFile(): string {
  const ended: Columns = { 2: '20200101', 3: '20230331', 23: '92', 24: '92', 25: '001' };
  return [
    { 1: 'A', ...ended, 4: '1', 5: '99', 6: 'B', 8: 'KESTREL', 9: 'WAY', 16: '92030' },
    {
      1: 'A',
      ...ended,
      3: '20211231',
      4: '1',
      5: '99',
      6: 'B',
      8: 'MERLIN',
      9: 'WAY',
      16: '92030',
    },
    { 1: 'Z', ...ended, 18: '92030', 20: '92030' },
    { 1: '4', ...ended, 18: '92030', 19: '7000', 20: '92030', 21: '7099' },
  ]
    .map((columns) => boundaryRow(columns))
    .join('\n');
}
