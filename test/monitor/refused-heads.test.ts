/** What is told of requests that no handler sees, and what is not told of any. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RawAnswer, RawClient } from '../support/http-client.js';
import { metricsOf, startLogged } from '../support/logged-service.js';

/** The answer to a request whose body ends where it may mean anything. */
async function unclear(base: string, fields: string): Promise<RawAnswer | null> {
  const client = await RawClient.open(Number(new URL(base).port));
  client.write(
    `POST /search/tic HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n${fields}\r\n\r\n`,
  );
  const answer = await client.answer();
  client.socket.destroy();
  return answer;
}

for (const transport of ['auto', 'node']) {
  test(`a head that no handler sees is logged, counted and answered with its id (${transport})`, async (context) => {
    const origin = 'https://shop.example';
    const { service, lines } = await startLogged(context, {
      SITUS_TRANSPORT: transport,
      SITUS_CORS_ORIGINS: origin,
    });
    const answer = await unclear(
      service.base,
      `X-Request-Id: probe\r\nX-API-KEY: a-key-of-account-alpha\r\nOrigin: ${origin}`,
    );
    assert.equal(answer?.status, 400);
    assert.equal(answer.headers.get('x-request-id'), 'probe');
    assert.equal(answer.headers.get('access-control-allow-origin'), origin);
    assert.match(await metricsOf(service), /^situs_refusals_total\{code="400"\} 1$/m);
    const line = (await lines()).get('probe');
    assert.deepEqual([line?.['status'], line?.['method'], line?.['key']], [400, 'POST', 'a-key']);
  });
}

test('a key is logged neither as an id nor under any name in a query', async (context) => {
  const { service, lines } = await startLogged(context, { SITUS_REQUEST_LOG_QUERIES: '1' });
  const key = 'a-key-of-account-alpha';
  const ask = async (id: string, query: string): Promise<string | null> => {
    const headers = { 'X-API-KEY': key, 'X-Request-Id': id };
    const answer = await fetch(`${service.base}/request/v60?postalcode=91010${query}`, { headers });
    await answer.text();
    return answer.headers.get('x-request-id');
  };
  assert.notEqual(await ask(key, ''), key);
  assert.equal(await ask('named', `&zz=${key}&zy=a%2Dkey-of-account-alpha&zx=1`), 'named');
  const logged = await lines();
  assert.equal(logged.get('named')?.['query'], 'postalcode=91010&zx=1');
  assert.doesNotMatch(JSON.stringify([...logged]), new RegExp(key));
});
