/** Addresses that are known by their ZIP and city alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ParsedAddress } from '../../src/address/parsed.js';
import { foldCounty, foldName, plainName } from '../../src/address/place-name.js';
import { Doubts } from '../../src/engine/locate/doubt.js';
import { DatasetGazetteer } from '../../src/dataset/city-names.js';
import { PostalLocator } from '../../src/engine/locate/postal.js';
import { RatesByArea } from '../../src/engine/rate/on-day.js';
import { normalizedAddress } from '../../src/engine/situs.js';
import { fail, failAmbiguous, isFailure } from '../../src/failure.js';
import type { DateInt } from '../../src/tax/date.js';
import {
  DAY,
  dateOf,
  rate,
  GAP,
  REST,
  IN_FIR,
  IN_OAK,
  IN_ELM,
  DARK,
  OVER,
  FAR_OAK,
  dataset,
} from '../support/postal-world.js';

function read(fields: Partial<ParsedAddress>): ParsedAddress {
  return {
    number: '12',
    numberValue: 12,
    numberSuffix: '',
    numberHigh: -1,
    preDirection: '',
    name: 'MAIN',
    suffix: 'ST',
    postDirection: '',
    unit: '',
    city: '',
    state: '',
    zip: '',
    zip4: '',
    country: '',
    canadianPostalCode: '',
    otherPlace: '',
    kind: 'street',
    ...fields,
  };
}

const RATES = new RatesByArea(dataset);

/** One that was never asked before. */
function freshLocator(): PostalLocator {
  return new PostalLocator(dataset, new Doubts(dataset, RATES, new DatasetGazetteer(dataset)));
}

const LOCATOR = freshLocator();

function located(fields: Partial<ParsedAddress>): number | string {
  const found = LOCATOR.locate(read(fields), dateOf);
  return isFailure(found) ? found.failure : found.area;
}

test('names of one place fold alike', () => {
  assert.equal(foldName('St. Paul'), foldName('SAINT PAUL'));
  assert.equal(foldName('Ft. Worth'), 'FORT WORTH');
  assert.equal(plainName("Coeur d'Alene"), 'COEUR DALENE');
  assert.equal(plainName('Añasco'), 'ANASCO');
  assert.equal(foldCounty('Orange County'), 'ORANGE');
  assert.equal(foldCounty('St. Mary Parish'), 'SAINT MARY');
});

test('a district without a period on the day does not apply, a zero city row stays', () => {
  const now = RATES.at(REST, DAY);
  assert.ok(!isFailure(now));
  assert.deepEqual(
    now.rows.map((row) => row.component.jurName),
    ['XA', 'C001'],
  );
  assert.equal(now.sales, rate('6'));
  const before = RATES.at(REST, 20250101 as DateInt);
  assert.ok(!isFailure(before));
  assert.equal(before.sales, rate('9'));
  assert.deepEqual(RATES.at(DARK, DAY), fail('no-result', GAP.reason));
});

test('a city is that of the state asked for, whatever was asked before', () => {
  const gazetteer = new DatasetGazetteer(dataset);
  for (let turn = 0; turn < 2; turn += 1) {
    assert.deepEqual(gazetteer.named('XA', 'SAINT OAK').record?.zips, [10002]);
    assert.equal(gazetteer.isCity('YB', 'SAINT OAK'), false);
    assert.equal(gazetteer.named('YB', 'SAINT OAK').record, null);
    assert.deepEqual(gazetteer.named('', 'SAINT OAK'), {
      record: null,
      localities: [],
      isKnown: true,
    });
    assert.deepEqual(gazetteer.named('XA', 'ST OAK').record?.zips, [10002]);
    assert.deepEqual(gazetteer.named('XA', 'ELM').record?.zips, [10003]);
    assert.equal(gazetteer.isCity('XA', ''), false);
    assert.equal(gazetteer.isCity('XA', 'NOWHERE'), false);
  }
});

test('a ZIP within one area is answered, with the address as normalized', () => {
  const found = LOCATOR.locate(
    read({ city: 'HILLS', state: 'XA', zip: '10001', zip4: '0042' }),
    dateOf,
  );
  assert.ok(!isFailure(found));
  assert.equal(found.area, REST);
  assert.equal(found.precision, 'postal');
  assert.equal(normalizedAddress(found), 'Hills, XA 10001-0042, United States');
  assert.equal(found.postalCode, '10001-0042');
  assert.deepEqual([found.lat, found.lng], [1_000_000 + REST, 2_000_000]);
  assert.equal(found.assumed, undefined);
});

