/** What becomes of the query of a lookup. */
import assert from 'node:assert/strict';
import { GRANT_ALL } from '../../src/pool/types.js';
import type { LookupQuery } from '../../src/engine/lookup-query.js';
import { isFailure, type FailureKind } from '../../src/failure.js';
import { parseQuery } from '../../src/api/lookup/query-answer.js';

type Outcome = FailureKind | LookupQuery;

export function parse(text: string, version = 60, grants = GRANT_ALL): Outcome {
  const parsed = parseQuery(text, version, grants);
  return isFailure(parsed) ? parsed.failure : parsed.query;
}

export function kindOf(outcome: Outcome): string {
  return typeof outcome === 'string' ? outcome : outcome.kind;
}

export function address(text: string): string {
  const query = parse(text);
  if (typeof query === 'string' || query.kind !== 'address') {
    assert.fail(`${kindOf(query)}: ${text}`);
  }
  return query.address;
}

/** [query, kind of query or of failure] */
export type Row = readonly [text: string, expected: string];

export function table(rows: readonly Row[], version = 60): void {
  for (const [text, expected] of rows) {
    assert.equal(kindOf(parse(text, version)), expected, `v${version} ${text.slice(0, 80)}`);
  }
}
