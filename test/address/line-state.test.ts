import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAddress } from '../../src/address/parse.js';
import { PLACES } from './places.js';

/** "number name suffix|city|state|zip" of the likeliest reading. */
function brief(text: string): string {
  const [first] = parseAddress(text, PLACES);
  if (first === undefined) return '';
  const { number, name, suffix, city, state, zip, zip4 } = first;
  return `${number} ${name} ${suffix}|${city}|${state}|${zip}${zip4 === '' ? '' : `-${zip4}`}`;
}

test('what stands behind state and ZIP is left aside', () => {
  const expected = '200 SPECTRUM CENTER DR|IRVINE|CA|92618-5003';
  for (const remark of [
    ' (ring twice)',
    ', Store 60606',
    ' 949 555 1234',
    ', c/o Smith 10001',
    '; DROP TABLE',
  ]) {
    assert.equal(brief(`200 Spectrum Center Dr, Irvine, CA 92618-5003${remark}`), expected, remark);
    const spelled = `200 Spectrum Center Dr Irvine California 92618-5003${remark}`;
    assert.equal(brief(spelled), expected, spelled);
  }
  const plain = '200 Spectrum Center Dr, Irvine, CA 92618 5003 rear';
  assert.equal(brief(plain), '200 SPECTRUM CENTER DR|IRVINE|CA|92618');
});

test('a ZIP may come first; figures that may be a house number are one', () => {
  const door = '200 SPECTRUM CENTER DR|IRVINE|CA|92618';
  assert.equal(brief('92618 Irvine, CA, 200 Spectrum Center Dr'), door);
  assert.equal(brief('92618, 200 Spectrum Center Dr, Irvine, CA'), door);
  assert.equal(
    brief('92618 Spectrum Center Dr, Irvine, CA 92618'),
    '92618 SPECTRUM CENTER DR|IRVINE|CA|92618',
  );
  assert.equal(
    brief('92618 Spectrum Center Dr, Irvine, CA'),
    '92618 SPECTRUM CENTER DR|IRVINE|CA|',
  );
});

test('a state named in the midst of a line is told beside the one at its end', () => {
  const other = (text: string): string | undefined => parseAddress(text, PLACES)[0]?.otherPlace;
  for (const [text, state] of [
    ['2 Oak St, Irvine, CA, Gate 10001', 'CA'],
    ['2 Oak St, Irvine CA c/o Smith 10001', 'CA'],
    ['2 Oak St, Irvine, CA 92618, Milwaukee, WI 53213', 'CA'],
    ['2 Oak St, Hartford, CT, Gate 10001', 'CT'],
    ['2 Oak St Hartford CT Gate 10001', 'CT'],
    ['2 Oak St, Irvine, CA 92618, Los Angeles, CA 90012', 'CA 92618'],
    ['2 Oak St, Irvine, CA, Los Angeles, CA 90012', 'IRVINE, CA'],
    ['2 Oak St Irvine CA, Los Angeles, CA', 'IRVINE, CA'],
    ['2 Oak St, Irvine, CA, Milwaukee, WI 53213', 'CA'],
    ['2 Oak St, Irvine, CA 92618, Irvine, CA 92618-5003', ''],
    ['2 Oak St, St Cloud, MN, Saint Cloud, MN 56301', ''],
    ['2 Oak St, Brooklyn, New York, NY 11201', ''],
    ['2 Oak St, Irvine, CA 92618', ''],
    ['2 Oak Ct, 92618', ''],
    ['2 California St, 92618', ''],
    // A court that is named like a city is a street.
    ['2 Hartford Ct, 10001', ''],
  ] as const) {
    assert.equal(other(text), state, text);
  }
});

test('five digits behind a name alone are a house number, behind a street a ZIP', () => {
  const read = (line: string): string => {
    const [first] = parseAddress(line, PLACES);
    return [first?.number, first?.name, first?.city, first?.zip].join('|');
  };
  const expected = '10277|CHURCH|BURLINGTON|';
  assert.equal(read('City Hall, 10277 Church St, Burlington, VT'), expected);
  assert.equal(read('City Hall 10277 Church St Burlington VT'), expected);
  assert.equal(read('123 Church St 05401 Burlington VT'), '123|CHURCH|BURLINGTON|05401');
  assert.equal(read('One Church St 05401 Burlington VT'), '1|CHURCH|BURLINGTON|05401');
  assert.equal(read('Burlington VT 05401, 149 Church St'), '149|CHURCH|BURLINGTON|05401');
});
