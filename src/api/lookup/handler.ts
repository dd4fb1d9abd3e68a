/**
 * GET /request/v10 … v60: passes the gate, answers from the cache or hands the query to the pool.
 * The workers read the query.
 */
import {
  FLAG_GEO,
  type AnswerSlice,
  type LookupRequest,
  type OwnTask,
  type PinnedRelease,
} from '../../pool/types.js';
import { type FailureKind, isFailure } from '../../failure.js';
import type { Admission, Metered } from '../../store/usage-meter.js';
import {
  keptAsked,
  keptRefusal,
  mayAskKept,
  placeOf,
  receiptOf,
  type KeptAsked,
  type KeptServices,
} from './kept.js';
import { SUCCESS } from '../../wire/response-code.js';
import { API_VERSIONS } from '../../wire/tree.js';
import type { AnswerCache } from './answer-cache.js';
import { type Caller, type Gate, type GateKey, gateRules, Refused } from '../../http/gate.js';
import { FrontFailures, LookupHeads, type RenderFailure } from './head.js';
import {
  type Answerer,
  type NumberedHead,
  OWN_HEADERS,
  type Reply,
  type Request,
  withField,
} from '../../http/reply.js';
import type { Route } from '../../http/router.js';

/** What a lookup needs to know of a key. */
export type LookupKey = GateKey & Metered;

/** Quotas and counters of keys. */
export interface UsageGate {
  /** Counts a lookup; null when the quota of lookups is used up. */
  admit(key: Metered, geocoded: boolean): Admission | null;
  settle(admission: Admission, counted: boolean, geo: boolean): void;
}

export interface LookupServices {
  readonly gate: Gate<LookupKey>;
  readonly baseUrl: string;
  readonly usage: UsageGate;
  readonly pool: { submit(request: LookupRequest): void };
  readonly renderFailure: RenderFailure;
  /** Without this, every lookup goes to a worker. */
  readonly repeats?: Repeats;
  /** Without this, only the active release answers, and there are no receipts. */
  readonly kept?: KeptServices;
}

/** The cache for lookups that are asked repeatedly. */
interface Repeats {
  readonly cache: AnswerCache;
  /** Id of the release that answers now; "" for none. */
  release(): string;
}

/** The beginning of the path of every version. */
const PATHS = '/request/';

const MAY_GEOCODE = /(?:^|&)(?:(?:address|lat)=|[^=&]*%)/;

/**
 * Tells whether the geocoding quota of a key may matter for a query. Only the worker knows whether
 * the lookup is geocoded, so this errs towards true: a name with an escape in it may be any name.
 */
export function mayGeocode(key: Metered, query: string): boolean {
  return key.geoLimit > 0 && MAY_GEOCODE.test(query);
}

interface LookupShared {
  readonly usage: UsageGate;
  readonly heads: LookupHeads;
  readonly failures: FrontFailures;
  readonly cache: AnswerCache | null;
}

/** Number of values of the entitlement bits, to put version and entitlements into one number. */
const GRANT_SPAN = 16;
/** Stands for a lookup whose answer is not kept; no time of the cache has this value. */
const NOT_KEPT = -1;

/**
 * One lookup on its way through the pool. It is its own receiver, which saves a closure and a
 * promise for each request.
 */
class PendingLookup implements LookupRequest {
  readonly kind = 'lookup';
  readonly version: number;
  readonly grants: number;
  readonly payload: string;
  own: OwnTask | undefined = undefined;
  /** Makes the value of the header field for a receipt; null where none is asked for. */
  receipt: ((slice: AnswerSlice, release: PinnedRelease) => string) | null = null;
  readonly #shared: LookupShared;
  readonly #answer: Answerer;
  readonly #admission: Admission;
  readonly #caller: Caller<LookupKey>;
  /** The time of the cache at which it was asked; `NOT_KEPT` where its answer is not to be kept. */
  readonly #time: number;
  /** The head of its answer, set by `read`, which also settles the usage. */
  #head: NumberedHead | null = null;

  constructor(
    shared: LookupShared,
    answer: Answerer,
    version: number,
    caller: Caller<LookupKey>,
    admission: Admission,
    time: number,
  ) {
    this.version = version;
    this.grants = admission.grants;
    this.payload = caller.query;
    this.#shared = shared;
    this.#answer = answer;
    this.#admission = admission;
    this.#caller = caller;
    this.#time = time;
  }

