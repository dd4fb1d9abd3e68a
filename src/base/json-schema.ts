/** JSON Schema (draft 2020-12) in short: what the bodies of this service are made of. */
export const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** What a schema is sent as. */
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

/** A schema with a sentence on what it describes. */
export function about(schema: Schema, description: string): Schema {
  return { ...schema, description };
}

/** One of several texts. */
export function oneOf(values: readonly string[]): Schema {
  return { type: 'string', enum: values };
}

/** What a schema describes, or null. */
export function nullable(schema: Schema): Schema {
  return { anyOf: [schema, { type: 'null' }] };
}

/** A list of any length. */
export function list(items: Schema): Schema {
  return { type: 'array', items };
}

/** An object; members of `optional` may be absent. Answers may gain members with time. */
export function object(required: Members, optional: Members = {}): Schema {
  const names = Object.keys(required);
  return {
    type: 'object',
    ...(names.length === 0 ? {} : { required: names }),
    properties: { ...required, ...optional },
  };
}
