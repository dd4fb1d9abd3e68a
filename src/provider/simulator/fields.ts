/** Reads JSON that anyone may have sent. */
import { isObject } from '../../base/json-object.js';

export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [name: string]: Json };
export type Fields = Readonly<Record<string, Json>>;

/** What the simulated provider answers. */
export interface SimulatedReply {
  readonly status: number;
  /** Null for an answer without a body. */
  readonly body: Json;
  /** Path of what was made. */
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

/** The objects of a list; empty for anything else. */
export function listOf(value: Json | undefined): readonly Fields[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter(isFields) : [];
}

/** A text; empty for anything else. */
export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** A number; zero for anything else. */
export function numberOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}

/** An object; empty for anything else. */
export function fieldsOf(value: Json | undefined): Fields {
  return isFields(value) ? value : {};
}

/** An address with its country filled in. */
export function addressOf(value: Json | undefined): Fields {
  return { ...fieldsOf(value), countryCode: textOf(fieldsOf(value)['countryCode']) || 'US' };
}

/** A currency, dollars unless another is named. */
export function currencyOf(value: Json | undefined): Fields {
  return { currencyCode: textOf(fieldsOf(value)['currencyCode']) || 'USD' };
}

/** An exemption; nulls where none is named. */
export function exemptionOf(value: Json | undefined): Fields {
  const { exemptionId = null, isExempt = null } = fieldsOf(value);
  return { exemptionId, isExempt };
}
