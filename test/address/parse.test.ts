import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ADDRESS_CHARS_MAX, parseAddress, READINGS_MAX } from '../../src/address/parse.js';
import type { ParsedAddress } from '../../src/address/parsed.js';
import { PLACES } from './places.js';

/** "number|pre|name|suffix|post|unit|city|state|zip" of a reading, for the tables below. */
function brief(parsed: ParsedAddress | undefined): string {
  if (parsed === undefined) return '';
  const zip = parsed.zip4 === '' ? parsed.zip : `${parsed.zip}-${parsed.zip4}`;
  return [
    parsed.number,
    parsed.preDirection,
    parsed.name,
    parsed.suffix,
    parsed.postDirection,
    parsed.unit,
    parsed.city,
    parsed.state,
    zip,
  ].join('|');
}

/** Each row: an address as written, the reading expected first. */
function table(name: string, rows: readonly (readonly [string, string])[]): void {
  describe(name, () => {
    for (const [text, expected] of rows) {
      test(text, () => assert.equal(brief(parseAddress(text, PLACES)[0]), expected));
    }
  });
}

/** Each row: an address and a reading that must be among those given. */
function anyTable(name: string, rows: readonly (readonly [string, string])[]): void {
  describe(name, () => {
    for (const [text, expected] of rows) {
      test(text, () => {
        const readings = parseAddress(text, PLACES).map(brief);
        assert.ok(readings.includes(expected), readings.join('\n'));
      });
    }
  });
}

const SPECTRUM = '200||SPECTRUM CENTER|DR|||IRVINE|CA|92618-5003';
table('case, punctuation and missing commas', [
  ['200 Spectrum Center Dr, Irvine, CA 92618-5003', SPECTRUM],
  ['200 spectrum center drive irvine ca 926185003', SPECTRUM],
  ['200 SPECTRUM CTR. DR., IRVINE, CALIFORNIA 92618 5003 USA', SPECTRUM],
  ['  200  Spectrum Center Dr ,Irvine , CA  92618–5003, United States', SPECTRUM],
  ['200 Spectrum Center Dr; Irvine; CA; 92618-5003', SPECTRUM],
  ['200 Spectrum Center Dr Irvine, CA 92618-5003 U.S.A.', SPECTRUM],
  ['200SPECTRUM CENTER DR IRVINE CA 92618-5003', SPECTRUM],
  ['123 Main St 05401 Burlington VT', '123||MAIN|ST|||BURLINGTON|VT|05401'],
  ['123 Main St, Stowe, VT 5672', '123||MAIN|ST|||STOWE|VT|05672'],
  ['12½ Peñasco Rd, Burlington — VT', '12 1/2||PENASCO|RD|||BURLINGTON|VT|'],
  ['123 St. Paul’s Way Burlington VT', '123||ST PAULS|WAY|||BURLINGTON|VT|'],
  ['100 Main St Charleston West Virginia 25301', '100||MAIN|ST|||CHARLESTON|WV|25301'],
  ['100 Main St, Charleston, W Virginia', '100||MAIN|ST|||CHARLESTON|WV|'],
  ['123 Main St, Burlington, Chittenden County, VT', '123||MAIN|ST|||BURLINGTON|VT|'],
  ['Burlington VT 05401, 149 Church St', '149||CHURCH|ST|||BURLINGTON|VT|05401'],
  ['City Hall, 149 Church St, Burlington, VT', '149||CHURCH|ST|||BURLINGTON|VT|'],
  ['City Hall 149 Church St Burlington VT', '149||CHURCH|ST|||BURLINGTON|VT|'],
]);

