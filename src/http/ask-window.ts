/**
 * Asks a rate window that is shared with other processes. That is done when the head of a request
 * has come, and the handler is called after the answer. Where each process has windows of its own,
 * nothing is asked, and a request costs one more comparison.
 */
import type { Asking, Request } from './reply.js';

/** The head of a request, before its handler is called. */
type Head = Asking & Pick<Request, 'client'>;

/**
 * Asks about a request by its head. The answer, at once or later, is that of `take` or `remaining`;
 * null where there is nothing to ask.
 */
export type AskWindow = (head: Head) => Promise<number> | number | null;

/**
 * Asks where a route has something to ask. An exception is ignored, since the handler will meet the
 * same fault.
 */
export function askAhead(
  ask: AskWindow | null | undefined,
  head: Head,
): Promise<number> | number | null {
  if (!ask) return null;
  try {
    return ask(head);
  } catch {
    return null;
  }
}
