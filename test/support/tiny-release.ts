/** A release of a handful of invented records, for tests of writing, checking and switching. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MANIFEST_FILE } from '../../src/dataset/manifest.js';
import { releasesDir } from '../../src/dataset/release.js';
import { type ReleaseContent, writeRelease } from '../../src/ingest/release-writer.js';
import { DATE_OPEN, type DateInt } from '../../src/tax/date.js';
import type { Rate } from '../../src/tax/rate.js';
import type { AreaRecord } from '../../src/dataset/records.js';

const ALWAYS = { from: 20200101 as DateInt, to: 99991231 as DateInt };

const MANIFEST: ReleaseContent['manifest'] = {
  recipe: 'tiny',
  asOf: '2026-01-01',
  layers: [],
  coverage: [],
  sources: [
    {
      id: 0,
      name: 'invented',
      publisher: 'nobody',
      licence: 'none',
      asOf: 20260101 as DateInt,
      estimated: false,
    },
  ],
  files: [],
};

const AREA: AreaRecord = {
  id: 0,
  country: 'USA',
  state: 'QA',
  stateName: 'Aldermark',
  stateFips: '91',
  countyFips: '',
  countyName: '',
  countyFullName: '',
  placeName: '',
  placeGeoid: '',
  incorporated: false,
  components: [0],
  unknown: [],
  staleAfter: 99991231 as DateInt,
  estimated: false,
};

/** Content with one state whose rate is `percentTimesTen` tenths of a percent. */
export function tinyContent(percentTimesTen: number): ReleaseContent {
  const rate = (percentTimesTen * 1_000_000) as Rate;
  return {
    manifest: MANIFEST,
    areas: [AREA],
    components: [
      {
        id: 0,
        level: 'state',
        jurName: 'QA',
        jurCode: '91',
        kind: null,
        periods: [{ ...ALWAYS, sales: rate, use: rate, source: 0, asOf: 20260101 as DateInt }],
      },
    ],
    zips: [
      {
        zip: 91010,
        state: 'QA',
        cities: ['ELMTON'],
        parts: [
          {
            area: 0,
            weight: null,
            land: null,
            city: 'ELMTON',
            incorporated: false,
            lat: 0,
            lng: 0,
          },
        ],
        reach: [],
      },
    ],
    cities: new Map([['QA|ELMTON', { name: 'Elmton', zips: [91010], areas: [] }]]),
    documents: new Map([
      [
        'states',
        [
          {
            code: 'QA',
            fips: '91',
            name: 'Aldermark',
            country: 'USA',
            timeZone: 'UTC',
            rules: [],
          },
        ],
      ],
    ]),
    tiles: [[7, Uint8Array.of(1, 2, 3)]],
    leaves: [],
    streets: [
      ['a', Uint8Array.of(1)],
      ['b', Uint8Array.of(2)],
    ],
  };
}

/** A ZIP that every one of them knows. */
export const ZIP = '91010';

const STATES = [
  {
    code: 'QA',
    fips: '91',
    name: 'Aldermark',
    country: 'USA',
    timeZone: 'UTC',
    rules: [
      {
        from: 20200101 as DateInt,
        to: DATE_OPEN,
        serviceTaxable: 'N',
        freightTaxable: 'N',
        freightRule: 'EXEMPT',
        freightExemptWhenSeparatelyStated: true,
        freightDescription: 'exempt',
        sourcing: 'D',
        sourcingDescription: 'destination',
        source: 0,
      },
    ],
  },
];

/** Names of the releases, by the rate of the ZIP; none is active. */
export async function writeRates(
  varDir: string,
  tenthsOfPercent: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const names = new Map<number, string>();
  for (const tenths of tenthsOfPercent) {
    const content = tinyContent(tenths);
    names.set(
      tenths / 1_000,
      await writeRelease(
        varDir,
        {
          ...content,
          documents: new Map([...content.documents, ['states', STATES]]),
        },
        () => undefined,
      ),
    );
  }
  return names;
}

/** Makes a release of another format of one, as another version of Situs would have built it. */
export function setFormat(varDir: string, name: string, format: number): void {
  const file = join(releasesDir(varDir), name, MANIFEST_FILE);
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as object;
  rmSync(file);
  writeFileSync(file, JSON.stringify({ ...manifest, format }));
}

/** The rate of an answer to a lookup of the ZIP. */
export function rateOf(answer: string): number {
  const found = /"taxSales":([\d.]+)/.exec(answer)?.[1];
  if (found === undefined) throw new Error(`no rate in ${answer}`);
  return Number(found);
}
