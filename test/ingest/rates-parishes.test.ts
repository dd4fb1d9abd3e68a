/** Louisiana's parishes: the local totals that the tables of their collectors state, as rows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areaAt, percentOf, rates, TODAY } from './default-rates.js';

const LOUISIANA = '22';
const places = rates.input.places.filter(({ geoid }) => geoid.startsWith(LOUISIANA));

/**
 * In percent without the state's five, or the reason it is refused; `city` is "" outside all, "?"
 * where a district may divide the land.
 */
function local(parish: string, city = ''): string {
  const county = LOUISIANA + parish;
  const place =
    city === '' || city === '?'
      ? city
      : (places.find(({ name, counties }) => name === city && counties.includes(county))?.geoid ??
        assert.fail(city));
  const area = areaAt(LOUISIANA, county, place);
  const gap = area.unknown.find(({ from, to }) => from <= TODAY && to >= TODAY);
  if (gap !== undefined) return gap.reason;
  const components = area.components.filter(({ level }) => level !== 'state');
  return percentOf({ components }, TODAY);
}

test('parishes of one rate have it in their cities and outside them', () => {
  const whole: readonly (readonly [string, string, readonly string[]])[] = [
    ['051', '4.75', ['Gretna', 'Kenner', 'Westwego']],
    ['071', '5', ['New Orleans']],
    ['109', '5.5', []],
    ['087', '5', []],
    ['075', '4.75', []],
    ['039', '6', ['Mamou']],
    ['073', '5.99', ['Monroe', 'West Monroe']],
    ['121', '5.25', ['Port Allen', 'Addis']],
    ['047', '5.25', ['Plaquemine']],
    ['089', '5', []],
    ['095', '5.25', []],
  ];
  for (const [parish, rate, cities] of whole) {
    assert.equal(local(parish), rate, parish);
    for (const city of cities) assert.equal(local(parish, city), rate, city);
  }
});

test('a city has its column of the table: its own tax and what the parish takes inside it', () => {
  const columns: readonly (readonly [string, string, string])[] = [
    ['033', 'Baton Rouge', '5.5'],
    ['033', 'Baker', '6'],
    ['033', 'Central', '6'],
    ['055', 'Lafayette', '4'],
    ['055', 'Broussard', '4.5'],
    ['055', 'Scott', '5'],
    ['019', 'Lake Charles', '5.75'],
    ['019', 'Sulphur', '5.75'],
    ['079', 'Alexandria', '5.5'],
    ['105', 'Hammond', '5.5'],
    ['057', 'Thibodaux', '5.35'],
    ['117', 'Bogalusa', '5.493'],
    ['047', 'St. Gabriel', '5.916'],
    ['061', 'Ruston', '6'],
    ['115', 'Leesville', '5.5'],
    ['101', 'Morgan City', '5.25'],
    ['113', 'Abbeville', '6'],
    ['073', 'Sterlington', '6.5'],
    ['027', 'Homer', '6'],
    ['011', 'DeRidder', '5'],
    ['053', 'Jennings', '6'],
  ];
  for (const [parish, city, rate] of columns) assert.equal(local(parish, city), rate, city);
  assert.equal(local('055'), '4');
  assert.equal(local('097'), '5.55');
  assert.equal(local('085'), '4.625');
});

test("a city in two parishes pays each parish's part beside its own", () => {
  assert.equal(local('097', 'Eunice'), '6');
  assert.equal(local('001', 'Eunice'), '5.7', '3.25 of Acadia Parish and 2.45');
  assert.equal(local('055', 'Duson'), '5');
  assert.equal(local('001', 'Duson'), '6.25');
  assert.equal(local('099', 'Broussard'), '6');
  assert.equal(local('113', 'Delcambre'), '6.25');
  assert.equal(local('045', 'Delcambre'), '5');
});

test('land that wards or districts divide, and cities with annexed land, are refused', () => {
  assert.match(local('019', '?'), /Ward 1 of Calcasieu Parish/);
  assert.equal(local('019'), '5.75', 'in wards 2 to 8');
  assert.match(local('033', '?'), /Central school district/);
  assert.equal(local('033'), '5.5', 'St. George and what lies south of it');
  assert.match(local('057', '?'), /Intracoastal Waterway/);
  assert.equal(local('057'), '4.65', 'north of it');
  assert.match(local('105'), /Fire District 1/);
  for (const parish of ['017', '053', '063', '079', '113', '117', '119']) {
    assert.match(local(parish), /would fill it/, parish);
  }
  for (const [parish, city] of [
    ['045', 'New Iberia'],
    ['069', 'Natchitoches'],
    ['005', 'Gonzales'],
    ['099', 'Breaux Bridge'],
  ] as const) {
    assert.match(local(parish, city), new RegExp(`land that ${city} annexed`));
  }
});