test("a city that is not the ZIP's, and taxed otherwise, makes a certain ZIP doubtful", () => {
  const asked = (city: string) => LOCATOR.locate(read({ city, state: 'XA', zip: '10010' }), dateOf);
  const near = asked('ELM');
  assert.ok(!isFailure(near));
  assert.deepEqual(
    [near.area, near.precision, near.assumed],
    [REST, 'city', { lowest: rate('6'), highest: rate('8'), isOpen: false }],
  );
  for (const city of ['', 'HILLS', 'TWIN', 'NOWHERE']) {
    const sure = asked(city);
    assert.ok(!isFailure(sure) && sure.precision === 'postal', city);
  }
  const [part] = dataset.zip(10003)!.parts;
  const away: typeof dataset = {
    ...dataset,
    zip: (zip) =>
      zip === 10003
        ? { ...dataset.zip(zip)!, parts: [{ ...part!, lat: 1_300_000 }] }
        : dataset.zip(zip),
  };
  const far = new PostalLocator(away, new Doubts(away, RATES, new DatasetGazetteer(away))).locate(
    read({ city: 'ELM', state: 'XA', zip: '10010' }),
    dateOf,
  );
  assert.deepEqual(
    far,
    failAmbiguous('ZIP code 10010 is far from Elm, which is taxed otherwise: check both'),
  );
});

test('a ZIP of unequal rates needs the name of an incorporated city', () => {
  assert.equal(located({ zip: '10002', city: 'ST OAK', state: 'XA' }), IN_OAK);
  assert.equal(located({ zip: '10002', city: '', state: 'XA' }), 'address-incomplete');
  assert.equal(located({ zip: '10002', city: 'NOWHERE', state: 'XA' }), 'address-incomplete');
  const other = LOCATOR.locate(read({ zip: '10025', city: 'NOWHERE', state: 'XA' }), dateOf);
  assert.ok(!isFailure(other));
  assert.deepEqual([other.area, other.city], [IN_FIR, 'Fir']);
});

test('a city that is not the postal one is meant where it has a third of the ZIP', () => {
  const asked = read({ zip: '10008', city: 'ST OAK', state: 'XA' });
  const found = LOCATOR.locate(asked, dateOf);
  assert.ok(!isFailure(found));
  assert.deepEqual([found.area, found.precision], [IN_OAK, 'city']);
  assert.deepEqual([found.lat, found.lng], [1_000_000 + IN_OAK, 2_000_000]);
  const rates = [IN_OAK, REST].map((area) => RATES.at(area, DAY));
  const sales = rates.map((each) => (isFailure(each) ? assert.fail() : each.sales));
  assert.deepEqual(found.assumed, {
    lowest: Math.min(...sales),
    highest: Math.max(...sales),
    isOpen: false,
  });
  assert.equal(located({ zip: '10009', city: 'ST OAK', state: 'XA' }), 'address-incomplete');
});

const precision = (fields: Partial<ParsedAddress>): string => {
  const found = LOCATOR.locate(read({ state: 'XA', ...fields }), dateOf);
  return isFailure(found) ? found.failure : found.precision;
};

test('a ZIP is certain only if all it may reach is taxed alike', () => {
  assert.equal(precision({ zip: '10010', city: 'HILLS' }), 'postal');
  assert.equal(precision({ zip: '10011', city: 'HILLS' }), 'city');
  // Oak and Elm are taxed alike, so which of them it is does not matter.
  assert.equal(precision({ zip: '10012', city: 'ST OAK' }), 'postal');
});

test('the rate that most of a ZIP have is assumed for its postal city', () => {
  assert.equal(located({ zip: '10011', city: 'HILLS', state: 'XA' }), REST);
  assert.equal(located({ zip: '10013', city: 'HILLS', state: 'XA' }), 'address-incomplete');
  // A city that is named and has another rate takes 76 % outside it.
  assert.equal(located({ zip: '10018', city: 'ST OAK', state: 'XA' }), 'address-incomplete');
  assert.equal(located({ zip: '10019', city: 'ST OAK', state: 'XA' }), REST);
  assert.equal(located({ zip: '10014', city: 'OAK', state: 'XA' }), REST);
  assert.equal(located({ zip: '10014', city: 'ST OAK', state: 'XA' }), 'address-incomplete');
  assert.equal(located({ zip: '10014', city: 'NOWHERE', state: 'XA' }), REST);
  for (const city of ['', 'ELM', 'HILLS']) {
    assert.equal(located({ zip: '10014', city, state: 'XA' }), 'address-incomplete', city);
  }
});

test('outside the city that the post office names, the largest part of the rate is taken', () => {
  assert.equal(located({ zip: '10025', city: 'ST OAK', state: 'XA' }), IN_FIR);
});

