/**
 * What stands around every request beside its handler, where it is switched on: counts and times, a
 * log, other origins, trusted proxies. What is off costs nothing but the look for a request id.
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

/** Header fields of an answer that its handler does not give: name and value in turns. */
export type ExtraFields = readonly string[];

export const NO_EXTRA: ExtraFields = [];

/** What is kept of a request for its log line and for fields of its answer. */
export interface RequestNote {
  readonly method: string;
  /** Empty where it was sent with none and none is made. */
  readonly requestId: string;
  readonly extra: ExtraFields;
  /** Address of the client; empty unless addresses are logged. */
  readonly client: string;
  /** The trace that the request is part of (W3C Trace Context); empty unless traces are kept. */
  readonly traceparent: string;
  /** The first characters of the key; empty without one. */
  keyPrefix: string;
  /** The query without the key, where that was looked for in it; empty otherwise. */
  query: string;
}

/** Notes whose request it is; of the query no part that holds the key, whatever it is named. */
export function noteCaller(note: RequestNote, keyPrefix: string, query: string, key: string): void {
  note.keyPrefix = keyPrefix;
  note.query = withoutText(query, key);
}

/** One request that is over, as a log is told of it. */
export interface RequestLine extends RequestNote {
  /** Index of the operation; 0 for what is none. */
  readonly operation: number;
  readonly status: number;
  /** Response code of a lookup; 0 where the answer has none. */
  readonly code: number;
  /** Index of the precision. */
  readonly precision: number;
  /** Empty where no dataset was asked. */
  readonly dataset: string;
  readonly microseconds: number;
}

/** What is told of requests: a log, traces. */
export interface RequestSink {
  /** Whether lines have the address of the client. */
  readonly addresses: boolean;
  /** Whether lines have the trace that a request is part of. */
  readonly traces: boolean;
  /** Called once for each request, answered or given up. */
  told(line: RequestLine): void;
}

/** A request under way. */
export interface Noted {
  /** Index of the operation; 0 for what is none. */
  readonly operation: number;
  /** When it came, by `microseconds`. */
  readonly began: number;
  readonly note: RequestNote | null;
}

/** What surrounds an answer that is written bit by bit. */
export interface DuplexSurroundings {
  /** The client asked with HEAD and must get no body. */
  readonly bodiless?: boolean;
  readonly extra?: ExtraFields;
  /** Told of the end with what was answered; status 0 where the client has gone before. */
  readonly ended?: (answered: Answered) => void;
}

/** A clock of whole microseconds in 32 bits; differences are right for half an hour. */
export function microseconds(): number {
  return (performance.now() * 1_000) | 0;
}

const ORIGIN = fieldName('origin');
const TRACEPARENT = fieldName('traceparent');
const FORWARDED = 'x-forwarded-for';
/** What may be taken for an id: it comes back in a header field and stands in the log. */
const ID = /^[\x21-\x7e]{1,128}$/;

/** Whether what was sent as an id is the key of the request: the log would hold it. */
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

  /** What is to be kept of a request; null for most where nothing is logged. */
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

  /** The answer to a browser that asks what a page may send to a path; null for anybody else. */
  preflight(request: RawRequest, methods: readonly string[]): Reply | null {
    if (this.origins === null || request.getHeader('access-control-request-method') === '') {
      return null;
    }
    const head = this.origins.preflight(request.getHeader(ORIGIN), methods);
    return head === null ? null : { status: 204, head, body: '' };
  }

  /** What all proxies tell of whom they ask for, in their order; empty where none is trusted. */
  forwarded(request: RawRequest): string {
    if (this.proxies === null) return '';
    // A proxy may add a field of its own behind one that the client made up.
    const named: string[] = [];
    request.forEach((name, value) => {
      if (name === FORWARDED) named.push(value);
    });
    return named.join(',');
  }

  /** The address that a request counts for. */
  clientOf(address: string, forwarded: string): string {
    return this.proxies === null ? address : this.proxies.clientOf(address, forwarded);
  }

  /** Notes a request whose head no handler sees; gives the fields of its answer. */
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

  /** Notes an answer that was written bit by bit, for as long as a client liked. */
  ended(
    { operation, note }: Omit<Noted, 'began'>,
    { status, code = 0, dataset = '' }: Answered,
    milliseconds: number,
  ): void {
    const spent = Math.round(milliseconds * 1_000);
    this.#tell(operation, note, status === 0 ? GONE : status, code, 0, dataset, spent);
  }

  /** Notes a request whose client has gone before its answer. */
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
    this.sink.told({
      ...note,
      operation,
      status,
      code,
      precision,
      dataset,
      microseconds: spent,
    });
  }
}

/** The address at the other end of a connection; empty when it has gone. */
export function addressOf(raw: RawResponse | null): string {
  return raw === null ? '' : Buffer.from(raw.getRemoteAddressAsText()).toString('latin1');
}
