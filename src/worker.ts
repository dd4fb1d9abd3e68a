/** Requests of a frame to answers, in order: the whole of a worker's task. */
import type { Engine } from './engine/engine.js';
import { AnswerWriter, RequestReader } from './pool/lane-server.js';
import {
  FLAG_GEO,
  FLAG_XML,
  isBodyRequest,
  type Answer,
  type ReceivedLookup,
  type ReceivedRequest,
} from './pool/types.js';
import type {
  LookupOutcome,
  LookupQuery,
  PostalOutcome,
  SitusOutcome,
} from './engine/lookup-query.js';
import { PRECISIONS } from './engine/situs.js';
import { fail, isFailure, type Failure } from './failure.js';
import { answerBulk } from './bulk/row/row-chunk.js';
import { answerCarts } from './api/cart/answer.js';
import { calculateCarts, readCarts, type CartsUnderWay } from './api/cart/body-carts.js';
import { openWire, type WireContext } from './api/lookup/context.js';
import { answerBody } from './api/merchant/checked-body.js';
import { renderLegacy, renderV60Postal } from './api/lookup/legacy.js';
import { answerLocate } from './api/lookup/located.js';
import { notKept } from './api/lookup/kept.js';
import { isPlainZip, parseParameters } from './api/lookup/query.js';
import { isUnprinted, type Rendered, isRefused } from './api/lookup/fragment.js';
import { RESPONSE_CODES, SUCCESS } from './wire/response-code.js';
import { renderV60 } from './api/lookup/v60.js';
import { apiVersion, type ApiVersion, type Format } from './wire/tree.js';
import type { RawParameters } from './api/lookup/parameter-table.js';
import { isUnread, type ParsedQuery, parseQuery, formatAsked } from './api/lookup/query-string.js';

let shared: WireContext | null = null;

/** A request of a frame, as far as it has come. What is null is made with the answer. */
interface Step {
  readonly request: ReceivedRequest;
  /** What a lookup's query string says. */
  parsed: ParsedQuery | Failure | null;
  /** What is found at a lookup's address or coordinates. */
  outcome: LookupOutcome | null;
  /** Carts of a merchant; null for a body that is read with its answer. */
  carts: CartsUnderWay | null | undefined;
}

/**
 * Answers every request of a frame, in order. A request that cannot be answered gets a failure of
 * its own and leaves the others alone. Lookups and carts go through each step together: a processor
 * keeps less code at hand than one goes through.
 */
export function answerInto(
  writer: AnswerWriter,
  engine: Engine,
  frame: Uint8Array,
  nowMs: number,
  context: WireContext,
): void {
  const requests = new RequestReader(frame);
  const steps: Step[] = [];
  for (let next = requests.next(); next !== null; next = requests.next()) {
    steps.push({ request: next, parsed: null, outcome: null, carts: undefined });
  }
  if (steps.length > 1) {
    for (const step of steps) read(step);
    for (const step of steps) find(step, context, engine, nowMs);
  }
  for (const step of steps) writer.add(answerRequest(context, engine, step, nowMs));
}

function read(step: Step): void {
  const { request } = step;
  try {
    if (request.kind === 'cart') step.carts = readCarts(request);
    if (request.kind !== 'lookup') return;
    step.parsed = parseQuery(request.payload, request.version, request.grants);
  } catch {
    // A bug, which is reported and answered when it throws again.
  }
}

/**
 * Looks up an address, or coordinates with how near their border is: that is read from the cell
 * they lie in, which is at hand for the moment.
 */
function find(step: Step, context: WireContext, engine: Engine, nowMs: number): void {
  const { request, parsed, carts } = step;
  if (carts) return findTaxes(carts, context, engine, nowMs);
  if (parsed === null || isUnread(parsed) || request.kind !== 'lookup') return;
  const { query, dataset } = parsed;
  if (query.kind === 'postal' || dataset !== null) return;
  try {
    const outcome = engine.lookup(query, nowMs, context.precisionMin);
    const isPoint = query.kind === 'point' && request.version === 60;
    if (isPoint && !isRefused(outcome) && outcome.kind === 'situs') engine.border(outcome);
    step.outcome = outcome;
  } catch {
    // As above.
  }
}

/** Calculates carts that were read. */
function findTaxes(
  carts: CartsUnderWay,
  context: WireContext,
  engine: Engine,
  nowMs: number,
): void {
  try {
    calculateCarts(context, engine, carts, nowMs);
  } catch {
    // As above.
  }
}

/** Answers what needs no dataset. A body that cannot be looked at is told as a 500. */
export function answerBodies(writer: AnswerWriter, frame: Uint8Array, context: WireContext): void {
  const requests = new RequestReader(frame);
  for (let next = requests.next(); next !== null; next = requests.next()) {
    writer.add(answerOneBody(context, next));
  }
}

function answerOneBody(context: WireContext, request: ReceivedRequest): Answer {
  try {
    if (isBodyRequest(request)) return answerBody(request, request.payload);
    throw new RangeError(`a request of kind ${request.kind} needs a dataset`);
  } catch (error) {
    context.report(error);
    return { status: 500, code: SUCCESS.code, precision: 0, flags: 0, body: [] };
  }
}

/** The answers to a frame, packed. */
export function answerFrame(
  engine: Engine,
  frame: Uint8Array,
  nowMs: number,
  context: WireContext = (shared ??=
    openWire()),
): Uint8Array {
  const writer = new AnswerWriter(new RequestReader(frame).count());
  answerInto(writer, engine, frame, nowMs, context);
  return writer.bytes();
}

function answerRequest(context: WireContext, engine: Engine, step: Step, nowMs: number): Answer {
  const { request } = step;
  switch (request.kind) {
    case 'lookup':
      return answerQuery(context, engine, request, step, nowMs);
    case 'rows':
      return guarded(context, () =>
        answerBulk(context, engine, request.payload, request.grants, answerParameters),
      );
    case 'locate':
      return guarded(context, () => answerLocate(engine, request.payload.toString('utf8'), nowMs));
    case 'cart':
      return answerCarts(context, engine, request, nowMs, step.carts);
    default:
      return answerOneBody(context, request);
  }
}

/** What `answer` throws is a bug, is reported and answered with 106. */
function guarded(context: WireContext, answer: () => Answer): Answer {
  try {
    return answer();
  } catch (error) {
    context.report(error);
    return refusal(context, 60, fail('internal'), 'json', 0);
  }
}

/** A lookup by its query string. */
function answerQuery(
  context: WireContext,
  engine: Engine,
  { version: asked, grants, payload: text }: ReceivedLookup,
  { parsed: known, outcome }: Step,
  nowMs: number,
): Answer {
  try {
    const version = apiVersion(asked);
    if (version === null) throw new RangeError(`there is no version ${asked}`);
    const parsed = known ?? parseQuery(text, version, grants);
    if (isUnread(parsed)) return refusal(context, version, parsed, formatAsked(text), 0);
    const { query, format, dataset, atMs } = parsed;
    // The front end names release and moment of a task: what it did not find is not here.
    if (dataset !== null && (dataset !== engine.id || (atMs !== null && atMs !== nowMs))) {
      return refusal(context, version, notKept(dataset), format, 0);
    }
    return outcome === null
      ? answerLookup(context, engine, query, version, format, nowMs)
      : answerOutcome(context, engine, query, outcome, version, format);
  } catch (error) {
    context.report(error);
    return refusal(context, asked, fail('internal'), formatAsked(text), 0);
  }
}

/** Version 60 for parameters that came another way than in a query string. */
function answerParameters(
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

function refusal(
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
