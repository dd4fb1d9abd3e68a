import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { plainName } from '../../src/address/place-name.js';
import { readTable } from '../../src/ingest/source/table-text.js';
import {
  loadCounties,
  loadStateRecords,
  loadStates,
  loadZipFacts,
  overlay,
} from '../../src/ingest/state-facts.js';
import { parseDate, type DateInt } from '../../src/tax/date.js';

const FACTS = join(dirname(fileURLToPath(import.meta.url)), '../../../datasets/facts');
const day = (number: number): DateInt => number as DateInt;

test('periods of two facts overlay to those in which both hold', () => {
  const left = [{ from: day(20200101), to: day(20201231), value: { a: 1 } }];
  const right = [
    { from: day(20190101), to: day(20200630), value: { b: 1 } },
    { from: day(20200701), to: day(20301231), value: { b: 2 } },
  ];
  assert.deepEqual(overlay(left, right), [
    { from: 20200101, to: 20200630, value: { a: 1, b: 1 } },
    { from: 20200701, to: 20201231, value: { a: 1, b: 2 } },
  ]);
});

test('states, territories and provinces are all there with zone and country', () => {
  const states = loadStates(FACTS);
  assert.equal(states.length, 69);
  assert.equal(states.filter((state) => state.country === 'USA').length, 51);
  assert.equal(states.filter((state) => state.country === 'CAN').length, 13);
  assert.equal(states.find((state) => state.code === 'PR')?.country, 'PRI');
  assert.deepEqual(
    states.filter((state) => state.allMunicipal).map((state) => state.code),
    ['CT', 'DC', 'MA', 'NJ', 'RI'],
  );
  for (const { timeZone } of states) new Intl.DateTimeFormat('en', { timeZone });
});

test('what provinces are called besides names no state and no second province', () => {
  const states = loadStates(FACTS);
  const seen = new Set(states.flatMap(({ code, name }) => [code, plainName(name)]));
  const rows = readTable(readFileSync(join(FACTS, 'province_names.tsv'), 'utf8'), '\t');
  for (const row of rows) {
    const state = states.find(({ code }) => code === row.get('state'));
    assert.equal(state?.country, 'CAN', row.get('state'));
    for (const name of row.get('names').split('|')) {
      const plain = plainName(name);
      const key = /^(?:[A-Z] )+[A-Z]$/.test(plain) ? plain.replaceAll(' ', '') : plain;
      assert.ok(!seen.has(key), name);
      seen.add(key);
    }
  }
});

test('every state has one rule for any day, with the texts of the wire', () => {
  const records = loadStateRecords(FACTS, ({ asOf }) => (asOf > 20260101 ? 7 : -1));
  const on = (code: string, date: number): unknown[] => {
    const rules = records.find((state) => state.code === code)?.rules ?? [];
    return rules
      .filter((rule) => rule.from <= date && date <= rule.to)
      .map((rule) => [rule.serviceTaxable, rule.freightTaxable, rule.sourcing]);
  };
  for (const { code, rules } of records) {
    assert.equal(on(code, 20260701).length, 1, code);
    assert.ok(rules.every((rule) => rule.source === 7));
  }
  assert.deepEqual(on('CA', 20260701), [['N', 'N', 'D']]);
  assert.deepEqual(on('NY', 20260701), [['L', 'Y', 'D']]);
  assert.deepEqual(on('TX', 20260701), [['Y', 'Y', 'O']]);
  assert.deepEqual(on('NM', 20210630), [['Y', 'Y', 'O']]);
  assert.deepEqual(on('NM', 20210701), [['Y', 'Y', 'D']]);
  assert.deepEqual(on('ON', 20260701), [['Y', 'Y', 'D']]);
  assert.deepEqual(on('KS', 20230630), [], 'the rule before is not recorded');
});

test('counties: full names tell namesakes apart, California numbers its own', () => {
  const counties = loadCounties(FACTS);
  const of = (fips: string): unknown => {
    const county = counties.find((one) => one.fips === fips);
    return [county?.fullName, county?.code];
  };
  assert.deepEqual(of('06059'), ['Orange County', '30']);
  assert.deepEqual(of('06037'), ['Los Angeles County', '19']);
  assert.deepEqual(of('06115'), ['Yuba County', '58']);
  assert.deepEqual(of('24005'), ['Baltimore County', '']);
  assert.deepEqual(of('24510'), ['Baltimore city', '']);
  assert.equal(counties.length, 3233);
});

test('facts about ZIPs name places and counties by code', () => {
  const { aliases, municipal, territories } = loadZipFacts(FACTS);
  assert.ok(aliases.every((alias) => /^\d{7}$/.test(alias.place)));
  assert.ok(municipal.every((fact) => fact.county.slice(0, 2) === fact.place.slice(0, 2)));
  assert.equal(new Set(territories.map((row) => row.zip)).size, territories.length);
});

const DATED: readonly (readonly [file: string, columns: readonly string[]])[] = [
  ['states.tsv', []],
  ['province_names.tsv', []],
  ['county_names.tsv', []],
  ['freight.tsv', ['effective_from', 'effective_to']],
  ['services.tsv', ['effective_from', 'effective_to']],
  ['sourcing.tsv', ['effective_from', 'effective_to']],
  ['products.tsv', []],
  ['holidays.tsv', ['effective_from', 'effective_to']],
  ['price_tiers.tsv', ['effective_from', 'effective_to']],
  ['meal_tax.tsv', ['effective_from', 'effective_to']],
  ['single_article.tsv', ['effective_from', 'effective_to']],
  ['tic.tsv', []],
  ['zip_city_aliases.tsv', []],
  ['zip_municipal_counties.tsv', []],
  ['zip_territories.tsv', []],
];

test('each fact row has a source, an as-of date, and dates that exist', () => {
  for (const [file, columns] of DATED) {
    const rows = readTable(readFileSync(join(FACTS, file), 'utf8'), '\t');
    assert.ok(rows.length > 0, file);
    for (const row of rows) {
      const where = `${file} line ${row.line}`;
      assert.notEqual(row.get('source'), '', where);
      assert.notEqual(parseDate(row.get('as_of')), null, where);
      for (const column of columns) {
        const date = row.get(column);
        assert.ok(date === '' || parseDate(date) !== null, `${where} ${column}`);
      }
    }
  }
});

test('labor on goods is taxed as the rule named with the state says', () => {
  const rows = readTable(readFileSync(join(FACTS, 'services.tsv'), 'utf8'), '\t');
  const told = (state: string): string => {
    const row = rows.find((each) => each.get('state') === state);
    return `${row?.get('taxable')} ${row?.get('source')}`;
  };
  assert.match(told('CA'), /^N .*1546/);
  assert.match(told('FL'), /^Y .*12A-1\.006/);
  assert.match(told('IL'), /^N .*130\.450/);
  assert.match(told('IN'), /^N .*2\.2-4-2/);
  assert.match(told('NY'), /^L .*527\.5/);
  assert.match(told('PR'), /^Y .*15-17/);
  assert.match(told('TX'), /^Y .*151\.0101/);
});

test('Louisiana taxes delivery since 2025; what held before is not known', () => {
  const louisiana = loadStateRecords(FACTS, () => 0).find(({ code }) => code === 'LA');
  assert.deepEqual(
    louisiana?.rules.map(({ from, freightTaxable, freightRule }) => [
      from,
      freightTaxable,
      freightRule,
    ]),
    [[20250101, 'Y', 'ITEM_SPECIFIC']],
  );
});
