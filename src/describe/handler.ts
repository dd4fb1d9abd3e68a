/** GET /openapi.json: made from the routes of the service it is asked of. */
import { JSON_TYPE, headOf } from '../http/reply.js';
import type { Route } from '../http/router.js';
import { SCHEMA_TYPE, type Schema } from '../base/json-schema.js';
import { TIC_SEARCH_SCHEMA } from '../api/catalogue/list.js';
import { openapiDocument } from './document.js';
import { ticSearchSchema } from './service.js';
import { V60_SCHEMA, v60Schema } from './lookups.js';

function schemaRoute(path: string, schema: Schema): Route {
  const reply = { status: 200, head: headOf(SCHEMA_TYPE), body: JSON.stringify(schema) };
  return {
    method: 'GET', path, bodyBytesMax: 0, deadlineMs: 0,
    handle: (_request, answer) => {
      answer.send(reply);
    },
  };
}

export function schemaRoutes(baseUrl: string): readonly Route[] {
  return [
    schemaRoute(V60_SCHEMA, v60Schema(baseUrl)),
    schemaRoute(TIC_SEARCH_SCHEMA, ticSearchSchema(baseUrl)),
  ];
}

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
