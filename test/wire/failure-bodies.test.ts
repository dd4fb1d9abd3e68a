/** Bodies of refusals that are kept are those that would be made. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fail, FAILURE_KINDS } from '../../src/failure.js';
import { FailureBodies, failureBytes } from '../../src/wire/failure-body.js';

test('a kept body is that of its kind, version and format', () => {
  const bodies = new FailureBodies('https://example.test');
  for (let round = 0; round < 3; round += 1) {
    for (const kind of FAILURE_KINDS) {
      for (const detail of [undefined, 'It is "so".', 'Another sentence.', `of round ${round}`]) {
        for (const [version, format] of [
          [60, 'json'],
          [60, 'xml'],
          [50, 'json'],
        ] as const) {
          const failure = fail(kind, detail);
          const made = failureBytes(version, failure, format, 'https://example.test');
          assert.deepEqual(bodies.bytes(version, failure, format), made);
        }
      }
    }
  }
});

test('a sentence is kept, and many are forgotten', () => {
  const bodies = new FailureBodies('');
  const failure = fail('no-result', 'It is nowhere.');
  const first = bodies.bytes(60, failure, 'json');
  assert.equal(bodies.bytes(60, fail('no-result', 'It is nowhere.'), 'json'), first);
  for (let at = 0; at < 1_000; at += 1) bodies.bytes(60, fail('no-result', `${at}`), 'json');
  assert.notEqual(bodies.bytes(60, failure, 'json'), first);
  assert.deepEqual(bodies.bytes(60, failure, 'json'), first);
});
