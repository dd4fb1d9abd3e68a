/** Military and diplomatic mail (Publication 28, section 238): "PSC 1234 BOX 5, APO AE 09012". */
import { readTail } from './address-tail.js';
import type { Gazetteer, ParsedAddress } from './parsed.js';
import type { Line } from './token.js';

const OFFICES = new Set(['APO', 'FPO', 'DPO']);
const REGIONS = new Set(['AA', 'AE', 'AP']);

/** Where the office stands, provided that nothing but region and postal code follow; else -1. */
function officeAt(line: Line): number {
  const { words } = line;
  for (let index = words.length - 1; index >= 0 && index >= words.length - 6; index--) {
    const word = words[index] ?? '';
    if (word.length !== 3 || !OFFICES.has(word)) continue;
    const next = words[index + 1];
    const told = next === undefined || REGIONS.has(next) || next.length === 5;
    return told ? index : -1;
  }
  return -1;
}

/** Reads a military or diplomatic address; null for any other line. */
export function readMilitary(line: Line, gazetteer: Gazetteer): ParsedAddress | null {
  const office = officeAt(line);
  if (office < 0) return null;
  const region = line.words[office + 1] ?? '';
  const tail = readTail(line, gazetteer);
  return {
    number: '',
    numberValue: -1,
    numberSuffix: '',
    numberHigh: -1,
    preDirection: '',
    name: '',
    suffix: '',
    postDirection: '',
    unit: line.words.slice(0, office).join(' '),
    city: line.words[office] ?? '',
    state: REGIONS.has(region) ? region : '',
    otherState: '',
    zip: tail.zip,
    zip4: tail.zip4,
    country: tail.country,
    canadianPostalCode: '',
    kind: 'military',
  };
}
