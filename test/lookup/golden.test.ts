/**
 * Bodies byte for byte, per version, format and kind, against test/golden/v<N>/<case>.<format>.
 * To rewrite the files after a change meant to show: SITUS_GOLDEN=write npm test, then read the
 * difference before it is kept.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { API_VERSIONS, FORMATS } from '../../src/wire/tree.js';
import { ask } from './ask.js';

const GOLDEN = fileURLToPath(new URL('../../../test/golden/', import.meta.url));
const REWRITE = process.env['SITUS_GOLDEN'] === 'write';

const DOOR = 'address=200+Spindle+Center+Dr,+Brookmere,+QZ+97001';

/** Cases of every version. */
const EVERYWHERE: Readonly<Record<string, string>> = {
  address: DOOR,
  'address-unincorporated': 'address=12+Orchard+Rd%2C+Brookmere%2C+QZ+97001',
  'address-seven-districts': 'address=7+Levee+Ln,+Fenway,+QZ+97002',
  postal: 'postalcode=97001',
  'postal-independent-city': 'postalcode=97005',
  'postal-seven-districts': 'postalcode=97002',
  'postal-markup': 'postalcode=97004',
  'postal-unknown-rate': 'postalcode=97003',
  nothing: '',
};

/** Cases of versions that know coordinates. */
const SINCE_50: Readonly<Record<string, string>> = {
  point: 'lat=10.5&lng=0.2500012',
  'point-unincorporated': 'lat=10.5&lng=1.5',
  'point-markup': 'lat=10.5&lng=9.5',
  'point-nowhere': 'lat=0&lng=0',
  'point-unknown-rate': 'lat=10.5&lng=4.5',
  'point-two-levies': 'lat=10.5&lng=6.5&countryCode=CAN',
  'point-one-levy': 'lat=10.5&lng=7.5&countryCode=CAN',
  'point-territory': 'lat=10.5&lng=8.5&countryCode=PRI',
  'address-historical': `${DOOR}&historical=202106`,
  'address-single-article': `${DOOR}&sat_item_total=2500.50`,
};

const SINCE_60: Readonly<Record<string, string>> = {
  'address-extended': `${DOOR}&addressDetailExtended=true&shippingExtended=true`,
  'point-extended': 'lat=10.5&lng=0.25&addressDetailExtended=true&shippingExtended=true',
  'point-levies-extended':
    'lat=10.5&lng=6.5&countryCode=CAN&addressDetailExtended=true&shippingExtended=true',
};

function casesOf(version: number): [string, string][] {
  return Object.entries({
    ...EVERYWHERE,
    ...(version >= 50 ? SINCE_50 : {}),
    ...(version >= 60 ? SINCE_60 : {}),
  });
}

for (const version of API_VERSIONS) {
  for (const format of FORMATS) {
    test(`v${version} ${format} bodies are those of the golden files`, () => {
      const dir = `${GOLDEN}v${version}/`;
      mkdirSync(dir, { recursive: true });
      for (const [name, query] of casesOf(version)) {
        const file = `${dir}${name}.${format}`;
        const { text } = ask(version, `${query}&format=${format}`);
        if (REWRITE) writeFileSync(file, text);
        assert.equal(text, readFileSync(file, 'utf8'), `v${version}/${name}.${format}`);
      }
    });
  }
}
