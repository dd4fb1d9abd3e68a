import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  foldStreetName,
  formatStreetName,
  parseStreetName,
} from '../../src/address/street-name.js';
import { titleCase } from '../../src/address/title-case.js';
import { PLACES } from './places.js';

describe('publishers’ street columns', () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ['EAST BRUCE STREET', 'E|BRUCE|ST|', 'E Bruce St'],
    ['E RUHL RD', 'E|RUHL|RD|', 'E Ruhl Rd'],
    ['Mt Philo Rd', '|MOUNT PHILO|RD|', 'Mount Philo Rd'],
    ['VT ROUTE 100 N', '|STATE ROUTE 100||N', 'State Route 100 N'],
    ['U.S. ROUTE 7 SOUTH', '|US HIGHWAY 7||S', 'US Highway 7 S'],
    ['VERMONT ROUTE 14', '|STATE ROUTE 14||', 'State Route 14'],
    ['OLD COUNTY RD 47', '|OLD COUNTY HIGHWAY 47||', 'Old County Highway 47'],
    ['INTERSTATE 91 S', '|INTERSTATE 91||S', 'Interstate 91 S'],
    ['ROUTE 129 EXT', '|STATE ROUTE 129|EXT|', 'State Route 129 Ext'],
    ['WESTON RD ROUTE 155', '|WESTON ROAD ROUTE 155||', 'Weston Road Route 155'],
    ['09TH ST', '|9TH|ST|', '9th St'],
    ['MAPLE STREET EXT', '|MAPLE STREET|EXT|', 'Maple Street Ext'],
    ['West St Paul Avenue', 'W|ST PAUL|AVE|', 'W St Paul Ave'],
    ['SW South St', 'SW|SOUTH|ST|', 'SW South St'],
    ['S East Rd', 'S|EAST|RD|', 'S East Rd'],
    ['BROADWAY', '|BROADWAY||', 'Broadway'],
    ['FOOTHILL BL', '|FOOTHILL|BLVD|', 'Foothill Blvd'],
    ['MCDONALD RD', '|MCDONALD|RD|', 'McDonald Rd'],
    ["O'BRIEN AVE", '|OBRIEN|AVE|', "O'Brien Ave"],
    ['PRIVATE RD 6', '|PRIVATE ROAD 6||', 'Private Road 6'],
    ['PR 12', '|PRIVATE ROAD 12||', 'Private Road 12'],
    ['CAMPGROUND', '|CAMPGROUND||', 'Campground'],
    ['A PLACE IN THE WOODS', '|A PLACE IN THE WOODS||', 'A Place in the Woods'],
    ['HORSESHOE ACRES 10', '|HORSESHOE ACRES 10||', 'Horseshoe Acres 10'],
    ['Forest Rd South', '|FOREST|RD|S', 'Forest Rd S'],
    ['NO NAME RD', '|NO NAME|RD|', 'No Name Rd'],
    ['', '|||', ''],
  ];
  for (const [text, expected, formatted] of rows) {
    test(text, () => {
      const street = parseStreetName(text, PLACES);
      const { preDirection, name, suffix, postDirection } = street;
      assert.equal([preDirection, name, suffix, postDirection].join('|'), expected);
      assert.equal(formatStreetName(street), formatted);
      assert.deepEqual(parseStreetName(formatted, PLACES), street);
    });
  }
});

describe('one key for every spelling', () => {
  const rows: readonly (readonly string[])[] = [
    ['St Paul', 'SAINT PAUL', 'St. Paul'],
    ["O'Neil", 'ONEIL', 'O’NEIL', 'O Neil'],
    ['First', '1st', '01ST'],
    ['Twenty Second', 'TWENTY-SECOND', '22nd'],
    ['Mt Philo', 'MOUNT PHILO'],
    ['Ft Ethan Allen', 'Fort Ethan Allen'],
    ['Doctor Smith', 'DR SMITH'],
    ['MLK', 'Martin Luther King', 'Dr Martin Luther King Jr', 'M L King Junior', 'MLK JR'],
    ['Lake Vw', 'LAKE VIEW'],
    ['Castle Mtn', 'CASTLE MOUNTAIN', 'Castle Mt'],
    ['Four Corners', '4 CORNERS'],
    ['Old North', 'OLD N'],
    ['K & L', 'K AND L'],
    ['Town Line', 'TOWNLINE'],
    ['Maple St', 'MAPLE STREET'],
  ];
  for (const spellings of rows) {
    test(spellings.join(', '), () => {
      assert.equal(
        new Set(spellings.map(foldStreetName)).size,
        1,
        spellings.map(foldStreetName).join(),
      );
    });
  }
});

test('different streets keep different keys', () => {
  const names = ['1', '1ST', '11TH', 'N', 'NORTH', 'E', 'EAST', 'MOUNTAIN', 'MOUNT', 'PARK'];
  assert.equal(new Set(names.map(foldStreetName)).size, names.length);
});

test('formatting and reading a column settle after one round', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme-ascii', maxLength: 40 }), (text) => {
      const once = parseStreetName(text, PLACES);
      assert.match(foldStreetName(once.name), /^[A-Z0-9/]*$/);
      formatStreetName(once);
    }),
    { numRuns: 2000 },
  );
});

test('casing', () => {
  assert.equal(titleCase('SAINT ALBANS'), 'Saint Albans');
  assert.equal(titleCase("COEUR D'ALENE"), "Coeur D'Alene");
  assert.equal(titleCase('WINSTON-SALEM'), 'Winston-Salem');
  assert.equal(titleCase('ISLE OF WIGHT'), 'Isle of Wight');
  assert.equal(titleCase('42ND'), '42nd');
  assert.equal(titleCase(''), '');
});