table('house numbers', [
  ['12A Main St Burlington VT', '12A||MAIN|ST|||BURLINGTON|VT|'],
  ['12 A Main Burlington VT', '12A||MAIN||||BURLINGTON|VT|'],
  ['12 1/2 Main St, Burlington, VT', '12 1/2||MAIN|ST|||BURLINGTON|VT|'],
  ['12-34 31st Ave, Astoria NY 11106', '12-34||31ST|AVE|||ASTORIA|NY|11106'],
  ['94-1234 Kahuanani St, Waipahu HI', '94-1234||KAHUANANI|ST|||WAIPAHU|HI|'],
  ['N12W3456 Main St Menomonee Falls WI', 'N12W3456||MAIN|ST|||MENOMONEE FALLS|WI|'],
  ['W156 N8480 Pilgrim Rd, Menomonee Falls', 'W156N8480||PILGRIM|RD|||MENOMONEE FALLS||'],
  ['N6543 Hwy 12, Madison WI', 'N6543||STATE ROUTE 12||||MADISON|WI|'],
  ['39W123 Main St, Madison WI', '39W123||MAIN|ST|||MADISON|WI|'],
  ['#12 Main St Burlington VT', '12||MAIN|ST|||BURLINGTON|VT|'],
  ['One Church St Burlington VT', '1||CHURCH|ST|||BURLINGTON|VT|'],
  ['123 25 1/2 Rd, Stowe VT', '123||25 1/2|RD|||STOWE|VT|'],
  ['20 K and L Ct Stowe VT', '20||K AND L|CT|||STOWE|VT|'],
]);

test('a range of doors has a last number', () => {
  const [range, single] = parseAddress('100-104 Main St, Burlington VT', PLACES);
  assert.deepEqual([range?.number, range?.numberValue, range?.numberHigh], ['100', 100, 104]);
  assert.deepEqual([single?.number, single?.numberHigh], ['100-104', -1]);
});

table('directions', [
  ['123 S 400 W Salt Lake City UT', '123|S|400||W||SALT LAKE CITY|UT|'],
  ['123 South 400 West, Salt Lake City, UT', '123|S|400||W||SALT LAKE CITY|UT|'],
  ['323 Washington Ave N, Minneapolis, MN', '323||WASHINGTON|AVE|N||MINNEAPOLIS|MN|'],
  ['323 Washington Ave No Minneapolis MN', '323||WASHINGTON|AVE|N||MINNEAPOLIS|MN|'],
  ['12 So Main St Stowe VT', '12|S|MAIN|ST|||STOWE|VT|'],
  ['123 N.W. 4th St. Miami, FL.', '123|NW|4TH|ST|||MIAMI|FL|'],
  ['123 W North Ave Milwaukee WI', '123|W|NORTH|AVE|||MILWAUKEE|WI|'],
  ['123 North St Stowe VT', '123||NORTH|ST|||STOWE|VT|'],
  ['500 E St NW Washington DC', '500||E|ST|NW||WASHINGTON|DC|'],
  ['1600 Pennsylvania Avenue Northwest Washington DC', '1600||PENNSYLVANIA|AVE|NW||WASHINGTON|DC|'],
  ['123 Main St, NW, Washington, DC', '123||MAIN|ST|NW||WASHINGTON|DC|'],
  ['123 East West Hwy, Pikesville MD', '123||EAST WEST|HWY|||PIKESVILLE|MD|'],
  ['123 NW Hwy, Houston TX', '123||NORTHWEST|HWY|||HOUSTON|TX|'],
  ['123 1st Ave NE Omaha NE', '123||1ST|AVE|NE||OMAHA|NE|'],
  ['5 Main St E Montpelier VT', '5||MAIN|ST|||E MONTPELIER|VT|'],
  ['5 E Montpelier Rd East Montpelier VT', '5|E|MONTPELIER|RD|||EAST MONTPELIER|VT|'],
]);

table('Saint or Street', [
  ['123 St Paul St Burlington VT', '123||ST PAUL|ST|||BURLINGTON|VT|'],
  ['123 Saint Paul Street Burlington VT', '123||ST PAUL|ST|||BURLINGTON|VT|'],
  ['5 Main St St Albans VT 05478', '5||MAIN|ST|||ST ALBANS|VT|05478'],
  ['123 Main St Paul MN', '123||MAIN||||ST PAUL|MN|'],
  ['St Albans VT', '||||||ST ALBANS|VT|'],
  ['20 E St Joseph St, Irvine, CA', '20|E|ST JOSEPH|ST|||IRVINE|CA|'],
]);

