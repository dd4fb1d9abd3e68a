/** Header fields and failures of lookups that the front end makes, each rendered once. */
import { LRUCache } from 'lru-cache';
import { fail, type Failure, type FailureKind } from '../../failure.js';
import {
  FLAG_ESTIMATED,
  FLAG_PARTIAL,
  FLAG_STALE,
  FLAG_XML,
  FLAGS_SPAN,
} from '../../pool/types.js';
import { PRECISIONS } from '../../engine/situs.js';
import { LIMIT_HEADER, REMAINING_HEADER, rateFields } from '../../http/rate-limit.js';
import {
  type Fields,
  headOf,
  JSON_TYPE,
  NumberedHead,
  OWN_HEADERS,
  type Reply,
  XML_TYPE,
} from '../../http/reply.js';
import { RESPONSE_CODES } from '../../wire/response-code.js';
import type { Format } from '../../wire/tree.js';
import { marksOf } from './fragment.js';
import { formatAsked } from './query-string.js';

const FLAGS = FLAG_XML | FLAG_ESTIMATED | FLAG_STALE | FLAG_PARTIAL;
/** How many different limits are kept; there are about as many as plans. */
const LIMITS_MAX = 256;

/** Header fields that say how the place was found, and from which release. */
function locationFields(dataset: string, precision: number, flags: number): Fields {
  const name = PRECISIONS[precision] ?? 'none';
  const { estimated, stale, partial } = marksOf(flags);
  return {
    [OWN_HEADERS.precision]: `${name}${estimated ? ';estimated' : ''}`,
    [OWN_HEADERS.dataset]: `${dataset}${stale ? ';stale' : ''}${partial ? ';partial' : ''}`,
  };
}

function render(dataset: string, limit: number, precision: number, flags: number): NumberedHead {
  return new NumberedHead(
    headOf((flags & FLAG_XML) !== 0 ? XML_TYPE : JSON_TYPE, {
      [LIMIT_HEADER]: limit,
      ...locationFields(dataset, precision, flags),
    }),
    REMAINING_HEADER,
  );
}

/**
 * Heads of answers without the remaining requests, for the release that answers. A change of
 * release empties it.
 */
export class LookupHeads {
  #dataset = '';
  readonly #byLimit = new LRUCache<number, (NumberedHead | undefined)[]>({ max: LIMITS_MAX });
  /**
   * The limit that was asked for last and its heads, since there are few limits and many requests.
   */
  #limit = Number.NaN;
  #heads: (NumberedHead | undefined)[] = [];

  get(dataset: string, limit: number, precision: number, flags: number): NumberedHead {
    if (dataset !== this.#dataset || limit !== this.#limit) this.#turnTo(dataset, limit);
    const heads = this.#heads;
    const index = precision * FLAGS_SPAN + (flags & FLAGS);
    return (heads[index] ??= render(dataset, limit, precision, flags));
  }

  #turnTo(dataset: string, limit: number): void {
    if (dataset !== this.#dataset) {
      this.#dataset = dataset;
      this.#byLimit.clear();
    }
    this.#limit = limit;
    const known = this.#byLimit.get(limit);
    this.#heads = known ?? [];
    if (known === undefined) this.#byLimit.set(limit, this.#heads);
  }
}

/** Renders a failure in the envelope of a lookup version. */
export type RenderFailure = (
  version: number,
  failure: Failure,
  format: Format,
  baseUrl: string,
) => Uint8Array;

/** What `FrontFailures` needs. */
interface FailureServices {
  readonly renderFailure: RenderFailure;
  readonly baseUrl: string;
}

/** Details that tell a person what can be done about a failure. */
const DETAILS: Partial<Readonly<Record<FailureKind, string>>> = {
  'feature-not-enabled': 'The quota of lookups of this month is used up.',
  overloaded: 'The service has no dataset or is overloaded; ask again later.',
};

/** Refusals of lookups by a key that may ask: they tell that nothing was located. */
const NOT_LOCATED: ReadonlySet<FailureKind> = new Set(['no-result', 'feature-not-enabled']);

/**
 * How many bodies of failures are kept. There may be one for each name of a release that a client
 * asks for and that is not kept.
 */
const BODIES_MAX = 256;

/** Failures that the front end answers itself, without a worker; each body is rendered once. */
export class FrontFailures {
  readonly #bodies = new LRUCache<string, Uint8Array>({ max: BODIES_MAX });
  readonly #services: FailureServices;

  constructor(services: FailureServices) {
    this.#services = services;
  }

  reply(
    failure: FailureKind,
    version: number,
    query: string,
    limit: number,
    remaining: number,
    detail = DETAILS[failure] ?? '',
  ): Reply {
    const format = formatAsked(query);
    const name = `${failure} ${version} ${format} ${detail}`;
    const { renderFailure, baseUrl } = this.#services;
    let body = this.#bodies.get(name);
    if (body === undefined) {
      body = renderFailure(version, fail(failure, detail), format, baseUrl);
      this.#bodies.set(name, body);
    }
    const head = headOf(format === 'xml' ? XML_TYPE : JSON_TYPE, {
      ...rateFields(limit, remaining),
      ...(NOT_LOCATED.has(failure) ? { [OWN_HEADERS.precision]: 'none' } : {}),
    });
    const { http: status, code } = RESPONSE_CODES[failure];
    return { status, head, body, code, precision: 0, dataset: '' };
  }
}
