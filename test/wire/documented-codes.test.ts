/** The table of codes in docs/api.md, against the tables the program answers from. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../src/ingest/source-files.js';
import { RESPONSE_CODES, SUCCESS } from '../../src/wire/response-code.js';
import { GRANT_ALL, GRANT_GEO } from '../../src/engine/frame.js';
import { askQuery } from '../support/ask-dataset.js';
import { buildRecipe } from '../support/built-dataset.js';
import { openDataset } from '../../src/dataset/open.js';
import { parseQuery } from '../../src/wire/query.js';
import { isFailure } from '../../src/failure.js';

const text = readFileSync(join(packageRoot(), 'docs/api.md'), 'utf8');
const rows = [...text.matchAll(/^\| (1\d\d) \| (RESPONSE_CODE_\w+) \| (\d{3})[^|]*\| (.*) \|$/gm)]
  .map(([, code, name, http, example]) => ({
    code: Number(code), name, http: Number(http), query: /^`\?([^`…]+)`/.exec(example!)?.[1] ?? '',
    limited: example!.includes('on a plan'),
  }));

test('every code stands in the table with its name and status', () => {
  const known = [SUCCESS, ...Object.values(RESPONSE_CODES)];
  const codes = new Map(known.filter(({ http }) => http !== 503).map((one) => [one.code, one]));
  assert.deepEqual(rows.map(({ code }) => code), [...codes.keys()].sort());
  for (const { code, name, http } of rows) {
    assert.deepEqual([name, http], [codes.get(code)?.name, codes.get(code)?.http]);
  }
});

test('the requests of the table get the codes they stand for', () => {
  const built = buildRecipe('default');
  const dataset = openDataset(built.dir);
  try {
    for (const { code, query, limited } of rows.filter((row) => row.query !== '')) {
      if (!limited) {
        assert.equal(askQuery(dataset, query).code, code, query);
        continue;
      }
      const parsed = parseQuery(query, 60, GRANT_GEO);
      assert.ok(isFailure(parsed) && RESPONSE_CODES[parsed.failure].code === code, query);
      assert.ok(!isFailure(parseQuery(query, 60, GRANT_ALL)), query);
    }
  } finally {
    dataset.close();
    built.remove();
  }
});
