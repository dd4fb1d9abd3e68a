/**
 * The gate that all merchant routes share. In this order: the API key (header only, 401), the rate
 * window (429), the plan (403), the Idempotency-Key of routes that write (400, 409, 422, or the
 * first answer again), the monthly quota of merchant operations (405 with code 107, as lookups
 * answer a used-up quota). Every answer carries the two fields of the rate; a bug is a 500.
 *
 * A handler gets the caller and the request and returns a reply, or a promise of one:
 *
 *   merchantRoute(services, {
 *     method: 'POST', path: '/merchant/x', bodyBytesMax: BODY_BYTES_MAX,
 *     needs: 'merchants', metered: true, writes: true,
 *   }, async (caller, request) => {
 *     const reply = caller.json(200, { … });
 *     await store.write((transaction) => { …; caller.keep(transaction, reply); });
 *     return reply;
 *   });
 *
 * `caller.keep` stores the answer for the Idempotency-Key within the transaction of the write, and
 * does nothing when the request has none. An operation counts for the quota when it was answered
 * with a status below 300, and a repeated answer does not.
 */
import { faultOf, type Log } from '../log.js';
import { StoreFault } from '../store/fault.js';
import type { KeyRecord } from '../store/format.js';
import {
  IDEMPOTENCY_KEY_CHARS_MAX, type Claim, type IdempotencyBook, type KeptAnswer,
} from '../store/idempotency.js';
import { PLAN_TERMS } from '../store/plan.js';
import type { StoreTransaction } from '../store/store.js';
import type { Admission, Metered } from '../store/usage-meter.js';
import { jsonValue } from '../wire/json.js';
import type { WireList, WireObject } from '../wire/tree.js';
import { KEY_HEADER } from './api-key.js';
import { codedProblem } from './coded-problem.js';
import { problemReply, type ProblemError } from './problem.js';
import { rateFieldsOf } from './rate-fields.js';
import { LIMIT_HEADER, REFUSED, REMAINING_HEADER, type RateGate } from './rate-limit.js';
import { fieldsOf, headOf, JSON_TYPE, type Fields, type Reply, type Request } from './reply.js';
import { DEADLINE_MS, type Route } from './router.js';
import type { Status } from './status.js';

export const IDEMPOTENCY_HEADER = 'idempotency-key';
export const REPLAYED_HEADER = 'Idempotency-Replayed';

/** Printable ASCII. */
export const IDEMPOTENCY_KEY = /^[\x20-\x7e]+$/;

/** Quotas and counters of merchant operations. */
export interface MerchantUsage {
  /** Null when the quota is used up. */
  admitMerchant(key: Metered): Admission | null;
  settleMerchant(admission: Admission, counted: boolean): void;
}

export interface MerchantServices {
  /** Null for a key that is malformed, unknown or disabled alike. */
  findKey(text: string): KeyRecord | null;
  readonly gate: RateGate;
  readonly usage: MerchantUsage;
  readonly idempotency: Pick<IdempotencyBook, 'claim'>;
  readonly log: Log;
  readonly baseUrl: string;
}

export interface MerchantTerms {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly bodyBytesMax: number;
  /**
   * What the plan must include: Pro and Enterprise have `merchants`, Enterprise `provider`; null
   * for operations of every plan.
   */
  readonly needs: 'merchants' | 'provider' | null;
  /** Whether an answered operation counts for the monthly quota. */
  readonly metered: boolean;
  /** Whether an Idempotency-Key is honoured. */
  readonly writes: boolean;
  /** Longest time to an answer; DEADLINE_MS unless given. */
  readonly deadlineMs?: number;
}

/** Whoever calls, behind the gate. */
export class MerchantCaller {
  readonly key: KeyRecord;
  /** Header fields of every answer. */
  readonly fields: Fields;
  /** Path of the request. */
  readonly instance: string;
  readonly #claim: Claim | null;

  constructor(key: KeyRecord, fields: Fields, instance: string, claim: Claim | null) {
    this.key = key;
    this.fields = fields;
    this.instance = instance;
    this.#claim = claim;
  }

  get account(): string {
    return this.key.account;
  }

  /** A JSON answer. */
  json(status: number, body: WireObject | WireList, more: Fields = {}): Reply {
    const head = headOf(JSON_TYPE, { ...this.fields, ...more });
    return { status, head, body: jsonValue(body) };
  }

  /** A refusal. */
  problem(status: Status, detail: string, errors?: readonly ProblemError[]): Reply {
    const { instance, fields } = this;
    return problemReply({
      status, detail, instance, ...(errors === undefined ? {} : { errors }),
    }, fields);
  }

  /** Keeps an answer for the Idempotency-Key, inside the transaction it is the answer to. */
  keep(transaction: StoreTransaction, reply: Reply): void {
    this.#claim?.keep(transaction, keptOf(reply));
  }
}

export type MerchantHandle =
  (caller: MerchantCaller, request: Request) => Reply | Promise<Reply>;

const RATE_FIELDS = new Set([LIMIT_HEADER.toLowerCase(), REMAINING_HEADER.toLowerCase()]);

