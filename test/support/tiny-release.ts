/** A release of a handful of invented records, for tests of writing, checking and switching. */
import type { ReleaseContent } from '../../src/ingest/writer.js';
import type { DateInt } from '../../src/tax/date.js';
import type { Rate } from '../../src/tax/rate.js';

const ALWAYS = { from: 20200101 as DateInt, to: 99991231 as DateInt };

/** Content with one state whose rate is `percentTimesTen` tenths of a percent. */
export function tinyContent(percentTimesTen: number): ReleaseContent {
  const rate = (percentTimesTen * 1_000_000) as Rate;
  return {
    manifest: {
      recipe: 'tiny', asOf: '2026-01-01', layers: [], coverage: [],
      sources: [{
        id: 0, name: 'invented', publisher: 'nobody', licence: 'none',
        asOf: 20260101 as DateInt, estimated: false,
      }],
      files: [],
    },
    areas: [{
      id: 0, country: 'USA', state: 'QA', stateName: 'Aldermark', stateFips: '91',
      countyFips: '', countyName: '', countyFullName: '', placeName: '', placeGeoid: '', incorporated: false,
      components: [0], unknown: [], staleAfter: 99991231 as DateInt, estimated: false,
    }],
    components: [{
      id: 0, level: 'state', jurName: 'QA', jurCode: '91', kind: null,
      periods: [{ ...ALWAYS, sales: rate, use: rate, source: 0, asOf: 20260101 as DateInt }],
    }],
    zips: [{
      zip: 91010, state: 'QA', cities: ['ELMTON'],
      parts: [{ area: 0, weight: null, land: null, city: 'ELMTON', incorporated: false, lat: 0, lng: 0 }],
      reach: [],
    }],
    cities: new Map([['QA|ELMTON', { name: 'Elmton', zips: [91010], areas: [] }]]),
    documents: new Map([['states', [{
      code: 'QA', fips: '91', name: 'Aldermark', country: 'USA', timeZone: 'UTC', rules: [],
    }]]]),
    tiles: [[7, Uint8Array.of(1, 2, 3)]],
    leaves: [],
    streets: [['a', Uint8Array.of(1)], ['b', Uint8Array.of(2)]],
  };
}
