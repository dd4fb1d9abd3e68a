/** explain=true of lookups: where an answer comes from, beside the answer as it always is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { XMLParser } from 'fast-xml-parser';
import { formatRate, parseRate, sumRates, type Rate } from '../../src/tax/rate.js';
import { V60_POSTAL } from '../../src/describe/legacy-lookups.js';
import { V60_SUCCESS } from '../../src/describe/lookups.js';
import { faults, strictly } from '../support/schema-check.js';
import { ask } from './ask.js';

const DOOR = 'address=200+Spindle+Center+Dr,+Brookmere,+QZ+97001';
const ZIP = 'postalcode=97001';

interface Explained {
  readonly explain: {
    readonly dataset: string;
    readonly precision: string;
    readonly boundary: string;
    readonly areas: readonly {
      readonly sales: string;
      readonly rows: readonly {
        readonly sales: string;
        readonly source: { readonly name: string; readonly asOf: string } | null;
      }[];
    }[];
  };
}

function explained(query: string): Explained {
  const body: Explained = JSON.parse(ask(60, `${query}&explain=true`).text);
  return body;
}

function rate(text: string): Rate {
  const read = parseRate(text);
  assert.notEqual(read, null, text);
  return read!;
}

test('the explanation stands at the end of an answer that is otherwise the same', () => {
  for (const query of [DOOR, ZIP, `${DOOR}&shippingExtended=true`]) {
    const plain = ask(60, query).text;
    const body = ask(60, `${query}&explain=true`).text;
    assert.ok(body.startsWith(`${plain.slice(0, -1)},"explain":{`), body);
    assert.equal(ask(60, `${query}&explain=false`).text, plain);
    assert.equal(ask(50, `${query}&explain=true`).text, ask(50, query).text);
  }
  assert.equal(ask(60, `${DOOR}&explain=perhaps`).code, 105);
});

test('it names the boundary, and the parts of every area add up with their sources', () => {
  const door = explained(DOOR).explain;
  assert.deepEqual([door.precision, door.boundary], ['point', 'address point']);
  assert.equal(door.areas.length, 1);
  const list = explained(ZIP).explain;
  assert.equal(list.precision, 'zip');
  const { results } = JSON.parse(ask(60, ZIP).text) as { results: { taxSales: number }[] };
  assert.equal(list.areas.length, results.length);
  for (const [index, { sales }] of list.areas.entries()) {
    assert.equal(Number(sales), results[index]?.taxSales);
  }
  for (const { sales, rows } of [...door.areas, ...list.areas]) {
    assert.equal(formatRate(sumRates(rows.map((row) => rate(row.sales)))), sales);
    for (const row of rows) {
      if (row.sales === '0') continue;
      assert.match(row.source?.name ?? '', /./);
      assert.match(row.source?.asOf ?? '', /^\d{4}-\d{2}-\d{2}$/);
    }
  }
});

test('explanations keep to the published schemas and say the same in XML', () => {
  const [located, listed] = [strictly(V60_SUCCESS), strictly(V60_POSTAL)];
  for (const [query, validate] of [
    [DOOR, located],
    [ZIP, listed],
  ] as const) {
    const body = explained(query);
    assert.equal(faults(validate, body), '');
    const xml = ask(60, `${query}&explain=true&format=xml`).text;
    const { response } = new XMLParser({ parseTagValue: false }).parse(xml) as {
      response: { explain: { dataset: string; areas: { sales: string } | { sales: string }[] } };
    };
    assert.equal(response.explain.dataset, body.explain.dataset);
    const areas = [response.explain.areas].flat();
    assert.deepEqual(
      areas.map(({ sales }) => sales),
      body.explain.areas.map(({ sales }) => sales),
    );
  }
});