table('names made of suffixes and directions', [
  ['1000 Avenue of the Americas New York NY', '1000||AVENUE OF THE AMERICAS||||NEW YORK|NY|'],
  ['1000 Ave of the Americas, New York, NY', '1000||AVENUE OF THE AMERICAS||||NEW YORK|NY|'],
  ['350 Park Ave New York', '350||PARK|AVE|||NEW YORK||'],
  ['15 Court St, Burlington VT', '15||COURT|ST|||BURLINGTON|VT|'],
  ['200 Broadway New York NY 10038', '200||BROADWAY||||NEW YORK|NY|10038'],
  ['123 The Alameda Irvine CA', '123||THE ALAMEDA||||IRVINE|CA|'],
  ['8 The Green, Stowe VT', '8||THE GREEN||||STOWE|VT|'],
  ['55 Avenue B, New York, NY', '55||AVENUE B||||NEW YORK|NY|'],
  ['55 Ave N Brooklyn NY', '55||AVENUE N||||BROOKLYN|NY|'],
  ['10 First Street Stowe VT', '10||1ST|ST|||STOWE|VT|'],
  ['10 1st St, Stowe VT', '10||1ST|ST|||STOWE|VT|'],
  ['123 Twenty-Second St Burlington VT', '123||22ND|ST|||BURLINGTON|VT|'],
  ['45 Mt. Vernon St, Burlington, VT', '45||MOUNT VERNON|ST|||BURLINGTON|VT|'],
  ['3 Maple St Extension Burlington VT', '3||MAPLE STREET|EXT|||BURLINGTON|VT|'],
  ['77 Via Roma, Irvine CA', '77||VIA ROMA||||IRVINE|CA|'],
  ['12 La Casa Ct, Irvine CA', '12||LA CASA|CT|||IRVINE|CA|'],
]);

table('numbered roads', [
  ['4000 US Highway 7, Shelburne, VT', '4000||US HIGHWAY 7||||SHELBURNE|VT|'],
  ['4000 US-7 Shelburne VT', '4000||US HIGHWAY 7||||SHELBURNE|VT|'],
  ['4000 U.S. RTE 7 South, Shelburne VT', '4000||US HIGHWAY 7||S||SHELBURNE|VT|'],
  ['123 VT Route 100 N Stowe VT', '123||STATE ROUTE 100||N||STOWE|VT|'],
  ['123 VT RTE 100 N Stowe VT', '123||STATE ROUTE 100||N||STOWE|VT|'],
  ['123 VT-100 North, Stowe', '123||STATE ROUTE 100||N||STOWE||'],
  ['123 Vermont State Highway 100, Stowe', '123||STATE ROUTE 100||||STOWE||'],
  ['123 Route 100 Stowe VT', '123||STATE ROUTE 100||||STOWE|VT|'],
  ['10 Old US Highway 2, Stowe VT', '10||OLD US HIGHWAY 2||||STOWE|VT|'],
  ['123 County Rd 5, Stowe VT', '123||COUNTY HIGHWAY 5||||STOWE|VT|'],
  ['123 Co Rd 5 Stowe VT', '123||COUNTY HIGHWAY 5||||STOWE|VT|'],
  ['W1234 CTH A, Sussex WI', 'W1234||COUNTY HIGHWAY A||||SUSSEX|WI|'],
  ['W5678 County Road D, Madison WI', 'W5678||COUNTY HIGHWAY D||||MADISON|WI|'],
  ['100 I-89 N, Stowe VT', '100||INTERSTATE 89||N||STOWE|VT|'],
  ['12 Town Hwy 28, Stowe VT', '12||TOWN HIGHWAY 28||||STOWE|VT|'],
  ['12345 FM 1960 Rd W, Houston, TX', '12345||FM 1960||W||HOUSTON|TX|'],
  ['12345 Farm to Market 1960 West, Houston TX', '12345||FM 1960||W||HOUSTON|TX|'],
]);

