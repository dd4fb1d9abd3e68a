/** Parameters of lookups in the form of OpenAPI, with the limits that the parser checks. */
import type { Schema } from '../base/json-schema.js';
import { KEY_CHARS_MAX, KEY_CHARS_MIN } from '../config.js';
import { IDEMPOTENCY_KEY_CHARS_MAX } from '../store/idempotency.js';
import { describedParameter, parameterNames } from '../api/lookup/parameter-table.js';
import type { ApiVersion } from '../wire/tree.js';

/** One parameter of an operation. */
export interface Parameter extends Schema {
  readonly name: string;
  readonly in: 'query' | 'header' | 'path';
  readonly description: string;
  readonly schema: Schema;
}

/** An optional parameter. */
export function parameter(
  name: string,
  schema: Schema,
  description: string,
  at: 'query' | 'header' = 'query',
): Parameter {
  return { name, in: at, schema, description };
}

/** The key in the query, for callers that do not send it in the header. */
export const KEY_PARAMETER: Parameter = {
  name: 'key',
  in: 'query',
  description: 'The API key, where it is not in the header X-API-KEY. The header wins.',
  schema: { type: 'string', minLength: KEY_CHARS_MIN, maxLength: KEY_CHARS_MAX },
};

/** The parameters of lookups of a version. */
export function lookupParameters(version: ApiVersion): readonly Parameter[] {
  return [
    KEY_PARAMETER,
    ...parameterNames(version).map(
      (name): Parameter => ({ name, in: 'query', ...describedParameter(name, version) }),
    ),
  ];
}

/** The key that makes it safe to repeat a request that writes. */
export const IDEMPOTENCY_PARAMETER: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    "Of the caller's making. The same key with the same body gets the first answer " +
    'again, for 24 hours.',
  schema: { type: 'string', minLength: 1, maxLength: IDEMPOTENCY_KEY_CHARS_MAX },
};

/** The parameters that choose a kept release and request a receipt. */
export const KEPT_PARAMETERS: readonly Parameter[] = (['dataset', 'at', 'receipt'] as const).map(
  (name) => ({ name, in: 'query', ...describedParameter(name, 60) }),
);

/** The format, for operations that answer in JSON and XML. */
export const FORMAT_PARAMETER: Parameter = {
  name: 'format',
  in: 'query',
  ...describedParameter('format', 60),
};
