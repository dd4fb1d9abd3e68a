/** Lets pages of other origins read answers (CORS), where the operator names those origins. */
import { REPLAYED_HEADER } from './idempotency-key.js';
import { LIMIT_HEADER, REMAINING_HEADER } from './rate-limit.js';
import { headOf, type Head, OWN_HEADERS } from './reply.js';

const ANY = '*';
const ORIGIN = /^https?:\/\/(?:[\w.-]+|\[[0-9a-f:]+\])(?::\d+)?$/i;

/**
 * Fields that a page may send. X-ENV is sent by clients of the API that this service is compatible
 * with.
 */
const SENT = [
  'X-API-Key',
  'Content-Type',
  'Content-Encoding',
  'Idempotency-Key',
  'X-Request-Id',
  'X-ENV',
  'Range',
  'If-Range',
  'If-None-Match',
  'traceparent',
  'tracestate',
].join(', ');
/** Fields of answers that a page may read, beside those that browsers always let it read. */
const READ = [
  LIMIT_HEADER,
  REMAINING_HEADER,
  ...Object.values(OWN_HEADERS),
  'X-Request-Id',
  REPLAYED_HEADER,
  'Location',
  'Allow',
  'ETag',
  'Accept-Ranges',
  'Content-Range',
].join(', ');
/** How many seconds a browser may remember the answer to a preflight request. */
const REMEMBERED_S = 7_200;

const VARY = ['Vary', 'Origin'] as const;

function originsIn(text: string): readonly string[] {
  return text
    .split(',')
    .map((origin) => origin.trim())
    .filter((origin) => origin !== '');
}

function isOrigin(text: string): boolean {
  return ORIGIN.test(text) && URL.canParse(text);
}

/**
 * The origins whose pages may read answers. A browser's own credentials are never asked for,
 * because keys are sent in a field of their own.
 */
export class CrossOrigins {
  readonly #any: boolean;
  readonly #origins: ReadonlySet<string>;

  private constructor(origins: readonly string[]) {
    this.#any = origins.includes(ANY);
    // Written as browsers write origins: in lower case, without the default port.
    this.#origins = new Set(
      origins.filter((origin) => origin !== ANY).map((origin) => new URL(origin).origin),
    );
  }

  /**
   * The origins in the setting; null where it names none.
   * @throws Error that names the setting where it is no list of origins.
   */
  static of(text: string): CrossOrigins | null {
    const origins = originsIn(text);
    if (!origins.every((origin) => origin === ANY || isOrigin(origin))) {
      throw new Error(
        'SITUS_CORS_ORIGINS must be * or origins (https://shop.example), with commas between',
      );
    }
    return origins.length === 0 ? null : new CrossOrigins(origins);
  }

  #allowed(origin: string): string | null {
    if (this.#any) return ANY;
    return this.#origins.has(origin.toLowerCase()) ? origin : null;
  }

  /**
   * The CORS fields of an answer, name and value in turns. `origin` is empty for a request of no
   * page.
   */
  fieldsFor(origin: string): readonly string[] {
    if (origin === '') return this.#any ? [] : VARY;
    const allowed = this.#allowed(origin);
    const vary = this.#any ? [] : VARY;
    if (allowed === null) return vary;
    return [...vary, 'Access-Control-Allow-Origin', allowed, 'Access-Control-Expose-Headers', READ];
  }

  /**
   * The head of the answer that tells a browser what a page may send; null for origins not named.
   */
  preflight(origin: string, methods: readonly string[]): Head | null {
    if (this.#allowed(origin) === null) return null;
    return headOf('text/plain', {
      'Access-Control-Allow-Methods': methods.join(', '),
      'Access-Control-Allow-Headers': SENT,
      'Access-Control-Max-Age': REMEMBERED_S,
    });
  }
}
