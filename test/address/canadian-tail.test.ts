/** Ends of lines that are asked for as addresses of Canada. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAddress } from '../../src/address/parse.js';
import type { Gazetteer } from '../../src/address/parsed.js';
import { PLACES } from './places.js';

const NAMES = new Map([
  ['ON', 'ON'],
  ['ONTARIO', 'ON'],
  ['ONT', 'ON'],
  ['QC', 'QC'],
  ['QUEBEC', 'QC'],
  ['TERRE NEUVE ET LABRADOR', 'NL'],
  ['LABRADOR', 'NL'],
  ['NEWFOUNDLAND LABRADOR', 'NL'],
]);
const CANADA: Gazetteer = {
  isCanadian: true,
  stateOf: (words) => NAMES.get(words) ?? '',
  isCity: () => false,
};

/** City, province and postal code, with what else the line names. */
function end(text: string, gazetteer = CANADA): string {
  const parsed = parseAddress(text, gazetteer)[0];
  if (parsed === undefined) return 'nothing';
  const { city, state, canadianPostalCode, country, otherPlace } = parsed;
  return [city, state, canadianPostalCode, country, otherPlace].join('|');
}

test('the first half of a postal code behind or before a province, or behind a city', () => {
  for (const text of [
    '100 Queen St W, Toronto, ON M5H',
    '100 Queen St W, Toronto ON, m5h',
    '100 Queen St W, Toronto (Ontario) M5H',
    '100 Queen St W, Toronto M5H ON',
    'Toronto, Ont. M5H, 100 Queen St W',
  ]) {
    assert.equal(end(text), 'TORONTO|ON|M5H||', text);
  }
  assert.equal(end('100 Queen St W, Toronto M5H'), 'TORONTO||M5H||');
  assert.equal(end('100 Queen St W, Toronto, M5H, Canada'), 'TORONTO||M5H|CAN|');
  assert.equal(end('M5H'), '||M5H||');
});

test('what may be a unit, or follows a street or a US state, is no half of a postal code', () => {
  for (const text of [
    '10 Rue Principale B2B',
    '10 Rue Principale, B2B',
    '10, rue Principale, B2B',
    '10 Rue Principale, bureau B2B',
    '10 Main St, Tower B2B',
    'Main St B2B',
    'Irvine CA M5H',
  ]) {
    assert.match(end(text), /\|\|\|\|$/, text);
  }
  assert.equal(end('10 Main St B2B, ON').split('|')[2], '');
});

test('lines that are not asked for as of Canada have no half of a postal code', () => {
  assert.match(end('100 Queen St W, Toronto, ON M5H', PLACES), /\|\|\|\|$/);
});

test('names of up to four words, by whatever stands between', () => {
  for (const name of ['Terre-Neuve-et-Labrador', 'Newfoundland & Labrador', 'Labrador A1C']) {
    assert.match(end(`1 Water St, Gander, ${name}`), /^GANDER\|NL\|(A1C)?\|\|$/, name);
  }
});

test('the name of a street behind its type is no province', () => {
  for (const street of ['100 Rue Ontario', '100, rue Ontario', '12 chemin du Labrador']) {
    assert.match(end(street), /\|\|\|\|$/, street);
    assert.equal(end(`${street}, Gatineau, QC`), 'GATINEAU|QC|||');
  }
  assert.equal(end('16555 99 Avenue Quebec').split('|')[1], 'QC');
  assert.equal(end('12 Ontario St, Gatineau QC'), 'GATINEAU|QC|||');
});

test('CA is the country behind a postal code or a province, unless that may be its city', () => {
  assert.equal(end('1 King St, Toronto, ON M5H 2N2, CA'), 'TORONTO|ON|M5H 2N2|CAN|');
  assert.equal(end('1 King St, Toronto, ON, CA'), 'TORONTO|ON||CAN|');
  assert.equal(end('1 King St, Toronto, Ontario, CA'), 'TORONTO|ON||CAN|');
  for (const text of ['1 King St, Ontario, CA', 'Ontario, CA', '20, rue University, Ontario, CA']) {
    assert.match(end(text), /\|\|\|\|$/, text);
  }
});

test('a second province before the first is told', () => {
  assert.equal(end('1 King St, Ottawa, ON / QC').slice(-'|QC|||ON'.length), '|QC|||ON');
  assert.equal(end('12 rue X, Quebec, ON').split('|')[4], 'QC');
  assert.equal(end('1 King St, Toronto ON, Ontario').split('|')[4], '');
  assert.equal(end('55 Ontario, QC').split('|')[4], '');
});

test('five figures are no ZIP', () => {
  assert.equal(end('Tower B, 10180 101 St, Ottawa, ON'), 'OTTAWA|ON|||');
  assert.match(end('1 King St, Ottawa, ON 92618'), /\|\|\|\|$/);
});