test('which county of a city is meant its name does not say, so most of the ZIP decides', () => {
  const oak = { city: 'ST OAK', state: 'XA' };
  assert.equal(located({ zip: '10021', ...oak }), IN_OAK);
  assert.equal(located({ zip: '10022', ...oak }), FAR_OAK);
  assert.equal(located({ zip: '10023', ...oak }), 'address-incomplete');
  // Most of the city in the ZIP has another rate than most of the ZIP.
  assert.equal(located({ zip: '10024', ...oak }), 'address-incomplete');
});

test('land of a rate that is not held makes a ZIP as uncertain as land of another rate', () => {
  assert.equal(located({ zip: '10017', city: 'HILLS', state: 'XA' }), 'address-incomplete');
});

test('what a ZIP has across the state line makes it less certain, and is never the answer', () => {
  assert.equal(precision({ zip: '10015', city: 'HILLS' }), 'address-incomplete');
  assert.equal(precision({ zip: '10015', city: 'HILLS', state: 'YB' }), 'address-incomplete');
  assert.equal(precision({ zip: '10016', city: 'HILLS' }), 'city');
  assert.equal(precision({ zip: '10016', city: 'HILLS', state: 'YB' }), 'address-incomplete');
  // Within a state three quarters would be enough.
  assert.equal(precision({ zip: '10026', city: 'HILLS' }), 'address-incomplete');
  // A part beyond that the lists name and no spot was met of is possible all the same.
  assert.equal(precision({ zip: '10020', city: 'HILLS' }), 'city');
});

test('where the extent of the ZIP is known, a city that does not touch it is no candidate', () => {
  assert.equal(located({ zip: '10010', city: 'ELM', state: 'XA' }), REST);
});

test('equal totals answer the named city, else the first part', () => {
  assert.equal(located({ zip: '10003', city: 'ELM', state: 'XA' }), IN_ELM);
  assert.equal(located({ zip: '10003', city: 'HILLS', state: 'XA' }), IN_OAK);
});

test('a named city of the county that is not known to reach the ZIP makes it uncertain', () => {
  assert.equal(located({ zip: '10001', city: 'ELM', state: 'XA' }), 'address-incomplete');
});

test('never across a state line', () => {
  assert.equal(located({ zip: '10001', state: 'YB' }), 'address-incomplete');
  assert.equal(located({ zip: '10004' }), 'address-incomplete');
  assert.equal(located({ zip: '10004', state: 'YB' }), OVER);
  assert.equal(located({ zip: '10004', state: 'XA' }), IN_OAK);
});

test('an unknown area equals no other', () => {
  assert.equal(located({ zip: '10005', state: 'XA' }), 'address-incomplete');
  assert.equal(located({ zip: '10005', state: 'XA', city: 'DARK' }), DARK);
  assert.equal(located({ zip: '10006', state: 'XA' }), 'no-result');
});

test('without a ZIP an incorporated city and its state suffice', () => {
  assert.equal(located({ city: 'ELM', state: 'XA' }), IN_ELM);
  assert.equal(located({ city: 'HILLS', state: 'XA' }), 'address-incomplete');
  assert.equal(located({ city: 'TWIN', state: 'XA' }), 'address-incomplete');
  assert.equal(located({ city: 'ELM' }), 'address-incomplete');
});

test('incomplete addresses are refused', () => {
  assert.equal(located({ number: '', zip: '10001' }), 'address-incomplete');
  assert.equal(located({ kind: 'military', zip: '10007' }), 'address-incomplete');
  assert.equal(located({ zip: '10007' }), 'address-incomplete');
  assert.equal(located({ zip: '99999' }), 'address-incomplete');
});

test('an answer is the same whatever was asked before, on every day', () => {
  const places = [10001, 10002, 10003, 10004, 10005, 10006, 10007, 10009].flatMap((number) => [
    String(number),
    '',
  ]);
  const asked = fc.record({
    zip: fc.constantFrom(...places),
    city: fc.constantFrom('', 'HILLS', 'ST OAK', 'SAINT OAK', 'ELM', 'TWIN', 'DARK', 'NOWHERE'),
    state: fc.constantFrom('', 'XA', 'YB'),
    number: fc.constantFrom('12', '7', ''),
    day: fc.constantFrom(DAY, 20250101 as DateInt),
  });
  fc.assert(
    fc.property(fc.array(asked, { minLength: 1, maxLength: 12 }), (list) => {
      for (const { day, ...fields } of list) {
        const reading = read(fields);
        const fresh = freshLocator().locate(reading, () => day);
        assert.deepEqual(
          LOCATOR.locate(reading, () => day),
          fresh,
        );
      }
    }),
  );
});
