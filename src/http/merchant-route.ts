/**
 * Routes of merchants and carts. They check, in this order: the gate (the key in the header only),
 * the size (413), the body, the Idempotency-Key of routes that write (400, 409, 422, or the first
 * answer again), the monthly quota of merchant operations (405 with code 107, as lookups answer a
 * used-up quota). Nothing of a body is kept before its turn. Every answer has the two rate fields;
 * a bug is answered with 500.
 *
 * A handler gets the caller and the request and returns a reply, or a promise of one:
 *
 *   merchantRoute(services, {
 *     method: 'POST', path: '/merchant/x', bodyBytesMax: PARSED_BYTES_MAX,
 *     needs: 'merchants', metered: true, writes: true,
 *   }, async (caller, request) => {
 *     const reply = caller.json(200, { … });
 *     await store.write((transaction) => { …; caller.keep(transaction, reply); });
 *     return reply;
 *   });
 *
 * `caller.keep` stores the answer for the Idempotency-Key within the transaction of the write, and
 * does nothing when the request has no such key. An operation that is carried out elsewhere is
 * recorded by `caller.begin` before it is sent, and its result by `caller.settle`. An operation
 * counts towards the quota when it was answered with a status below 300; a repeated answer does
 * not.
 */
import { kept } from '../base/growing-bytes.js';
import { fail } from '../failure.js';
import { faultOf, type Log } from '../log.js';
import { StoreFault } from '../store/fault.js';
import { KeyTaken, type Claim, type Claimed, type IdempotencyBook } from '../store/idempotency.js';
import type { StoreTransaction } from '../store/store.js';
import type { Admission, Metered } from '../store/usage-meter.js';
import { Caller, gateRules, planNeeded, type Gate, type GateRules } from './gate.js';
import { IDEMPOTENCY_HEADER, keptOf, replayed, takenKey, unusableKey } from './idempotency-key.js';
import { FAULT_DETAIL, storeRefusal } from './problem-reply.js';
import { handleOf, isReply, type Admit, type Handle, type Reply, type Request } from './reply.js';
import { DEADLINE_MS, type Route } from './router.js';

const SPENT = fail(
  'feature-not-enabled',
  'The quota of merchant operations of this month is used up.',
);

/** The quota and the counters of merchant operations. */
export interface MerchantUsage {
  /** Returns null when the quota is used up. */
  admitMerchant(key: Metered): Admission | null;
  settleMerchant(admission: Admission, counted: boolean): void;
}

export interface MerchantServices {
  readonly gate: Gate;
  readonly usage: MerchantUsage;
  readonly idempotency: Pick<IdempotencyBook, 'claim'>;
  readonly log: Log;
}

export interface MerchantOperation {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly bodyBytesMax: number;
  /**
   * What the plan must include: Pro and Enterprise have `merchants`, Enterprise has `provider`;
   * null for operations of every plan.
   */
  readonly needs: 'merchants' | 'provider' | null;
  /** Whether an answered operation counts towards the monthly quota. */
  readonly metered: boolean;
  /** Whether the operation writes, so that an Idempotency-Key is honoured. */
  readonly writes: boolean;
  /** Longest time until the answer; DEADLINE_MS unless given. */
  readonly deadlineMs?: number;
  /** The same as in `Route`. */
  readonly isAtOnce?: Route['isAtOnce'];
}

/** The caller of a request, with its claim on an Idempotency-Key. */
export class MerchantCaller extends Caller {
  readonly #claim: Claim | null;

  constructor({ key, remaining, instance, query, baseUrl }: Caller, claim: Claim | null) {
    super(key, remaining, instance, query, baseUrl);
    this.#claim = claim;
  }

  get account(): string {
    return this.key.account;
  }

  /** Keeps the answer for the Idempotency-Key, in the transaction whose result it reports. */
  keep(transaction: StoreTransaction, reply: Reply): void {
    this.#claim?.keep(transaction, keptOf(reply));
  }

  /**
   * Records for the Idempotency-Key that a request is about to be sent to the compliance provider.
   * @throws StoreFault when that cannot be stored; then nothing may be sent.
   */
  begin(): Promise<void> | undefined {
    return this.#claim?.begin();
  }

  /**
   * Records the answer to keep for a request that was sent, or null when it changed nothing. Never
   * throws.
   */
  settle(reply: Reply | null): Promise<void> | undefined {
    return this.#claim?.settle(reply === null ? null : keptOf(reply));
  }
}

/**
 * An answer that comes later. The function is called at once, and then calls either `take` or
 * `failed`, once. The answer is sent within `take`, so it may be a view of memory that is
 * overwritten afterwards.
 */
export type LaterReply = (take: (reply: Reply) => void, failed: (error: unknown) => void) => void;

