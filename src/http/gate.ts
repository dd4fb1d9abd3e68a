/**
 * The gate that every request with a key passes. It checks, in this order: the key (401), its
 * scopes (403), the rate window (429), the plan (403). A route states in its `GateRules` what
 * differs; quotas and bodies come after the gate. Requests with invalid keys are counted by client
 * address; above the limit they are answered with 429 instead of 401. A valid key passes even then,
 * so that a bad client blocks nobody else behind the same address.
 */
import type { KeyRecord } from '../store/format.js';
import { NOT_TOLD } from '../store/fault.js';
import { keyPrefix } from '../store/keys.js';
import { PLAN_FEATURES } from '../store/plan.js';
import { scopesOfBits } from '../store/scope.js';
import { jsonValue, type WireList, type WireObject } from '../wire/tree.js';
import {
  KEYED,
  KeyReader,
  missingScopes,
  neededScopes,
  type NeededScopes,
  presentedKey,
  scopesOfRows,
} from './api-key.js';
import type { AskWindow } from './ask-window.js';
import { GuessGuard } from './client-limit.js';
import { problem, type Problem, type ProblemStatus } from '../base/problem.js';
import type { BodyError } from '../base/validator.js';
import { fail, type Failure, type FailureKind } from '../failure.js';
import { refusalReply } from './problem-reply.js';
import { type Rated, ratedHead, rateFields, type RateGate, REFUSED } from './rate-limit.js';
import {
  type Fields,
  headOf,
  JSON_TYPE,
  type RefusalFields,
  type Reply,
  type Request,
} from './reply.js';

const GUESSING = fail(
  'rate-limited',
  'Too many requests with keys that are none came from this address; try again in a minute.',
);
const NO_KEY = fail('invalid-key');
const OVER_RATE = fail('rate-limited');

/** Statuses of failures for which only lookups have a response code. */
const PLAIN_STATUSES: Partial<Readonly<Record<FailureKind, ProblemStatus>>> = {
  'feature-not-enabled': 403,
  overloaded: 503,
};

/** What the gate needs to know of a key. */
export interface GateKey extends Rated {
  /** The scopes, as bits. */
  readonly scopes: number;
  /** The first characters of the key. */
  readonly prefix?: string;
}

/** For example "The key does not have the scope carts." */
function scopeDetail(missing: number): string {
  return `The key does not have the scope ${scopesOfBits(missing).join(' or ')}.`;
}

/** Why a key may not ask for rows of a kind; null where it may. */
export function rowsRefusal(key: KeyRecord, kind: string): Problem | null {
  const missing = missingScopes(key.scopes, scopesOfRows(kind));
  return missing === 0 ? null : problem(403, scopeDetail(missing));
}

/** What a route states about its requests. */
export interface GateRules<K = KeyRecord> {
  readonly needed: NeededScopes;
  /** Whether the key must be in the header and may not be in the query. */
  readonly headerOnly: boolean;
  /** Whether a request takes a place in the rate window. */
  readonly counted: boolean;
  /** Why the plan of a key does not include the route; null where it does. */
  readonly planRefusal: ((key: K) => Failure | null) | null;
}

/**
 * Makes the rules of a route; call it once for each. The scopes follow from the path, and the rest
 * has the values of most routes unless given.
 * @throws Error for a path without stated scopes.
 */
export function gateRules<K = KeyRecord>(
  path: string,
  {
    headerOnly = false,
    counted = true,
    planRefusal = null,
  }: Partial<Omit<GateRules<K>, 'needed'>> = {},
): GateRules<K> {
  return { needed: neededScopes(path), headerOnly, counted, planRefusal };
}

/** Makes the refusal for plans that lack a part; it begins with `subject`: "Bulk needs". */
export function planNeeded(
  part: 'bulk' | 'merchants' | 'provider',
  subject: string,
): (key: KeyRecord) => Failure | null {
  const plans = part === 'provider' ? 'Enterprise plan' : 'Pro or Enterprise plan';
  const refusal = fail('feature-not-enabled', `${subject} the ${plans}.`);
  return ({ plan }) => (PLAN_FEATURES[plan][part] ? null : refusal);
}

/** The caller of a request that the gate has admitted. */
export class Caller<K extends GateKey = KeyRecord> {
  readonly key: K;
  /** How many requests are left in the rate window. */
  readonly remaining: number;
  /** Path of the request. */
  readonly instance: string;
  /** Raw query of the request; without the key, on routes that accept it there. */
  readonly query: string;
  /** The URL of the service, which refusals with a response code contain. */
  readonly baseUrl: string;

  constructor(key: K, remaining: number, instance: string, query: string, baseUrl: string) {
    this.key = key;
    this.remaining = remaining;
    this.instance = instance;
    this.query = query;
    this.baseUrl = baseUrl;
  }

  /** Header fields of every answer. */
  get fields(): Fields {
    return rateFields(this.key.rate, this.remaining);
  }

  /** Makes a JSON answer. */
  json(status: number, body: WireObject | WireList, more: Fields | null = null): Reply {
    const head =
      more === null
        ? ratedHead(this.key.rate, this.remaining)
        : headOf(JSON_TYPE, { ...this.fields, ...more });
    return { status, head, body: jsonValue(body) };
  }

  /** Makes the answer for a refusal. */
  refuse(refusal: Problem | Failure): Reply {
    return refusalReply(refusal, this.instance, this.baseUrl, this.fields);
  }