table('units', [
  ['123 Main St Apt 4B Burlington VT 05401', '123||MAIN|ST||APT 4B|BURLINGTON|VT|05401'],
  ['123 Main St #4, Burlington VT', '123||MAIN|ST||# 4|BURLINGTON|VT|'],
  ['123 Main St 2nd Floor Burlington VT', '123||MAIN|ST||FL 2ND|BURLINGTON|VT|'],
  ['123 NW 2nd Ave Fl 3 Miami FL 33101', '123|NW|2ND|AVE||FL 3|MIAMI|FL|33101'],
  ['123 NW 2nd Ave Miami FL 33101', '123|NW|2ND|AVE|||MIAMI|FL|33101'],
  ['Apt 4, 123 Main St, Burlington VT', '123||MAIN|ST||APT 4|BURLINGTON|VT|'],
  ['123 Main St, 4B, Burlington, VT', '123||MAIN|ST||# 4B|BURLINGTON|VT|'],
  ['116 Mission St 803 San Francisco CA', '116||MISSION|ST||# 803|SAN FRANCISCO|CA|'],
  ['1 Main St Bldg C Apt 9, Stowe VT', '1||MAIN|ST||BLDG C APT 9|STOWE|VT|'],
  ['123 Main St, Stowe VT 05672 Apt 4', '123||MAIN|ST||APT 4|STOWE|VT|05672'],
  ['10 Main St Rear, Stowe VT', '10||MAIN|ST||REAR|STOWE|VT|'],
  ['10 Front St Burlington VT', '10||FRONT|ST|||BURLINGTON|VT|'],
  ['10 Upper St, Burlington VT', '10||UPPER|ST|||BURLINGTON|VT|'],
]);

table('something missing', [
  ['123 Main St', '123||MAIN|ST|||||'],
  ['123 Main St 05401', '123||MAIN|ST|||||05401'],
  ['123 Main St MN 55401', '123||MAIN|ST||||MN|55401'],
  ['123 Maple CT 06901', '123||MAPLE|CT|||||06901'],
  ['123 Maple Ct Hartford CT 06103', '123||MAPLE|CT|||HARTFORD|CT|06103'],
  ['45 Elm, Burlington VT', '45||ELM||||BURLINGTON|VT|'],
  ['1 Main St Washington', '1||MAIN|ST|||WASHINGTON||'],
  ['92618', '||||||||92618'],
  ['Irvine, CA', '||||||IRVINE|CA|'],
  ['New York NY', '||||||NEW YORK|NY|'],
  ['Church St, Burlington, VT', '||CHURCH|ST|||BURLINGTON|VT|'],
]);

anyTable('second meanings', [
  ['123 Main St Paul MN', '123||MAIN|ST|||PAUL|MN|'],
  ['5 Main St E Montpelier VT', '5||MAIN|ST|E||MONTPELIER|VT|'],
  ['123 Route 7 Shelburne VT', '123||US HIGHWAY 7||||SHELBURNE|VT|'],
  ['1 Main St Washington', '1||MAIN|ST||||WA|'],
  ['12-34 Main St Burlington VT', '12||MAIN|ST|||BURLINGTON|VT|'],
  ['12 A Frame Rd Stowe VT', '12||A FRAME|RD|||STOWE|VT|'],
  ['1 Lone Pine Stowe VT', '1||LONE PINE||||STOWE|VT|'],
  ['24 Napoli Road 1 Stowe VT', '24||NAPOLI ROAD 1||||STOWE|VT|'],
  ['9 N St Stowe VT', '9||NORTH|ST|||STOWE|VT|'],
]);

describe('kinds', () => {
  const kinds: readonly (readonly [string, ParsedAddress['kind']])[] = [
    ['PO Box 123, Stowe VT', 'po-box'],
    ['P.O. Box 123 Stowe VT', 'po-box'],
    ['RR 2 Box 15, Stowe VT', 'po-box'],
    ['123 Main St PO Box 5 Stowe VT', 'street'],
    ['PSC 1234 Box 5678, APO AE 09012', 'military'],
    ['Unit 2050 Box 4190 APO AP 96278-2050', 'military'],
    ['USS Nimitz FPO AP 96620', 'military'],
    ['Main St & Elm St, Burlington, VT', 'intersection'],
    ['Main St and Elm St Burlington VT', 'intersection'],
    ['Burlington Vermont', 'place-only'],
    ['05401', 'place-only'],
  ];
  for (const [text, kind] of kinds) {
    test(text, () => assert.equal(parseAddress(text, PLACES)[0]?.kind, kind));
  }
});

