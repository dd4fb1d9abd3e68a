/**
 * Answers a lookup in a worker: reads the query string, asks the engine and prints the answer. A
 * query string that has only a location, as most have, is read here in a single pass.
 */
import type { Engine } from '../../engine/engine.js';
import {
  type AddressQuery,
  type LookupOutcome,
  type LookupQuery,
  NO_OPTIONS,
  type PointQuery,
  pointQuery,
  type PostalOutcome,
  type SitusOutcome,
} from '../../engine/lookup-query.js';
import { PRECISIONS } from '../../engine/situs.js';
import { fail, isFailure, type Failure } from '../../failure.js';
import {
  FLAG_GEO,
  FLAG_XML,
  GRANT_GEO,
  type Answer,
  type ReceivedLookup,
} from '../../pool/types.js';
import { RESPONSE_CODES, SUCCESS } from '../../wire/response-code.js';
import { API_VERSIONS, type ApiVersion, type Format } from '../../wire/tree.js';
import type { WireContext } from './context.js';
import { isRefused, isUnprinted, type Rendered } from './fragment.js';
import { notKept } from './kept.js';
import { renderLegacy, renderV60Postal } from './legacy.js';
import {
  ADDRESS_CHARS_MAX,
  firstVersion,
  LAT_DEGREES_MAX,
  LNG_DEGREES_MAX,
  plainNumber,
  type RawParameters,
} from './parameter-table.js';
import { isPlainZip, type ParsedQuery, parseParameters } from './query.js';
import { DECODED, formatAsked, HEX_DIGITS, readParameters } from './query-string.js';
import { renderV60 } from './v60.js';

const AMPERSAND = 38;
const PLUS = 43;
const SPACE = 32;
const PERCENT = 37;
const DELETE = 127;
const { latin1Slice } = Buffer.prototype;

const ALONE = 'address=';

/**
 * The address of a query string that has nothing else: ASCII text without a space at either end.
 * Null for any other query string, whether it is valid or not.
 */
function addressAlone(text: string): string | null {
  if (!text.startsWith(ALONE)) return null;
  let length = 0;
  let code = SPACE;
  for (let at = ALONE.length; at < text.length; at += 1) {
    code = text.charCodeAt(at);
    if (code === PLUS) code = SPACE;
    else if (code === AMPERSAND) return null;
    else if (code === PERCENT) {
      // Past the end of the text there is no hexadecimal digit, so −1 results.
      const low = HEX_DIGITS[text.charCodeAt(at + 2) | 0] ?? -1;
      code = low < 0 ? low : (HEX_DIGITS[text.charCodeAt(at + 1) | 0] ?? -1) * 16 + low;
      at += 2;
    }
    if (code < SPACE || code >= DELETE || length === ADDRESS_CHARS_MAX) return null;
    DECODED[length] = code;
    length += 1;
  }
  // Refuses text that ends or begins with a space. `code` is still a space where the text is empty.
  return code === SPACE || DECODED[0] === SPACE ? null : latin1Slice.call(DECODED, 0, length);
}

const LAT = 'lat=';
const LNG = '&lng=';
const COORDINATES_SINCE = firstVersion('lat');

/**
 * The location of a query string that has nothing else. Null for any other query string, whether it
 * is valid or not.
 */
export function locationAlone(text: string, version: number): AddressQuery | PointQuery | null {
  if (text.startsWith(LAT)) return version < COORDINATES_SINCE ? null : pointAlone(text);
  const address = addressAlone(text);
  return address === null ? null : { kind: 'address', address, options: NO_OPTIONS };
}

/** Coordinates written as plain numbers, the latitude first. */
function pointAlone(text: string): PointQuery | null {
  const end = text.indexOf(LNG, LAT.length);
  if (end < 0) return null;
  const lat = plainNumber(text, LAT.length, end);
  const lng = plainNumber(text, end + LNG.length, text.length);
  if (lat === null || lng === null) return null;
  if (Math.abs(lat) > LAT_DEGREES_MAX || Math.abs(lng) > LNG_DEGREES_MAX) return null;
  return pointQuery(lat, lng, NO_OPTIONS);
}

/**
 * Reads the query string of a lookup, which has one character for each byte and no '?'. Form is
 * checked before entitlements, and parameters that the version does not have are ignored.
 */
export function parseQuery(text: string, version: number, grants: number): ParsedQuery | Failure {
  const query = (grants & GRANT_GEO) === 0 ? null : locationAlone(text, version);
  if (query === null) return parseParameters(readParameters(text), version, grants);
  return { format: 'json', query, dataset: null, atMs: null };
}

