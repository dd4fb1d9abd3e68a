/** What authorities say of some jurisdictions beside the lists that are held: facts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DateInt } from '../../src/tax/date.js';
import { areaAt, percentOrRefused, rates, TODAY } from './default-rates.js';

/** In percent, or "refused"; `place` is the code of a city, "" outside all. */
function total(county: string, place = '', day = TODAY): string {
  return percentOrRefused(areaAt(county.slice(0, 2), county, place), day);
}

/** How many cities of a state have a total, each in its first county. */
function totals(state: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { state: of, geoid, counties } of rates.input.places) {
    if (of !== state) continue;
    const figure = total(counties[0]!, geoid);
    counts.set(figure, (counts.get(figure) ?? 0) + 1);
  }
  return counts;
}

test('Idaho: 23 cities have a tax, by the list of the state; the others have its rate', () => {
  const found = totals('ID');
  assert.equal(found.get('refused'), 17);
  assert.equal(
    [...found]
      .filter(([figure]) => figure !== '6' && figure !== 'refused')
      .reduce((sum, [, count]) => sum + count, 0),
    6,
  );
  assert.equal(total('16001', '1676870'), '6', 'Star');
  assert.equal(total('16013', '1634390'), 'refused', 'Hailey levies, and nobody here knows what');
  assert.equal(total('16059', '1671650'), 'refused', "Salmon's is on rooms, as far as seen");
  assert.equal(total('16001', '1676870', 20260909 as DateInt), 'refused', 'before the list');
});

test("Iowa: a county's average shows that its larger cities have the tax", () => {
  assert.equal(total('19155', '1916860'), '7', 'Council Bluffs');
  assert.equal(total('19155', '1916860', 20260630 as DateInt), 'refused');
  assert.equal(total('19015', '1906040'), 'refused', 'Berkley, smaller than what is left out');
  assert.equal(total('19103', '1938595'), '7', 'Iowa City');
  assert.equal(total('19103', '1938595', 20260630 as DateInt), 'refused');
  assert.equal(total('19103'), '6', 'Johnson County outside cities');
});

test('Illinois: a municipality has one tax in all its counties, whatever a district adds', () => {
  assert.equal(total('17197', '1738570'), '9', 'Joliet in Will County');
  assert.equal(total('17093', '1738570'), '9', 'in Kendall County');
  assert.equal(total('17043', '1703012'), '8.5', 'Aurora in DuPage County');
  assert.equal(total('17089', '1703012'), '8.5', 'in Kane County');
  assert.equal(total('17143', '1759000'), '9', 'Peoria, by its own page');
  assert.equal(total('17031', '1770122'), '10.5', 'Skokie, by its own page');
  assert.equal(total('17161', '1765078'), '8.5', 'Rock Island, by its own page');
  assert.equal(total('17197', '1765442'), '8.75', 'Romeoville, by its code');
  assert.equal(total('17021', '1774574'), '8', 'Taylorville, by its code');
  assert.equal(total('17161', '1722073'), '7.75', 'East Moline, by its own page');
  assert.equal(total('17163', '1704845'), '8.1', 'Belleville, by its own page');
  // Their parts that do not vary may lie in a business district as a whole.
  assert.equal(total('17089', '1721696'), 'refused', 'East Dundee');
  assert.equal(total('17111', '1727533'), 'refused', 'Fox River Grove');
});

test('Illinois: a home rule tax on a list of the state holds while its file dates no change', () => {
  const july = 20260731 as DateInt;
  assert.equal(total('17031', '1704975', july), '10.5', 'Bellwood');
  assert.equal(total('17031', '1704975'), '10.75', 'with the transit tax of August');
  assert.equal(total('17043', '1706587', july), '7.5', 'Bloomingdale');
  assert.equal(total('17043', '1706587'), '7.75');
  assert.equal(total('17031', '1710487'), 'refused', 'Calumet City, which has changed its tax');
});

test("Illinois: the transit tax rose in six counties, and Sangamon County's a month before", () => {
  const july = 20260731 as DateInt;
  const six: readonly (readonly [string, string, string])[] = [
    ['17031', '9', '9.25'],
    ['17043', '7', '7.25'],
    ['17089', '7', '7.25'],
    ['17097', '7', '7.25'],
    ['17111', '7.25', '7.5'],
    ['17197', '7', '7.25'],
  ];
  for (const [county, before, after] of six) {
    assert.deepEqual([total(county, '', july), total(county)], [before, after], county);
  }
  assert.equal(total('17093', '', july), total('17093'), 'Kendall County has no such tax');
  assert.equal(total('17167', '', 20260630 as DateInt), '7.25');
  assert.equal(total('17167'), '7.75');
  assert.equal(total('17167', '1702921'), '7.75', 'Auburn, a city of it');
});

