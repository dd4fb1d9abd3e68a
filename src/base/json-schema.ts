/** Short functions for JSON Schemas (draft 2020-12), which describe the bodies of this service. */
export const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** The media type of a schema. */
export const SCHEMA_TYPE = 'application/schema+json';

export type SchemaValue = string | number | boolean | null | Schema | readonly SchemaValue[];
export interface Schema {
  readonly [keyword: string]: SchemaValue;
}

export type Members = Readonly<Record<string, Schema>>;

export const TEXT: Schema = { type: 'string' };
export const NUMBER: Schema = { type: 'number' };
export const INTEGER: Schema = { type: 'integer' };
export const BOOLEAN: Schema = { type: 'boolean' };
/** A decimal fraction: 0.0625 is 6.25 %. */
export const RATE: Schema = { type: 'number', minimum: 0 };
/** A day written YYYYMMDD. */
export const DAY: Schema = { type: 'integer', minimum: 1_00_00, maximum: 9999_12_31 };

/** Adds a sentence that describes the values to a schema. */
export function about(schema: Schema, description: string): Schema {
  return { ...schema, description };
}

/** The schema of one of several texts. */
export function oneOf(values: readonly string[]): Schema {
  return { type: 'string', enum: values };
}

/** The schema of a value or null. */
export function nullable(schema: Schema): Schema {
  return { anyOf: [schema, { type: 'null' }] };
}

/** The schema of a list of any length. */
export function list(items: Schema): Schema {
  return { type: 'array', items };
}

/**
 * The schema of an object; members of `optional` may be absent. Further members are allowed, since
 * answers may gain some over time.
 */
export function object(required: Members, optional: Members = {}): Schema {
  const names = Object.keys(required);
  return {
    type: 'object',
    ...(names.length === 0 ? {} : { required: names }),
    properties: { ...required, ...optional },
  };
}
