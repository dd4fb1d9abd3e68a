/**
 * Carries out the tasks of a worker: opens the release of a task, and answers the requests of its
 * frame in order.
 */
import { answerCarts } from './api/cart/answer.js';
import { calculateCarts, readCarts, type CartsUnderWay } from './api/cart/body-carts.js';
import {
  answerParameters,
  answerQuery,
  isUnread,
  type LookupStep,
  parseQuery,
  refusal,
} from './api/lookup/query-answer.js';
import { openWire, type WireContext, type WireSettings } from './api/lookup/context.js';
import { isRefused } from './api/lookup/fragment.js';
import { answerLocate } from './api/lookup/located.js';
import { answerBody } from './api/merchant/checked-body.js';
import { answerBulk } from './bulk/row/row-chunk.js';
import type { Engine } from './engine/engine.js';
import { fail } from './failure.js';
import { type AnswerTask, AnswerWriter, RequestReader } from './pool/lane-server.js';
import {
  type Answer,
  type EngineSettings,
  isBodyRequest,
  NO_RELEASE,
  type ReceivedRequest,
} from './pool/types.js';
import { SUCCESS } from './wire/response-code.js';

/** The active release, the one before it or of a job, and one that a caller asks for by name. */
export const RELEASES_PER_WORKER = 3;

/** The releases that a worker has open: those that tasks named last. */
export class OpenReleases<T extends { close(): void }> {
  readonly #open: (dir: string) => T;
  /** In the order in which they were last named. */
  readonly #byId = new Map<string, T>();
  #last = '';

  constructor(open: (dir: string) => T) {
    this.#open = open;
  }

  /**
   * Tasks of a worker run one after the other, so no other task uses the release that is closed
   * here.
   */
  get({ id, dir }: { readonly id: string; readonly dir: string }): T {
    let opened = this.#byId.get(id);
    if (opened !== undefined) {
      // The release named last is at the end already, as for almost every task.
      if (id !== this.#last) this.#byId.delete(id);
      if (id !== this.#last) this.#byId.set(id, opened);
      this.#last = id;
      return opened;
    }
    opened = this.#open(dir);
    const [oldest] = this.#byId;
    if (oldest !== undefined && this.#byId.size === RELEASES_PER_WORKER) {
      this.#byId.delete(oldest[0]);
      oldest[1].close();
    }
    this.#byId.set(id, opened);
    this.#last = id;
    return opened;
  }
}

/** What a worker is made with. */
interface WorkerParts {
  readonly settings: EngineSettings;
  /** Opens the release in a folder. */
  readonly open: (dir: string) => Engine;
  /** Called with an exception that is answered with 106; must not throw. */
  readonly report: (error: unknown) => void;
}

/** Makes the function that answers the tasks of a worker. */
export function taskAnswerer({ settings, open, report }: WorkerParts): AnswerTask {
  const releases = new OpenReleases(open);
  const { baseUrl, precisionMin, refuseUnruled = false, cacheBytesMax: bytes } = settings;
  const all: Partial<WireSettings> = {
    baseUrl,
    precisionMin,
    refuseUnruled,
    open: (release) => releases.get(release),
    report,
  };
  const kept = bytes === undefined ? {} : { fragmentBytesMax: bytes, postalBytesMax: bytes };
  const context = openWire({ ...all, ...kept });
  // For tasks with a release or day of their own. It keeps no fragments, since those of the main
  // context belong to one release and day.
  const others = openWire({ ...all, fragmentBytesMax: 0, postalBytesMax: 0 });
  return function answerTask({ dataset, frame, now, own }, into) {
    if (dataset.id === NO_RELEASE.id) answerBodies(into, frame, context);
    else answerInto(into, releases.get(dataset), frame, now, own ? others : context);
  };
}

let shared: WireContext | null = null;

/** A request of a frame, and how far it has been processed. */
interface Step extends LookupStep {
  readonly request: ReceivedRequest;
  /** The carts of a merchant; null for a body that is read only when it is answered. */
  carts: CartsUnderWay | null | undefined;
}

/**
 * Answers every request of a frame, in order. A request that cannot be answered gets a failure, and
 * the others are not affected. Lookups and carts go through each step together, since the
 * processor's cache does not have room for the code of all steps.
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
    // This is a bug. The answer meets it again, and reports it.
  }
}

/**
 * Looks up an address or coordinates. For coordinates it also finds out how near a border is, from
 * the same cell, which is still in the processor's cache.
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
    // The answer meets the same exception again, and reports it.
  }
}

/** Calculates the carts of a request that were read before. */
function findTaxes(
  carts: CartsUnderWay,
  context: WireContext,
  engine: Engine,
  nowMs: number,
): void {
  try {
    calculateCarts(context, engine, carts, nowMs);
  } catch {
    // The answer meets the same exception again, and reports it.
  }
}

/** Answers requests that need no dataset. A body that causes an exception is answered with 500. */
function answerBodies(writer: AnswerWriter, frame: Uint8Array, context: WireContext): void {
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
  const requests = new RequestReader(frame);
  let count = 0;
  while (requests.next() !== null) count += 1;
  const writer = new AnswerWriter(count);
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

/** An exception of `answer` is a bug; it is reported and answered with 106. */
function guarded(context: WireContext, answer: () => Answer): Answer {
  try {
    return answer();
  } catch (error) {
    context.report(error);
    return refusal(context, 60, fail('internal'), 'json', 0);
  }
}