test('cities by their own pages: Missouri, and Rio Rancho on either side of a county line', () => {
  assert.equal(total('29189', '2978154'), '9.238', 'Webster Groves');
  assert.equal(total('29183', '2978442'), '8.45', 'Wentzville');
  assert.equal(total('29189', '2939044'), '9.238', 'Kirkwood');
  assert.equal(total('29037', '2904384'), '9.1', 'Belton');
  assert.equal(total('29189', '2979820'), '8.238', 'Wildwood');
  assert.equal(total('29189', '2917272'), '8.988', 'Creve Coeur');
  assert.equal(total('29189', '2903160'), '8.738', 'Ballwin');
  assert.equal(total('29189', '2914572'), 'refused', 'Clayton, of which two pages say two rates');
  assert.equal(total('35043', '3563460'), '7.4375', 'in Sandoval County');
  assert.equal(total('35001', '3563460'), '7.875', 'in Bernalillo County');
});

test('Alabama and Tennessee: cities by what their authorities say', () => {
  assert.equal(total('01003', '0132272'), '10', 'Gulf Shores');
  assert.equal(total('01003', '0125240'), '9', 'Fairhope');
  assert.equal(total('47179', '4738320'), '9.5', 'Johnson City in Washington County');
  assert.equal(
    total('47019', '4738320'),
    '9.75',
    'in Carter County, which has the most there may be',
  );
  assert.equal(total('47163', '4738320'), 'refused', 'in Sullivan County');
  assert.equal(total('47163', '4739560'), '9.5', 'Kingsport in Sullivan County');
  assert.equal(total('47073', '4739560'), '9.75', 'in Hawkins County');
  assert.equal(total('47179', '4738320', 20260131 as DateInt), 'refused', 'before');
});

test('Arizona: towns that the rate table lacks, by the profiles of the department', () => {
  const towns: readonly (readonly [string, string, string])[] = [
    ['04013', '0427050', '9.8'],
    ['04027', '0481480', '10.212'],
    ['04021', '0437200', '10.7'],
    ['04021', '0443990', '10.7'],
    ['04003', '0420050', '10.4'],
    ['04015', '0414870', '8.6'],
  ];
  for (const [county, place, figure] of towns) {
    assert.equal(total(county, place), figure, place);
  }
  assert.equal(total('04021', '0471300'), 'refused', 'Superior takes less beyond 500 dollars');
});

test("Texas: what the Comptroller's list of July 2025 has anew", () => {
  const cities: readonly (readonly [string, string, string])[] = [
    ['48121', '4867100', '8.25'],
    ['48127', '4804300', '7.75'],
    ['48207', '4863752', '8.25'],
    ['48299', '4871228', '8.25'],
    ['48461', '4860668', '8.25'],
    ['48085', '4838068', '8.25'],
  ];
  for (const [county, place, figure] of cities) {
    assert.equal(total(county, place), figure, place);
    assert.equal(
      total(county, place, 20250630 as DateInt),
      'refused',
      `${place}: the quarter before`,
    );
  }
  assert.equal(total('48121', '4867100', 20250331 as DateInt), '7.25', 'Shady Shores before');
  assert.equal(
    total('48231', '4838068'),
    '8.25',
    'Josephine in Hunt County has the most there may be',
  );
  for (const county of ['48013', '48129', '48163', '48249']) {
    assert.equal(total(county), 'refused', `new districts of ${county}`);
    assert.notEqual(total(county, '', 20250331 as DateInt), 'refused', `${county} before them`);
  }
  assert.equal(total('48013', '4858280'), '8.25', 'Pleasanton, which they leave out');
});

test('Alaska: land about Talkeetna is refused, since a service area there levies a tax', () => {
  assert.equal(total('02170', '?'), 'refused');
  assert.equal(total('02170'), '0');
});

test('Missouri: rates that the list rounds to three digits are held in full', () => {
  assert.equal(total('29163'), '7.2875');
  assert.equal(total('29069'), '5.9125');
});
