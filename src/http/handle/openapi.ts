/** GET /openapi.json: made from the routes of the service it is asked of. */
import { openapiDocument } from '../../wire/openapi.js';
import { headOf, JSON_TYPE } from '../reply.js';
import type { Route } from '../router.js';

/** Version of the interface. */
export const INTERFACE_VERSION = '60';

/** The given routes and the one that describes them all, itself included. */
export function withOpenapi(routes: readonly Route[], baseUrl: string): readonly Route[] {
  let body: string | null = null;
  const all: Route[] = [...routes, {
    method: 'GET', path: '/openapi.json', bodyBytesMax: 0, deadlineMs: 0,
    handle: (_request, answer) => {
      body ??= JSON.stringify(openapiDocument(all, baseUrl, INTERFACE_VERSION));
      answer.send({ status: 200, head: headOf(JSON_TYPE), body });
    },
  }];
  return all;
}