  /** Makes the answer for a refusal as a problem document. */
  problem(status: ProblemStatus, detail: string, errors?: readonly BodyError[]): Reply {
    return this.refuse(problem(status, detail, errors));
  }
}

/** A request that may not pass; each kind of operation renders it in its own format. */
export class Refused {
  /** `overloaded` where it cannot be told at present whether the key exists. */
  readonly why: Failure;
  /** The rate of the key and what is left; zeros where there is no key. */
  readonly limit: number;
  readonly remaining: number;
  readonly query: string;

  constructor(why: Failure, limit: number, remaining: number, query: string) {
    this.why = why;
    this.limit = limit;
    this.remaining = remaining;
    this.query = query;
  }
}

const NO_FIELDS: Fields = {};

interface GateOptions<K> {
  /** Returns null alike for a malformed, an unknown and a disabled key. */
  readonly find: (text: string) => K | null;
  /** Whether a key that is not found may have been made by another server a moment ago. */
  readonly isBehind?: () => boolean;
  readonly rates: RateGate;
  readonly baseUrl: string;
  /** Where invalid keys are counted; the gate's own unless given. */
  readonly guesses?: GuessGuard;
}

export class Gate<K extends GateKey = KeyRecord> {
  readonly #find: (text: string) => K | null;
  readonly #isBehind: () => boolean;
  readonly #rates: RateGate;
  readonly #baseUrl: string;
  readonly #guesses: GuessGuard;

  readonly #presented: typeof presentedKey;

  constructor({
    find,
    isBehind = () => false,
    rates,
    baseUrl,
    guesses = new GuessGuard(),
  }: GateOptions<K>) {
    this.#find = find;
    this.#isBehind = isBehind;
    this.#rates = rates;
    const reader = new KeyReader();
    // Where windows are asked, the key is needed twice: to ask, and then to enter.
    this.#presented =
      rates.ask === undefined
        ? presentedKey
        : (request, headerOnly = false) => reader.read(request, headerOnly);
    this.#baseUrl = baseUrl;
    this.#guesses = guesses;
  }

  /** Admits a request, or returns why not. */
  enter(rules: GateRules<K>, request: Request): Caller<K> | Refused {
    const { key: text, query } = this.#presented(request, rules.headerOnly);
    const key = this.#find(text);
    // On routes that accept the key in the header only, the query may still contain one, so it is
    // not noted.
    request.identified?.(key?.prefix ?? keyPrefix(text), rules.headerOnly ? '' : query, text);
    if (key === null) {
      // A request without a key is no guess.
      if (text !== '' && this.#guesses.failed(request.client())) {
        return new Refused(GUESSING, 0, 0, query);
      }
      return new Refused(text !== '' && this.#isBehind() ? NOT_TOLD : NO_KEY, 0, 0, query);
    }
    const { rate } = key;
    const missing = missingScopes(key.scopes, rules.needed);
    if (missing !== 0) {
      const left = this.#rates.remaining(key);
      return new Refused(fail('feature-not-enabled', scopeDetail(missing)), rate, left, query);
    }
    const remaining =
      request.taken ?? (rules.counted ? this.#rates.take(key) : this.#rates.remaining(key));
    if (remaining === REFUSED) return new Refused(OVER_RATE, rate, 0, query);
    const why = rules.planRefusal === null ? null : rules.planRefusal(key);
    if (why !== null) return new Refused(why, rate, remaining, query);
    return new Caller(key, remaining, request.path, query, this.#baseUrl);
  }

  /**
   * Makes the question that a route asks before its handler is called; null where the windows
   * answer at once. Where a request has nothing to ask, `enter` decides alone.
   */
  asking(rules: GateRules<K>): AskWindow | null {
    const rates = this.#rates;
    if (rates.ask === undefined) return null;
    return (head) => {
      const key = this.#find(this.#presented(head, rules.headerOnly).key);
      if (key === null || missingScopes(key.scopes, rules.needed) !== 0) return null;
      return rates.ask?.(key, rules.counted) ?? null;
    };
  }

  /** Admits a request, or returns the problem document that refuses it. */
  admit(rules: GateRules<K>, request: Request): Caller<K> | Reply {
    const found = this.enter(rules, request);
    return found instanceof Refused ? this.refusal(found, request) : found;
  }

  /** A refusal as a problem document, which all operations but lookups answer with. */
  refusal({ why, limit, remaining }: Refused, { path }: Request): Reply {
    const status = PLAIN_STATUSES[why.failure];
    const refusal = status === undefined ? why : problem(status, why.detail ?? '');
    return refusalReply(refusal, path, this.#baseUrl, rateFields(limit, remaining));
  }

  /** A key as it is now; null if it no longer exists or lacks a scope. Nothing is counted. */
  known(text: string, { needed }: GateRules<K>): K | null {
    const key = this.#find(text);
    return key !== null && missingScopes(key.scopes, needed) === 0 ? key : null;
  }

  /**
   * The rate fields of answers that come from no handler, since every answer to a path of
   * operations with a key states the rate of the key. They take no place in a window.
   */
  readonly fieldsOf: RefusalFields = (asking) => {
    if (!KEYED.test(asking.path)) return NO_FIELDS;
    const key = this.#find(presentedKey(asking).key);
    return key === null ? rateFields(0, 0) : rateFields(key.rate, this.#rates.remaining(key));
  };
}
