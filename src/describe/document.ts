/**
 * The OpenAPI document: the routes that answer, with what is told of each. GET /openapi.json is
 * made from the routes of the service it is asked of.
 */
import { problemOf } from './answers.js';
import { COMPONENTS } from './components.js';
import { operationObject, OPERATIONS } from './operations.js';
import { type Schema, SCHEMA_TYPE } from '../base/json-schema.js';
import { JSON_TYPE, headOf } from '../http/reply.js';
import type { Route } from '../http/router.js';
import { TIC_SEARCH_SCHEMA } from '../api/catalogue/pages.js';
import { ticSearchSchema } from './service.js';
import { V60_SCHEMA, v60Schema } from './lookups.js';

/** What a document needs to know of a route. */
export interface RouteName {
  readonly method: string;
  readonly path: string;
  /** Zero where there is no body, or none of a limited length. */
  readonly bodyBytesMax?: number;
}

const OPENAPI_VERSION = '3.1.0';

/** A route nobody described is listed all the same: the document says what there is. */
function objectOf({ method, path, bodyBytesMax = 0 }: RouteName): Schema {
  const operation = OPERATIONS.get(`${method} ${path}`);
  return operation === undefined
    ? { responses: { default: problemOf('Not described.') } }
    : operationObject(operation, bodyBytesMax);
}

function pathsOf(routes: readonly RouteName[]): Schema {
  const paths = new Map<string, Record<string, Schema>>();
  for (const route of routes) {
    const methods = paths.get(route.path) ?? {};
    methods[route.method.toLowerCase()] = objectOf(route);
    paths.set(route.path, methods);
  }
  return Object.fromEntries(paths);
}

/** The document for the routes of a running service. */
export function openapiDocument(
  routes: readonly RouteName[], baseUrl: string, version: string,
): Schema {
  return {
    openapi: OPENAPI_VERSION,
    info: {
      title: 'Situs', version,
      summary: 'Sales-tax rates for the US and Canada: by address, point or ZIP, on a date.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl === '' ? '/' : baseUrl }],
    paths: pathsOf(routes),
    components: {
      schemas: COMPONENTS,
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'X-API-KEY' },
        queryKey: { type: 'apiKey', in: 'query', name: 'key' },
      },
    },
  };
}

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
const INTERFACE_VERSION = '60';

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
