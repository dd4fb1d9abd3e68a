/** Districts that a law or an authority says to have all of a county, or a city: facts, held. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areaAt, percentOrRefused } from './default-rates.js';

const COLORADO = '08';

/** In percent, or "refused"; `place` is the code of a city, "" outside all. */
function total(county: string, place = ''): string {
  return percentOrRefused(areaAt(COLORADO, county, place));
}

test('all of Boulder and Jefferson counties lies in the districts of the metropolis', () => {
  assert.equal(total('08013'), '5.185', 'a local improvement district has only shops of Niwot');
  assert.equal(total('08013', '0807850'), '9.045', 'Boulder, once each');
  assert.equal(total('08013', '0875640'), '8.96', 'Superior');
  assert.equal(total('08059', '0843000'), '7.5', 'Lakewood');
  assert.notEqual(total('08059', '0823135'), 'refused', 'Edgewater');
  assert.equal(total('08059'), '4.5', 'outside the boxes about districts with rates of their own');
  assert.equal(total('08059', '?'), 'refused', 'in one of them');
});

test("Adams County's cities are in them by its own list, its land east of a creek is not", () => {
  assert.equal(total('08001', '0877290'), '8.5', 'Thornton');
  assert.equal(total('08001', '0816495'), '9.25', 'Commerce City');
  assert.equal(total('08001', '0808675'), '8.5', 'Brighton');
  assert.equal(total('08001', '0806090'), '8.75', 'Bennett');
  assert.equal(total('08005', '0806090'), 'refused', 'Bennett beyond the county line');
  assert.equal(total('08005', '0813845'), '7.75', 'Cherry Hills Village');
  assert.equal(total('08001'), '4.75', 'west of the creek');
  assert.equal(total('08001', '?'), 'refused', 'where it may lie east of it');
});

test('public safety taxes of Mesa and Montrose counties hold in towns and outside them', () => {
  assert.equal(total('08077'), '5.27');
  assert.equal(total('08077', '0831660'), '8.66', 'Grand Junction');
  assert.equal(total('08085'), '4.65');
  assert.equal(total('08085', '0851745'), '8.53', 'Montrose');
});
