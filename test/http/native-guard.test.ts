/** The connection behind a body in chunks, which is read on in the turn of its answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { guarded } from '../../src/http/native-guard.js';
import type { RawRequest, RawResponse } from '../../src/http/transport.js';
import { FakeResponse } from '../support/http-fake-response.js';

const NOTHING = (): void => undefined;

/** What is done to a native response while one of a body in chunks is used. */
async function done(use: (response: RawResponse) => void): Promise<string> {
  const native = new FakeResponse();
  guarded(use, () => 'chunked', { fault: NOTHING, note: () => [] })(native, {} as RawRequest);
  await turn();
  return native.calls.filter((call) => call === 'pause' || call === 'resume').join(' ');
}

test('what is paused again in the same turn stays paused', async () => {
  assert.equal(await done((response) => response.resume()), 'resume');
  assert.equal(
    await done((response) => {
      response.pause();
      response.resume();
      response.pause();
    }),
    'pause pause',
  );
});