/** A later answer as a promise, for callers that have to wait for more first. Views are copied. */
export function promised(later: LaterReply): Promise<Reply> {
  return new Promise((resolve, reject) => {
    later(
      ({ head, body, joined: _joined, ...reply }) =>
        resolve({
          ...reply,
          head: typeof head === 'string' ? head : Buffer.from(head),
          body: typeof body === 'string' ? body : kept(body),
        }),
      reject,
    );
  });
}

export type MerchantHandle = (
  caller: MerchantCaller,
  request: Request,
) => Reply | Promise<Reply> | LaterReply;

/**
 * The claim on the request's Idempotency-Key, null without a key, or the answer that it leads to.
 */
function claimed(
  services: MerchantServices,
  operation: MerchantOperation,
  request: Request,
  caller: Caller,
): Claim | null | Reply {
  const key = operation.writes ? request.header(IDEMPOTENCY_HEADER) : '';
  if (key === '') return null;
  const { body } = request;
  const { account } = caller.key;
  const unusable = unusableKey(key);
  if (unusable !== null) return caller.refuse(unusable);
  const found = services.idempotency.claim({ account, key, path: operation.path, body });
  return found.kind === 'fresh' ? found.claim : takenReply(caller, found);
}

/** The answer to a request whose key is in use. */
function takenReply(caller: Caller, found: Exclude<Claimed, { readonly kind: 'fresh' }>): Reply {
  return found.kind === 'kept'
    ? replayed(found.answer, caller.fields)
    : caller.refuse(takenKey(found.kind, 'path or body'));
}

/** Runs a handler, and releases its quota and its key however it ends. */
function run(
  services: MerchantServices,
  handle: MerchantHandle,
  caller: MerchantCaller,
  request: Request,
  send: (reply: Reply) => void,
  end: (counted: boolean) => void,
): void {
  let ended = false;
  const endOnce = (counted: boolean): void => {
    if (!ended) end(counted);
    ended = true;
  };
  const failed = (error: unknown): void => {
    endOnce(false);
    if (error instanceof KeyTaken) return send(takenReply(caller, error.claimed));
    if (error instanceof StoreFault) {
      services.log.error('store fault', { path: caller.instance, message: error.message });
    }
    const refusal = storeRefusal(error);
    if (refusal !== null) return send(caller.refuse(refusal));
    services.log.error('handler failed', { path: caller.instance, fault: faultOf(error) });
    send(caller.problem(500, FAULT_DETAIL));
  };
  const done = (reply: Reply): void => {
    endOnce(reply.status < 300);
    send(reply);
  };
  const take = (reply: Reply): void => {
    try {
      done(reply);
    } catch (error) {
      failed(error);
    }
  };
  try {
    const reply = handle(caller, request);
    if (typeof reply === 'function') reply(take, failed);
    else if (reply instanceof Promise) reply.then(done).catch(failed);
    else done(reply);
  } catch (error) {
    failed(error);
  }
}

/** Checks the head of a request: returns the refusal, or the handler for its body. */
function admit(
  services: MerchantServices,
  operation: MerchantOperation,
  rules: GateRules,
  handle: MerchantHandle,
  head: Request,
): Reply | Handle {
  const { gate, usage } = services;
  const { metered } = operation;
  const passed = gate.admit(rules, head);
  if (isReply(passed)) return passed;
  return (request, answer) => {
    const send = (reply: Reply): void => answer.send(reply);
    // This comes before the quota, so that the answer to the last operation of a quota can be
    // repeated.
    const claim = claimed(services, operation, request, passed);
    if (isReply(claim)) return send(claim);
    const place = metered ? usage.admitMerchant(passed.key) : null;
    if (metered && place === null) {
      claim?.end();
      return send(passed.refuse(SPENT));
    }
    run(services, handle, new MerchantCaller(passed, claim), request, send, (counted) => {
      if (place !== null) usage.settleMerchant(place, counted);
      claim?.end();
    });
  };
}

/** Makes a route behind the gate. */
export function merchantRoute(
  services: MerchantServices,
  operation: MerchantOperation,
  handle: MerchantHandle,
): Route {
  const { method, path, bodyBytesMax, needs, deadlineMs = DEADLINE_MS, isAtOnce } = operation;
  const rules = gateRules(path, {
    headerOnly: true,
    planRefusal: needs === null ? null : planNeeded(needs, 'This operation needs'),
  });
  const decide: Admit = (head) => admit(services, operation, rules, handle, head);
  return {
    method,
    path,
    bodyBytesMax,
    deadlineMs,
    ask: services.gate.asking(rules),
    admit: decide,
    handle: handleOf(decide),
    repeats: operation.writes ? 'keyed' : 'always',
    ...(isAtOnce === undefined ? {} : { isAtOnce }),
  };
}
