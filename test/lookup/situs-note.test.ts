/** What a v60 body says of what it rests on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Papa from 'papaparse';
import { openWire } from '../../src/api/lookup/context.js';
import { fragmentOf, staleFlag, VARIANTS } from '../../src/api/lookup/fragment.js';
import { NO_OPTIONS } from '../../src/engine/lookup-query.js';
import { isFailure } from '../../src/failure.js';
import { FLAG_STALE } from '../../src/pool/types.js';
import type { DateInt } from '../../src/tax/date.js';
import { runBulk } from '../support/bulk-bodies.js';
import { engineOf } from '../support/engine-of.js';
import { AREA, memoryDataset, NOW_MS } from '../support/memory-dataset.js';
import { ask, BASE_URL } from './ask.js';

const DOOR = 'address=200+Spindle+Center+Dr,+Brookmere,+QZ+97001';

interface Note {
  readonly precision: string;
  readonly dataset: string;
  readonly stale?: true;
  readonly estimated?: true;
  readonly assumed?: { readonly lowest: number; readonly highest: number };
  readonly border?: { readonly metres: number; readonly rate: number | null };
}

interface Body {
  readonly metadata: { readonly situs: Note };
  readonly taxSummaries: readonly { readonly rate: number }[];
}

function bodyOf(query: string): Body {
  return JSON.parse(ask(60, query).text) as Body;
}

function noteOf(query: string): Note {
  return bodyOf(query).metadata.situs;
}

test('the note names precision and release, and nothing that does not apply', () => {
  const dataset = memoryDataset().id;
  assert.deepEqual(noteOf(DOOR), { precision: 'point', dataset });
  assert.deepEqual(noteOf('lat=10.5&lng=0.5'), { precision: 'polygon', dataset });
  assert.deepEqual(noteOf('lat=10.5&lng=5.5'), {
    precision: 'polygon',
    dataset,
    stale: true,
    estimated: true,
  });
});

test('a city that is assumed comes with the rates that the ZIP may have', () => {
  const query = 'address=999+Nowhere+Ln,+Brookmere,+QZ+97001';
  const {
    metadata: { situs },
    taxSummaries,
  } = bodyOf(query);
  const own = taxSummaries[0]!.rate;
  const beside = bodyOf('lat=10.5&lng=1.5').taxSummaries[0]!.rate;
  assert.notEqual(own, beside);
  assert.deepEqual(
    [situs.precision, situs.assumed],
    ['city', { lowest: Math.min(own, beside), highest: Math.max(own, beside) }],
  );
  const xml = ask(60, `${query}&format=xml`).text;
  assert.match(xml, /<situs><precision>city<\/precision><dataset>[^<]*<\/dataset><assumed>/);
});

test('a line that changes the rate is told of when it is nearer than 50 metres', () => {
  const beside = bodyOf('lat=10.5&lng=1.5').taxSummaries[0]!.rate;
  // 0.0001 degrees of longitude are 10.9 metres here.
  assert.deepEqual(noteOf('lat=10.5&lng=0.9998').border, { metres: 22, rate: beside });
  assert.deepEqual(noteOf('lat=10.5&lng=0.99957').border, { metres: 47, rate: beside });
  assert.equal(noteOf('lat=10.5&lng=0.9995').border, undefined);
  assert.equal(noteOf('lat=10.5&lng=3.9999').border?.rate, null, 'not known beyond');
});

test('where districts are known not to be listed every way says so', () => {
  const plain = memoryDataset();
  const areas = Object.values(AREA).map((id) => ({ ...plain.area(id), partial: true as const }));
  const dataset = memoryDataset({ id: '2026-11-21-000000000001', areas });
  const {
    metadata: { situs },
  } = JSON.parse(ask(60, DOOR, { dataset }).text) as Body;
  assert.deepEqual(situs, { precision: 'point', dataset: dataset.id, partial: true });
  assert.match(ask(60, `${DOOR}&format=xml`, { dataset }).text, /<partial>true<\/partial>/);
  assert.equal(ask(50, DOOR, { dataset }).text, ask(50, DOOR).text);
});

test('older versions keep their bytes', () => {
  for (const version of [10, 20, 30, 40, 50]) {
    assert.doesNotMatch(ask(version, DOOR).text, /situs/);
  }
});

test('the note of a row tells what is not known of its ZIP, and what is true of any of its areas', () => {
  const plain = memoryDataset();
  const noteOf = (csv: string, id: string, change: (id: number) => object): string => {
    const areas = Object.values(AREA).map((area) => ({ ...plain.area(area), ...change(area) }));
    const dataset = memoryDataset({ id, areas });
    const { output } = runBulk('csv', [Buffer.from(csv)], {
      dataset,
      nowMs: NOW_MS,
      output: 'csv',
    });
    const [row] = Papa.parse<Readonly<Record<string, string>>>(output.toString('utf8'), {
      header: true,
    }).data;
    return `${row?.['situs_code']} ${row?.['situs_note']}`;
  };
  const assumed = 'address\n"999 Nowhere Ln, Brookmere, QZ 97001"\n';
  assert.match(
    noteOf(assumed, '2026-11-21-00000000000a', () => ({})),
    /^100 assumed [\d.]+-[\d.]+$/,
  );
  const { unknown } = plain.area(AREA.unknown);
  assert.match(
    noteOf(assumed, '2026-11-21-00000000000b', (id) => (id === AREA.remainder ? { unknown } : {})),
    /^100 assumed ([\d.]+)-\1 unknown$/,
  );
  const { components } = plain.area(AREA.city);
  const { staleAfter } = plain.area(AREA.estimated);
  assert.equal(
    noteOf('zip\n97001\n', '2026-11-21-00000000000c', (id) => {
      if (id === AREA.city) return { estimated: true, staleAfter };
      return id === AREA.remainder ? { components, partial: true, staleAfter } : {};
    }),
    '100 estimated stale partial',
  );
});

test('that one answer of an area is stale says nothing of the next', () => {
  const engine = engineOf(memoryDataset());
  const context = openWire({ baseUrl: BASE_URL });
  const address = '200 Spindle Center Dr, Brookmere, QZ 97001';
  const found = engine.lookup({ kind: 'address', address, options: NO_OPTIONS }, NOW_MS);
  assert.ok(!isFailure(found) && found.kind === 'situs');
  const { area, date, rates } = found;
  // What a boundary file decided is stale after the file's end, whatever the lists of the area.
  const decided = { ...area, staleAfter: 20200101 as DateInt };
  const staleOf = (of: typeof area): boolean => {
    const rated = { area: of, date, rates };
    const print = (): Uint8Array => Buffer.from('{}');
    const fragment = fragmentOf(context, engine, rated, VARIANTS.v60, 'json', print);
    assert.ok(!isFailure(fragment));
    return ((fragment.flags | staleFlag(rated)) & FLAG_STALE) !== 0;
  };
  assert.deepEqual([decided, area, decided].map(staleOf), [true, false, true]);
});
