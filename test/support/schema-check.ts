/** Checks bodies against the schemas that the service publishes. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import type { Schema, SchemaValue } from '../../src/base/json-schema.js';

function isList(value: SchemaValue): value is readonly SchemaValue[] {
  return Array.isArray(value);
}

/**
 * The same schema without room for members it does not name. Published schemas leave that room for
 * later versions; here a member that nobody described is a fault.
 */
function closed(value: SchemaValue): SchemaValue {
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map(closed);
  const members = Object.entries(value).map(([name, member]) => [name, closed(member)] as const);
  const strict =
    value['type'] === 'object' && 'properties' in value ? { additionalProperties: false } : {};
  return { ...Object.fromEntries(members), ...strict };
}

/** A validator that rejects unknown keywords, so that schemas are checked as well. */
export function checker(): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: false });
  ajvFormats.default(ajv);
  return ajv;
}

/** What is wrong with a body; empty when nothing is. */
export function faults(validate: ValidateFunction, body: unknown): string {
  return validate(body) ? '' : JSON.stringify(validate.errors);
}

function isSchema(value: SchemaValue): value is Schema {
  return typeof value === 'object' && value !== null && !isList(value);
}

/** Compiles a schema of which every object is closed. */
export function strictly(schema: Schema): ValidateFunction {
  const strict = closed(schema);
  if (!isSchema(strict)) throw new Error('no schema');
  return checker().compile(strict);
}