test('a military address keeps office, region and box', () => {
  const parsed = parseAddress('PSC 1234 Box 5678, APO AE 09012-0001', PLACES)[0];
  assert.equal(brief(parsed), '|||||PSC 1234 BOX 5678|APO|AE|09012-0001');
});

test('a Canadian postal code is recognized with and without its space', () => {
  for (const code of ['M5V 3L9', 'm5v3l9', 'M5V-3L9']) {
    const parsed = parseAddress(`290 Bremner Blvd, Toronto, ON ${code}, Canada`, PLACES)[0];
    assert.equal(parsed?.canadianPostalCode, 'M5V 3L9');
    assert.equal(parsed?.country, 'CAN');
    assert.equal(parsed?.city, 'TORONTO');
  }
});

test('the country is told from its words', () => {
  for (const words of ['USA', 'U.S.A.', 'US', 'U S', 'United States', 'United States of America']) {
    const parsed = parseAddress(`1 Main St, Stowe, VT 05672, ${words}`, PLACES)[0];
    assert.equal(parsed?.country, 'USA', words);
    assert.equal(parsed?.zip, '05672', words);
  }
});

test('nothing usable gives nothing', () => {
  for (const text of ['', '   ', ',,,', '100', '#', 'USA', '½', '中文']) {
    assert.deepEqual(parseAddress(text, PLACES), [], text);
  }
});

test('two ZIPs where one belongs give nothing: either may be meant', () => {
  for (const zips of ['92618-90210', '92618 90210', '92618–90210', '92618-90210, USA']) {
    assert.deepEqual(parseAddress(`200 Spectrum Center Dr, Irvine, CA ${zips}`, PLACES), [], zips);
  }
  const [road] = parseAddress('100 County Road 12345, Burlington, VT 05401', PLACES);
  assert.equal(road?.zip, '05401');
  const [grid] = parseAddress('100 Highway 12345 05401', PLACES);
  assert.equal(grid?.zip, '05401');
});

test('a text over the limit is refused', () => {
  const street = 'A'.repeat(ADDRESS_CHARS_MAX - 4);
  assert.equal(parseAddress(`1 ${street}`, PLACES).length > 0, true);
  assert.deepEqual(parseAddress(`1 ${street} LONG`, PLACES), []);
});

const WORDS = (
  '123 12-34 100-104 1/2 N S E W NE ST SAINT AVE RD DR MT FT APT STE # FL FLOOR UNIT 4 4B PO BOX ' +
  'VT NY NEW YORK CT US HWY ROUTE 7 100 CO COUNTY CR I-89 , ; - & / AND THE OF 05401 05401-1234 ' +
  'USA PARK LAKE 1ST FIRST TWENTY APO AE M5V 3L9 N12W3456 N12 W3456 BURLINGTON ALBANS OLD REAR NO'
).split(' ');

function check(text: string): void {
  const readings = parseAddress(text, PLACES);
  assert.ok(readings.length <= READINGS_MAX);
  for (const reading of readings) {
    assert.match(reading.zip, /^(?:\d{5})?$/);
    assert.match(reading.zip4, /^(?:\d{4})?$/);
    assert.match(reading.state, /^(?:[A-Z]{2})?$/);
    assert.match(reading.name, /^[A-Z0-9#/ ]*$/);
    assert.match(reading.city, /^[A-Z0-9#/ ]*$/);
    assert.ok(reading.numberValue >= -1 && Number.isInteger(reading.numberValue));
  }
}

test('any text is read without an exception', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 120 }), check), { numRuns: 2000 });
  fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 90 }), check), { numRuns: 1000 });
});

test('any order of the words of addresses is read without an exception', () => {
  const words = fc.array(fc.constantFrom(...WORDS), { maxLength: 14 });
  fc.assert(
    fc.property(words, (list) => check(list.join(' '))),
    { numRuns: 5000 },
  );
});

test('long and monotonous texts are read in no time', () => {
  const units = ['A', '1 ', 'N ', 'ST ', '#', "'", '\u0300', 'ﷺ', '1-', '.', 'A.', '/1', ', '];
  for (const unit of units) {
    check(unit.repeat(10_000));
    check(unit.repeat(Math.floor(ADDRESS_CHARS_MAX / unit.length)));
  }
});
