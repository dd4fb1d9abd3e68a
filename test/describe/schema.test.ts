/** The published schemas are true of recorded bodies, and say no to others. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { FAILURE_KINDS, fail } from '../../src/failure.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { failureBytes } from '../../src/wire/failure-body.js';
import { COMPONENTS } from '../../src/describe/document.js';
import { ticSearchSchema } from '../../src/describe/service.js';
import { v60Schema } from '../../src/describe/lookups.js';
import { legacyFailure, legacySuccess } from '../../src/describe/legacy-lookups.js';
import { TicSearch } from '../../src/engine/product/tic-search.js';
import { ticListBytes, ticSearchBody } from '../../src/api/catalogue/pages.js';
import { API_VERSIONS } from '../../src/wire/tree.js';
import { checker, faults, strictly } from '../support/schema-check.js';
import { realTics } from '../support/product-facts.js';

const GOLDEN = join(packageRoot(), 'test', 'golden');

function golden(version: number): readonly (readonly [name: string, body: unknown])[] {
  const dir = join(GOLDEN, `v${version}`);
  const names = readdirSync(dir).filter((name) => name.endsWith('.json'));
  assert.ok(names.length > 5);
  return names.map((name) => [name, JSON.parse(readFileSync(join(dir, name), 'utf8'))]);
}

const V60 = strictly(v60Schema('https://rates.example'));

test('the schema of v60 is true of every recorded answer and refusal, and names every member', () => {
  for (const [name, body] of golden(60)) assert.equal(faults(V60, body), '', name);
  for (const kind of FAILURE_KINDS) {
    const body: unknown = JSON.parse(String(failureBytes(60, fail(kind), 'json', '')));
    assert.equal(faults(V60, body), '', kind);
  }
});

test('earlier versions have theirs', () => {
  for (const version of API_VERSIONS) {
    if (version === 60) continue;
    const [success, failure] = [strictly(legacySuccess(version)), strictly(legacyFailure(version))];
    for (const [name, body] of golden(version)) {
      const { rCode } = body as { rCode: number };
      const validate = rCode === 100 ? success : failure;
      assert.equal(faults(validate, body), '', `v${version}/${name}`);
    }
  }
});

test('other bodies are no answers', () => {
  const [, answer] = golden(60).find(([name]) => name === 'point.json') ?? [];
  assert.ok(typeof answer === 'object' && answer !== null && 'metadata' in answer);
  const { metadata, ...rest } = answer;
  const others: readonly unknown[] = [
    {},
    [],
    null,
    rest,
    { ...answer, more: 1 },
    { metadata: {} },
    { ...answer, service: {} },
    { ...answer, baseRates: null },
    { version: 'v50', rCode: 100, results: [] },
  ];
  for (const body of others) assert.notEqual(faults(V60, body), '', JSON.stringify(body));
  assert.ok(metadata);
});

test('published schemas leave room for members of later versions', () => {
  const [, body] = golden(60)[0] ?? [];
  const validate = checker().compile(v60Schema('https://rates.example'));
  assert.ok(validate({ ...(body as object), later: true }));
});

test('product codes have theirs', () => {
  const tics = realTics();
  const list: unknown = JSON.parse(String(ticListBytes(tics, 'json')));
  assert.equal(faults(strictly(COMPONENTS.TicList), list), '');
  const search = new TicSearch(tics);
  for (const query of ['running shoes', 'xqzzvw']) {
    const body: unknown = JSON.parse(ticSearchBody(query, search.find(query), ''));
    assert.equal(faults(strictly(ticSearchSchema('')), body), '', query);
  }
});
