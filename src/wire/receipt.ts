/**
 * Receipts: everything that an answer depended on, as one line of JSON that its caller can keep.
 * With the release named in it, the same version of Situs makes the same bytes again on any day.
 */
import { createHash } from 'node:crypto';
import { isObject, type JsonObject, parsedText } from '../base/json-object.js';
import { SHA256 } from '../base/patterns.js';
import { MINIMUM_PRECISIONS, type MinimumPrecision } from '../config.js';
import { isReleaseName } from '../dataset/release.js';
import { entitlementsOf, grantsOf, isEntitlement, type Entitlement } from '../store/plan.js';
import { parseInstant } from './instant.js';

const RECEIPT_VERSION = 1;
const REQUEST = /^(?:GET|POST) \/[\x21-\x7e]*$/;

/** Settings of the server that answers depend on. */
export interface AnswerSettings {
  readonly baseUrl: string;
  readonly precisionMin: MinimumPrecision;
  readonly refuseUnruled: boolean;
}

export interface Receipt extends AnswerSettings {
  /** Method, path and query as they were sent, without the key. */
  readonly request: string;
  /** SHA-256 of the body of the request; null where there is none. */
  readonly bodySha256: string | null;
  readonly dataset: string;
  /** The time of the request, in milliseconds since 1970. */
  readonly atMs: number;
  /** Entitlements of the key, as bits. */
  readonly grants: number;
  /** Version of Situs. */
  readonly engine: string;
  readonly status: number;
  /** SHA-256 of the body of the answer. */
  readonly sha256: string;
}

/** SHA-256 in hexadecimal. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * A query string with all characters that are no plain ASCII as percent sequences of their UTF-8.
 */
function escaped(query: string): string {
  return query.replace(/[^\x21-\x7e]+/g, (text) =>
    Buffer.from(text).toString('hex').replace(/../g, '%$&'),
  );
}

/** Method, path and query as one text; the query is as it was sent, without the key. */
export function requestLine(method: string, path: string, query: string): string {
  return `${method} ${path}${query === '' ? '' : `?${escaped(query)}`}`;
}

/** Prints a receipt as one line of ASCII without a line break. */
export function receiptText(receipt: Receipt): string {
  const { request, bodySha256, dataset, atMs, grants, engine, status, sha256 } = receipt;
  const { baseUrl, precisionMin, refuseUnruled } = receipt;
  return JSON.stringify({
    receipt: RECEIPT_VERSION,
    request,
    ...(bodySha256 === null ? {} : { bodySha256 }),
    dataset,
    at: new Date(atMs).toISOString(),
    grants: entitlementsOf(grants),
    settings: { baseUrl: encodeURI(baseUrl), precisionMin, refuseUnruled },
    engine,
    status,
    sha256,
  });
}

function partsOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function granted(value: unknown): value is readonly Entitlement[] {
  return (
    Array.isArray(value) && value.every((name) => typeof name === 'string' && isEntitlement(name))
  );
}

/**
 * Parses a receipt.
 * @throws Error that names the member which is missing or invalid.
 */
export function parseReceipt(text: string): Receipt {
  // Windows puts a byte order mark at the beginning of files.
  const value = parsedText(text.replace(/^\ufeff/, ''));
  if (value === undefined) throw new Error('this is no receipt: it is not JSON');
  const parts = partsOf(value);
  const wrong = (name: string): Error => new Error(`this is no receipt: its ${name} is broken`);
  if (parts['receipt'] !== RECEIPT_VERSION) throw wrong('member receipt (the version)');
  const word = (name: string, form: RegExp, from: JsonObject = parts): string => {
    const found = from[name];
    if (typeof found !== 'string' || !form.test(found)) throw wrong(name);
    return found;
  };
  const dataset = word('dataset', /./);
  if (!isReleaseName(dataset)) throw wrong('dataset');
  const atMs = parseInstant(word('at', /./));
  if (atMs === null) throw wrong('at');
  const { grants, status } = parts;
  if (!granted(grants)) throw wrong('grants');
  if (typeof status !== 'number') throw wrong('status');
  const settings = partsOf(parts['settings']);
  const precision = MINIMUM_PRECISIONS.find((name) => name === settings['precisionMin']);
  if (precision === undefined) throw wrong('settings');
  return {
    request: word('request', REQUEST),
    bodySha256: parts['bodySha256'] === undefined ? null : word('bodySha256', SHA256),
    dataset,
    atMs,
    grants: grantsOf(grants),
    status,
    baseUrl: word('baseUrl', /^[\x21-\x7e]*$/, settings),
    precisionMin: precision,
    refuseUnruled: settings['refuseUnruled'] === true,
    engine: word('engine', /./),
    sha256: word('sha256', SHA256),
  };
}
