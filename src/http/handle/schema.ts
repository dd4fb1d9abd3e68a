/** JSON Schemas that answers link to: public, and rendered once. */
import { ticSearchSchema } from '../../wire/schema-other.js';
import { V60_SCHEMA, v60Schema } from '../../wire/schema-v60.js';
import { SCHEMA_TYPE, type Schema } from '../../wire/schema.js';
import { TIC_SEARCH_SCHEMA } from '../../wire/tic-list.js';
import { headOf } from '../reply.js';
import type { Route } from '../router.js';

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
