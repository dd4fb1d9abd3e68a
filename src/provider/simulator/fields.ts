/** Reads JSON of any content. */
import { isObject } from '../../base/json-object.js';

export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [name: string]: Json };
export type Fields = Readonly<Record<string, Json>>;

/** An answer of the simulated provider. */
export interface SimulatedReply {
  readonly status: number;
  /** Null for an answer without a body. */
  readonly body: Json;
  /** The path of the object that was created. */
  readonly location?: string;
}

/** A refusal in the form of a problem document. */
export function refuse(status: number, title: string, detail: string): SimulatedReply {
  return { status, body: { title, status, detail } };
}

/** Tells an object from every other JSON value. */
export function isFields(value: unknown): value is Fields {
  return isObject(value);
}

/** The objects in a list; empty for any other value. */
export function listOf(value: Json | undefined): readonly Fields[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter(isFields) : [];
}

/** A text; empty for any other value. */
export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** A number; zero for any other value. */
export function numberOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}

/** An object; empty for any other value. */
export function fieldsOf(value: Json | undefined): Fields {
  return isFields(value) ? value : {};
}

/** An address, with the country filled in. */
export function addressOf(value: Json | undefined): Fields {
  return { ...fieldsOf(value), countryCode: textOf(fieldsOf(value)['countryCode']) || 'US' };
}

/** A currency; dollars unless one is given. */
export function currencyOf(value: Json | undefined): Fields {
  return { currencyCode: textOf(fieldsOf(value)['currencyCode']) || 'USD' };
}

/** An exemption; its members are null unless given. */
export function exemptionOf(value: Json | undefined): Fields {
  const { exemptionId = null, isExempt = null } = fieldsOf(value);
  return { exemptionId, isExempt };
}
