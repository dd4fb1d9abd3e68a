/**
 * What a worker does with a task: it opens the release that is named, and answers the requests of
 * the frame in order.
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

/** The active one, the one before it or of a job, and one that somebody asks for by name. */
export const RELEASES_PER_WORKER = 3;

/** The releases a worker has open: those that tasks named last. */
export class OpenReleases<T extends { close(): void }> {
  readonly #open: (dir: string) => T;
  /** The one that was named last at the end. */
  readonly #byId = new Map<string, T>();
  #last = '';

  constructor(open: (dir: string) => T) {
    this.#open = open;
  }

  /** Tasks of one worker run one after the other, so none is using what is closed here. */
  get({ id, dir }: { readonly id: string; readonly dir: string }): T {
    let opened = this.#byId.get(id);
    if (opened !== undefined) {
      // The last one stays last, which almost every task finds so.
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

/** What the worker of a thread is made with. */
interface WorkerParts {
  readonly settings: EngineSettings;
  /** Opens the release in a folder. */
  readonly open: (dir: string) => Engine;
  /** Told of an exception behind a 106; it must not throw. */
  readonly report: (error: unknown) => void;
}

/** Makes what answers the tasks of a worker. */
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
  // Of tasks of their own: what is kept is of one release and day, and they have others.
  const others = openWire({ ...all, fragmentBytesMax: 0, postalBytesMax: 0 });
  return function answerTask({ dataset, frame, now, own }, into) {
    if (dataset.id === NO_RELEASE.id) answerBodies(into, frame, context);
    else answerInto(into, releases.get(dataset), frame, now, own ? others : context);
  };
}

let shared: WireContext | null = null;

/** A request of a frame, as far as it has come. */
interface Step extends LookupStep {
  readonly request: ReceivedRequest;
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

/** What `answer` throws is a bug, is reported and answered with 106. */
function guarded(context: WireContext, answer: () => Answer): Answer {
  try {
    return answer();
  } catch (error) {
    context.report(error);
    return refusal(context, 60, fail('internal'), 'json', 0);
  }
}
