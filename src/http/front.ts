/**
 * Work that is done around every request where it is switched on: counts and times, a log, CORS,
 * trusted proxies. What is switched off costs nothing, except that each request is searched for an
 * id.
 */
import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { isKeyOf, withoutText } from './api-key.js';
import type { CrossOrigins } from './cross-origin.js';
import { keyPrefix } from '../store/keys.js';
import { fieldName, FIELDS } from './body-framing.js';
import type { TrustedProxies } from './proxies.js';
import type { Answered, Reply } from './reply.js';
import { GONE, type RequestMeter } from './request-meter.js';
import type { RawRequest, RawResponse } from './transport.js';

/** Header fields of an answer that do not come from its handler, name and value in turns. */
export type ExtraFields = readonly string[];

export const NO_EXTRA: ExtraFields = [];

/** What is kept of a request for its log line and for fields of its answer. */
export interface RequestNote {
  readonly method: string;
  /** Empty where the client sent none and none is made. */
  readonly requestId: string;
  readonly extra: ExtraFields;
  /** Address of the client; empty unless addresses are logged. */
  readonly client: string;
  /** The trace that the request belongs to (W3C Trace Context); empty unless traces are kept. */
  readonly traceparent: string;
  /** The first characters of the key; empty without one. */
  keyPrefix: string;
  /** The query without the key, on routes that accept it there; empty otherwise. */
  query: string;
}

/**
 * Notes whose request it is. Parts of the query that contain the key under any name are left out.
 */
export function noteCaller(note: RequestNote, keyPrefix: string, query: string, key: string): void {
  note.keyPrefix = keyPrefix;
  note.query = withoutText(query, key);
}

/** A finished request, for the log. */
export interface RequestLine extends RequestNote {
  /** Index of the operation; 0 for none. */
  readonly operation: number;
  readonly status: number;
  /** Response code of a lookup; 0 where the answer has none. */
  readonly code: number;
  /** Index of the precision. */
  readonly precision: number;
  /** The release that answered; empty where none was asked. */
  readonly dataset: string;
  readonly microseconds: number;
}

/** Receives finished requests: a log, or traces. */
export interface RequestSink {
  /** Whether to pass the address of the client. */
  readonly addresses: boolean;
  /** Whether to pass the trace that a request belongs to. */
  readonly traces: boolean;
  /** Called once for each request, whether it was answered or abandoned. */
  told(line: RequestLine): void;
}

/** A request that is not finished. */
export interface Noted {
  /** Index of the operation; 0 for none. */
  readonly operation: number;
  /** When it came, as `microseconds` counts. */
  readonly began: number;
  readonly note: RequestNote | null;
}

/** What is done around an answer that is written in parts. */
export interface DuplexSurroundings {
  /** Whether the client asked with HEAD and must get no body. */
  readonly bodiless?: boolean;
  readonly extra?: ExtraFields;
  /** Called at the end with what was answered; status 0 where the client left before. */
  readonly ended?: (answered: Answered) => void;
}

/** A clock of whole microseconds in 32 bits. Differences are right for up to half an hour. */
export function microseconds(): number {
  return (performance.now() * 1_000) | 0;
}

const ORIGIN = fieldName('origin');
const TRACEPARENT = fieldName('traceparent');
const FORWARDED = 'x-forwarded-for';
/** What is accepted as a request id, which is returned in a header field and logged. */
const ID = /^[\x21-\x7e]{1,128}$/;

/** Whether the client sent its key as the request id, which would then be logged. */
function isKey(given: string, request: RawRequest): boolean {
  const query = request.getQuery() ?? '';
  return isKeyOf(given, { query, header: (name) => request.getHeader(name) });
}

interface FrontParts {
  readonly meter?: RequestMeter | null;
  readonly sink?: RequestSink | null;
  readonly origins?: CrossOrigins | null;
  readonly proxies?: TrustedProxies | null;
}

export class Front {
  readonly meter: RequestMeter | null;
  readonly sink: RequestSink | null;
  readonly origins: CrossOrigins | null;
  readonly proxies: TrustedProxies | null;
  /** Whether anything is noted of requests. */
  readonly watches: boolean;