  read(slice: AnswerSlice, release: PinnedRelease): NumberedHead {
    const { status, precision, flags } = slice;
    const { heads, usage, cache } = this.#shared;
    usage.settle(this.#admission, status === SUCCESS.http, (flags & FLAG_GEO) !== 0);
    if (this.#time !== NOT_KEPT && status === SUCCESS.http) {
      const kind = kindOf(this.version, this.grants);
      cache?.keep(release.id, this.#time, Date.now(), kind, this.payload, slice);
    }
    this.#head = heads.get(release.id, this.#caller.key.rate, precision, flags);
    return this.#head;
  }

  answered(slice: AnswerSlice, release: PinnedRelease): void {
    const { status, code, precision, body } = slice;
    const numbered = this.#head ?? this.read(slice, release);
    const head = numbered.with(this.#caller.remaining);
    const dataset = release.id;
    if (this.receipt === null) {
      const { joined } = numbered;
      this.#answer.send({ status, head, joined, body, code, precision, dataset });
      return;
    }
    const signed = withField(head, OWN_HEADERS.receipt, this.receipt(slice, release));
    this.#answer.send({ status, head: signed, body, code, precision, dataset });
  }

  failed(failure: FailureKind, detail?: string): void {
    const { failures, usage } = this.#shared;
    const { key, remaining } = this.#caller;
    if (this.#head === null) usage.settle(this.#admission, false, false);
    this.#answer.send(
      failures.reply(failure, this.version, this.payload, key.rate, remaining, detail),
    );
  }
}

function kindOf(version: number, grants: number): number {
  return version * GRANT_SPAN + grants;
}

/**
 * Answers from the cache if it can. Otherwise returns the time to keep the answer under, or
 * `NOT_KEPT`.
 */
function repeat(
  { usage, heads }: LookupShared,
  { cache, release }: Repeats,
  answer: Answerer,
  version: number,
  { key, query, remaining }: Caller<LookupKey>,
  admission: Admission,
): number | 'answered' {
  if (cache.isOff) {
    cache.misses += 1;
    return NOT_KEPT;
  }
  const name = release();
  const time = cache.time(name, Date.now());
  const kind = kindOf(version, admission.grants);
  const kept = cache.get(kind, query);
  if (kept === null) return cache.wasAsked(kind, query) ? time : NOT_KEPT;
  const { precision, flags, body } = kept;
  usage.settle(admission, true, (flags & FLAG_GEO) !== 0);
  const numbered = heads.get(name, key.rate, precision, flags);
  const head = numbered.with(remaining);
  const { joined } = numbered;
  const { http: status, code } = SUCCESS;
  answer.send({ status, head, joined, body, code, precision, dataset: name });
  return 'answered';
}

/** Submits a lookup that asks for another moment or release, or for a receipt. */
async function submitKept(
  pool: LookupServices['pool'],
  kept: KeptServices,
  asked: KeptAsked,
  path: string,
  lookup: PendingLookup,
): Promise<void> {
  const { payload: query, grants } = lookup;
  // Where the entitlements do not include kept releases, the worker refuses the lookup.
  const mayAsk = keptRefusal(grants, asked.dataset) === null;
  const own = mayAsk ? await placeOf(kept, asked) : null;
  if (own !== null && isFailure(own)) return lookup.failed(own.failure, own.detail);
  if (own !== null) {
    lookup.own = own;
    if (asked.receipt) {
      lookup.receipt = ({ status, body }, { id: dataset }) =>
        receiptOf(kept, {
          method: 'GET',
          path,
          query,
          bodySha256: null,
          grants,
          dataset,
          atMs: own.now,
          status,
          body,
        });
    }
  }
  pool.submit(lookup);
}

/** The routes of all lookup versions. */
export function lookupRoutes(services: LookupServices): readonly Route[] {
  const { gate, usage, pool, repeats = null, kept = null } = services;
  const failures = new FrontFailures(services);
  const rules = gateRules<LookupKey>(PATHS);
  const ask = gate.asking(rules);
  const uncounted = gateRules<LookupKey>(PATHS, { counted: false });
  const shared: LookupShared = {
    heads: new LookupHeads(),
    failures,
    usage,
    cache: repeats?.cache ?? null,
  };
  const handle =
    (version: number) =>
    (request: Request, answer: Answerer): void => {
      const caller = gate.enter(rules, request);
      if (caller instanceof Refused) {
        const { why, limit, remaining: left, query } = caller;
        return answer.send(failures.reply(why.failure, version, query, limit, left, why.detail));
      }
      const { key, query } = caller;
      const admission = usage.admit(key, mayGeocode(key, query));
      if (admission === null) {
        answer.send(
          failures.reply('feature-not-enabled', version, query, key.rate, caller.remaining),
        );
        return;
      }
      // The cache has only queries without these parameters, so a query that it has found has none.
      const asks = kept !== null && repeats?.cache.hasFound(query) !== true;
      const asked = asks && mayAskKept(query) ? keptAsked(query) : null;
      if (kept !== null && asked !== null && !isFailure(asked)) {
        const lookup = new PendingLookup(shared, answer, version, caller, admission, NOT_KEPT);
        void submitKept(pool, kept, asked, request.path, lookup);
        return;
      }
      const time =
        repeats === null ? NOT_KEPT : repeat(shared, repeats, answer, version, caller, admission);
      if (time === 'answered') return;
      pool.submit(new PendingLookup(shared, answer, version, caller, admission, time));
    };
  const fault =
    (version: number) =>
    (request: Request): Reply => {
      const found = gate.enter(uncounted, request);
      const limit = found instanceof Refused ? found.limit : found.key.rate;
      return failures.reply('internal', version, found.query, limit, found.remaining);
    };
  return API_VERSIONS.map((version) => ({
    method: 'GET',
    path: `${PATHS}v${version}`,
    bodyBytesMax: 0,
    // The pool has a deadline for each task; a timer per request would cost more than it saves.
    deadlineMs: 0,
    isAtOnce: (query) => repeats !== null && repeats.cache.holds(query),
    ask,
    handle: handle(version),
    fault: fault(version),
  }));
}
