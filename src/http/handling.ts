/** How handlers are called: what one throws is a bug, and becomes an answer. */
import { messageOf, type Log } from '../log.js';
import { problemReply } from './problem-reply.js';
import type { Answerer, Handle, RefusalFields, Reply, Request } from './reply.js';
import { NO_FIELDS, type Route } from './route-table.js';

/** The answer to what a handler threw: that is a bug. */
export function faultReply(
  route: Route,
  request: Request,
  error: unknown,
  log: Log,
  fieldsOf: RefusalFields,
): Reply {
  log.error('handler failed', { path: request.path, message: messageOf(error) });
  return (
    route.fault?.(request) ??
    problemReply(
      { status: 500, detail: 'The service failed to answer.', instance: request.path },
      fieldsOf(request),
    )
  );
}

/** Runs a handler; what it throws becomes a 500. */
export function runHandle(
  route: Route,
  request: Request,
  answer: Answerer,
  log: Log,
  fieldsOf: RefusalFields = NO_FIELDS,
  handle: Handle = route.handle,
): void {
  try {
    handle(request, answer);
  } catch (error) {
    answer.send(faultReply(route, request, error, log, fieldsOf));
  }
}