/** Like `isFailure`, for the result of `parseQuery`; faster, as explained there. */
export function isUnread(parsed: ParsedQuery | Failure): parsed is Failure {
  return (parsed as Partial<Failure>).failure !== undefined;
}

/** A lookup with the steps that are done already. Steps that are null are done with the answer. */
export interface LookupStep {
  /** The query as it was read. */
  parsed: ParsedQuery | Failure | null;
  /** What the engine found at the address or coordinates. */
  outcome: LookupOutcome | null;
}

function isVersion(version: number): version is ApiVersion {
  return (API_VERSIONS as readonly number[]).includes(version);
}

/** Answers a lookup from its query string. */
export function answerQuery(
  context: WireContext,
  engine: Engine,
  { version, grants, payload: text }: ReceivedLookup,
  { parsed: known, outcome }: LookupStep,
  nowMs: number,
): Answer {
  try {
    if (!isVersion(version)) throw new RangeError(`there is no version ${version}`);
    const parsed = known ?? parseQuery(text, version, grants);
    if (isUnread(parsed)) return refusal(context, version, parsed, formatAsked(text), 0);
    const { query, format, dataset, atMs } = parsed;
    // The front end chooses the release and moment of a task. If the query asks for others, the
    // front end has not found them, so the release is not kept here.
    if (dataset !== null && (dataset !== engine.id || (atMs !== null && atMs !== nowMs))) {
      return refusal(context, version, notKept(dataset), format, 0);
    }
    return outcome === null
      ? answerLookup(context, engine, query, version, format, nowMs)
      : answerOutcome(context, engine, query, outcome, version, format);
  } catch (error) {
    context.report(error);
    return refusal(context, version, fail('internal'), formatAsked(text), 0);
  }
}

/** Answers parameters that did not come as a query string, in version 60. */
export function answerParameters(
  context: WireContext,
  engine: Engine,
  raw: RawParameters,
  grants: number,
  nowMs: number,
): Answer {
  const parsed = parseParameters(raw, 60, grants);
  return isFailure(parsed)
    ? refusal(context, 60, parsed, 'json', 0)
    : answerLookup(context, engine, parsed.query, 60, 'json', nowMs);
}

function answerLookup(
  context: WireContext,
  engine: Engine,
  query: LookupQuery,
  version: ApiVersion,
  format: Format,
  nowMs: number,
): Answer {
  const { postal, precisionMin } = context;
  const key =
    query.kind === 'postal' && isPlainZip(query)
      ? postal.key(Number(query.zip), version, format)
      : null;
  const known = key === null ? null : postal.get(engine.id, nowMs, key);
  if (known !== null) return known;
  const outcome = engine.lookup(query, nowMs, precisionMin);
  const answer = answerOutcome(context, engine, query, outcome, version, format);
  return key !== null && answer.code === SUCCESS.code ? postal.set(key, answer) : answer;
}

function answerOutcome(
  context: WireContext,
  engine: Engine,
  query: LookupQuery,
  outcome: LookupOutcome,
  version: ApiVersion,
  format: Format,
): Answer {
  const geo = query.kind === 'postal' ? 0 : FLAG_GEO;
  if (isRefused(outcome)) return refusal(context, version, outcome, format, geo);
  const rendered = render(context, engine, query, outcome, version, format);
  if (isUnprinted(rendered)) return refusal(context, version, rendered, format, geo);
  const precision = outcome.kind === 'postal' ? 'postal' : outcome.situs.precision;
  return {
    status: SUCCESS.http,
    code: SUCCESS.code,
    precision: PRECISIONS.indexOf(precision),
    flags: rendered.flags | geo | (format === 'xml' ? FLAG_XML : 0),
    body: rendered.body,
  };
}

function render(
  context: WireContext,
  engine: Engine,
  query: LookupQuery,
  outcome: SitusOutcome | PostalOutcome,
  version: ApiVersion,
  format: Format,
): Rendered | Failure {
  if (version !== 60) {
    return renderLegacy(context, engine, query, outcome, format, version);
  }
  return outcome.kind === 'postal'
    ? renderV60Postal(context, engine, query, outcome, format)
    : renderV60(context, engine, query, outcome, format);
}

/** The answer to a lookup that is refused. */
export function refusal(
  { failures }: WireContext,
  version: number,
  failure: Failure,
  format: Format,
  flags: number,
): Answer {
  const { code, http } = RESPONSE_CODES[failure.failure];
  return {
    status: http,
    code,
    precision: 0,
    flags: flags | (format === 'xml' ? FLAG_XML : 0),
    body: [failures.bytes(version, failure, format)],
    failure,
  };
}