  constructor({ meter = null, sink = null, origins = null, proxies = null }: FrontParts = {}) {
    this.meter = meter;
    this.sink = sink;
    this.origins = origins;
    this.proxies = proxies;
    this.watches = meter !== null || sink !== null;
  }

  /** What to keep of a request; null for most requests where nothing is logged. */
  note(method: string, raw: RawResponse, request: RawRequest): RequestNote | null {
    const given = request.getHeader(FIELDS.requestId);
    const shared = this.origins?.fieldsFor(request.getHeader(ORIGIN)) ?? NO_EXTRA;
    const { sink } = this;
    if (given === '' && shared.length === 0 && sink === null) return null;
    const made = sink === null ? '' : randomUUID();
    const requestId = ID.test(given) && !(sink !== null && isKey(given, request)) ? given : made;
    return {
      method,
      requestId,
      keyPrefix: '',
      query: '',
      extra: requestId === '' ? shared : ['X-Request-Id', requestId, ...shared],
      client:
        sink?.addresses === true ? this.clientOf(addressOf(raw), this.forwarded(request)) : '',
      traceparent: sink?.traces === true ? request.getHeader(TRACEPARENT) : '',
    };
  }

  /** The answer to a browser's preflight request; null for any other request. */
  preflight(request: RawRequest, methods: readonly string[]): Reply | null {
    if (this.origins === null || request.getHeader('access-control-request-method') === '') {
      return null;
    }
    const head = this.origins.preflight(request.getHeader(ORIGIN), methods);
    return head === null ? null : { status: 204, head, body: '' };
  }

  /** What all proxies say about the client, in their order; empty where none is trusted. */
  forwarded(request: RawRequest): string {
    if (this.proxies === null) return '';
    // A proxy may add a field of its own behind one that the client has invented.
    const named: string[] = [];
    request.forEach((name, value) => {
      if (name === FORWARDED) named.push(value);
    });
    return named.join(',');
  }

  /** The address that a request is counted under. */
  clientOf(address: string, forwarded: string): string {
    return this.proxies === null ? address : this.proxies.clientOf(address, forwarded);
  }

  /**
   * Notes a request that was refused by its head, without a handler, and returns the fields of its
   * answer.
   */
  refused(raw: RawResponse, request: RawRequest, { status }: Reply): ExtraFields {
    const note = this.note(request.getCaseSensitiveMethod(), raw, request);
    const key = request.getHeader(FIELDS.key);
    if (note !== null && key !== '') noteCaller(note, keyPrefix(key), '', key);
    if (this.watches) this.#tell(0, note, status, 0, 0, '', 0);
    return note?.extra ?? NO_EXTRA;
  }

  /** Notes an answer. */
  answered(noted: Noted, { status, code = 0, precision = 0, dataset = '' }: Reply): void {
    this.#over(noted, status, code, precision, dataset);
  }

  /** Notes an answer that was written in parts, over any length of time. */
  ended(
    { operation, note }: Omit<Noted, 'began'>,
    { status, code = 0, dataset = '' }: Answered,
    milliseconds: number,
  ): void {
    const spent = Math.round(milliseconds * 1_000);
    this.#tell(operation, note, status === 0 ? GONE : status, code, 0, dataset, spent);
  }

  /** Notes a request whose client left before its answer. */
  gone(noted: Noted): void {
    this.#over(noted, GONE, 0, 0, '');
  }

  #over(
    { operation, began, note }: Noted,
    status: number,
    code: number,
    precision: number,
    dataset: string,
  ): void {
    const spent = Math.max(0, (microseconds() - began) | 0);
    this.#tell(operation, note, status, code, precision, dataset, spent);
  }

  #tell(
    operation: number,
    note: RequestNote | null,
    status: number,
    code: number,
    precision: number,
    dataset: string,
    spent: number,
  ): void {
    this.meter?.count(operation, status, code, precision, spent);
    if (note === null || this.sink === null) return;
    // The note comes last: Node.js 20 takes a microsecond for each member added after a spread.
    this.sink.told({
      operation,
      status,
      code,
      precision,
      dataset,
      microseconds: spent,
      ...note,
    });
  }
}

/** The address at the other end of a connection; empty when the client has left. */
export function addressOf(raw: RawResponse | null): string {
  return raw === null ? '' : Buffer.from(raw.getRemoteAddressAsText()).toString('latin1');
}
