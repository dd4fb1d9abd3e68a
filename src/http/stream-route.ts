/** Routes whose body and answer are streams: the way from a native request to their handler. */
import { messageOf, type Log } from '../log.js';
import type { Traffic } from './exchange.js';
import { problemReply } from './problem.js';
import type { RefusalFields } from './rate-fields.js';
import type { Handle, Reply, Request } from './reply.js';
import { StreamExchange } from './stream-exchange.js';
import type { RawRequest, RawResponse } from './uws.js';

/** What makes a route one of streams. */
export interface StreamTerms {
  /** How long a client may send and take nothing. */
  readonly idleMs: number;
  /** How often a slow upload is kept from being cut; the usual time unless given. */
  readonly tickMs?: number;
  /** Ends without the rest of the upload: for clients that read while they send. */
  readonly atOnce?: boolean;
  /** Called with the head of the request; the body comes to what the exchange is told to call. */
  open(request: Request, exchange: StreamExchange): void;
}

/** What stands for the plain handler of such a route. */
export const streamsOnly: Handle = (request) => {
  throw new Error(`${request.path} is a route of streams`);
};

const EMPTY = new Uint8Array(0);

/** What was asked for. */
type StreamTarget = Pick<Request, 'method' | 'path'>;

/** Opens a stream; what its handler throws is a bug and becomes a 500. */
export function openStreamRoute(
  terms: StreamTerms, { method, path }: StreamTarget, raw: RawResponse, native: RawRequest,
  traffic: Traffic, log: Log, fieldsOf: RefusalFields,
): void {
  const headers = new Map<string, string>();
  native.forEach((name, value) => headers.set(name, value));
  const client = Buffer.from(raw.getRemoteAddressAsText()).toString('latin1');
  const request: Request = {
    method, path, query: native.getQuery() ?? '', body: EMPTY,
    header: (name) => headers.get(name) ?? '', client: () => client,
  };
  const fault = (error: unknown): Reply => {
    log.error('handler failed', { path, message: messageOf(error) });
    return problemReply(
      { status: 500, detail: 'The service failed to answer.', instance: path }, fieldsOf(request),
    );
  };
  const exchange = new StreamExchange(raw, traffic, terms, fault);
  try {
    terms.open(request, exchange);
  } catch (error) {
    exchange.send(fault(error));
  }
}
