/**
 * What stands around every handler of the native server. That ends the process when a handler
 * returns with its response open and nothing to be told of an abort, which also happens to whole
 * answers of a client that resets its connection meanwhile. So something is registered before any
 * handler runs; what a handler registers itself takes its place.
 */
import type { Framing } from './framing.js';
import { LastResponse } from './last-response.js';
import { problemReply } from './problem.js';
import { statusLine } from './status.js';
import type { RawHandler, RawRequest, RawResponse } from './uws.js';

/** Told of what a handler threw, which is a bug. */
export type Fault = (error: unknown) => void;

const NOTHING = (): void => undefined;

/** Answers 400 and closes; nothing that follows is read. */
export function refuseFraming(raw: RawResponse, request: RawRequest): void {
  const { head, body } = problemReply({
    status: 400, instance: request.getUrl(),
    detail: 'The end of the body can be read in more than one way: send one Content-Length of ' +
      'digits, or "Transfer-Encoding: chunked" alone.',
  });
  new LastResponse(raw).writeStatus(statusLine(400)).writeHeader('Content-Type', head).end(body);
}

/** Cuts a connection, if it is still there and its answer open. */
function cut(raw: RawResponse): void {
  try {
    raw.close();
  } catch {
    // It has ended: the native server lets nobody touch it any more.
  }
}

/**
 * Makes a handler one that cannot leave its response behind, whatever it does or throws. `settles`:
 * the handler returns with its answer taken whole or with something registered (`Exchange.guard`),
 * so that nothing needs to be registered for the many answers that are given at once.
 */
export function guarded(
  handler: RawHandler, framingOf: (request: RawRequest) => Framing, fault: Fault,
  { settles = false } = {},
): RawHandler {
  return (raw, request) => {
    if (!settles) raw.onAborted(NOTHING);
    try {
      const framing = framingOf(request);
      // What is left of such a connection is answered after its handler.
      if (settles && framing !== 'plain') raw.onAborted(NOTHING);
      if (framing === 'plain') handler(raw, request);
      else if (framing === 'chunked') handler(new LastResponse(raw), request);
      else refuseFraming(raw, request);
    } catch (error) {
      fault(error);
      cut(raw);
    }
  };
}