/** What is kept of an answer: all but the fields of this moment's rate. */
export function keptOf({ status, head, body }: Reply): KeptAnswer {
  const fields = [...fieldsOf(head)].filter(([name]) => !RATE_FIELDS.has(name));
  return { status, fields: Object.fromEntries(fields), body };
}

/** A kept answer with the fields of this moment's rate. */
export function replayed({ status, fields, body }: KeptAnswer, rate: Fields): Reply {
  const { 'content-type': type = JSON_TYPE, ...more } = fields;
  return { status, head: headOf(type, { ...rate, ...more, [REPLAYED_HEADER]: 'true' }), body };
}

/** Who is let through by key, rate and plan, or the refusal. */
function admitted(
  services: MerchantServices, terms: MerchantTerms, request: Request,
): { readonly key: KeyRecord; readonly fields: Fields } | Reply {
  const { gate, baseUrl } = services;
  const { path } = request;
  const key = services.findKey(request.header(KEY_HEADER));
  if (key === null) return codedProblem('invalid-key', path, baseUrl, rateFieldsOf(gate, null));
  const remaining = gate.take(key);
  const fields = {
    [LIMIT_HEADER]: key.rate, [REMAINING_HEADER]: remaining === REFUSED ? 0 : remaining,
  };
  if (remaining === REFUSED) return codedProblem('rate-limited', path, baseUrl, fields);
  if (terms.needs === null || PLAN_TERMS[key.plan][terms.needs]) return { key, fields };
  const plan = terms.needs === 'provider' ? 'Enterprise plan' : 'Pro or Enterprise plan';
  return problemReply(
    { status: 403, detail: `This operation needs the ${plan}.`, instance: path }, fields,
  );
}

/** A claim on the request's Idempotency-Key, null without one, or the answer it leads to. */
function claimed(
  services: MerchantServices, terms: MerchantTerms, request: Request, account: string,
  fields: Fields,
): Claim | null | Reply {
  const key = terms.writes ? request.header(IDEMPOTENCY_HEADER) : '';
  if (key === '') return null;
  const { path: instance, body } = request;
  const refuse = (status: Status, detail: string, message: string): Reply => problemReply({
    status, detail, instance, errors: [{ location: 'header.Idempotency-Key', message }],
  }, fields);
  if (key.length > IDEMPOTENCY_KEY_CHARS_MAX || !IDEMPOTENCY_KEY.test(key)) {
    return refuse(400, 'The Idempotency-Key cannot be used.',
      `expected 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} printable ASCII characters`);
  }
  const found = services.idempotency.claim({ account, key, path: terms.path, body });
  switch (found.kind) {
    case 'fresh': return found.claim;
    case 'kept': return replayed(found.answer, fields);
    case 'running': return refuse(409, 'A request with this Idempotency-Key is under way.',
      'expected a key that is not in use');
    case 'other': return refuse(422, 'This Idempotency-Key belongs to another request.',
      'expected a new key for another path or body');
  }
}

function isReply(value: object | null): value is Reply {
  return value !== null && 'head' in value;
}

/** Runs a handler and ends what was held for it, however it ends. */
function run(
  services: MerchantServices, handle: MerchantHandle, caller: MerchantCaller, request: Request,
  send: (reply: Reply) => void, end: (counted: boolean) => void,
): void {
  let ended = false;
  const endOnce = (counted: boolean): void => {
    if (!ended) end(counted);
    ended = true;
  };
  const failed = (error: unknown): void => {
    endOnce(false);
    if (error instanceof StoreFault) {
      services.log.error('store fault', { path: caller.instance, message: error.message });
      return send(caller.problem(503, 'The service cannot store anything now; nothing was done.'));
    }
    services.log.error('handler failed', { path: caller.instance, fault: faultOf(error) });
    send(caller.problem(500, 'The service failed to answer.'));
  };
  const done = (reply: Reply): void => {
    endOnce(reply.status < 300);
    send(reply);
  };
  try {
    const reply = handle(caller, request);
    if (reply instanceof Promise) reply.then(done).catch(failed);
    else done(reply);
  } catch (error) {
    failed(error);
  }
}

/** A route behind the gate. */
export function merchantRoute(
  services: MerchantServices, terms: MerchantTerms, handle: MerchantHandle,
): Route {
  const { usage, baseUrl } = services;
  const { method, path, bodyBytesMax, metered, deadlineMs = DEADLINE_MS } = terms;
  return {
    method, path, bodyBytesMax, deadlineMs,
    handle: (request, answer) => {
      const send = (reply: Reply): void => answer.send(reply);
      const admission = admitted(services, terms, request);
      if (isReply(admission)) return send(admission);
      const { key, fields } = admission;
      // Before the quota: the answer to what used it up is given again.
      const claim = claimed(services, terms, request, key.account, fields);
      if (isReply(claim)) return send(claim);
      const place = metered ? usage.admitMerchant(key) : null;
      if (metered && place === null) {
        claim?.end();
        return send(codedProblem('feature-not-enabled', request.path, baseUrl, fields,
          'The quota of merchant operations of this month is used up.'));
      }
      const caller = new MerchantCaller(key, fields, request.path, claim);
      run(services, handle, caller, request, send, (counted) => {
        if (place !== null) usage.settleMerchant(place, counted);
        claim?.end();
      });
    },
  };
}
