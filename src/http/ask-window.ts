/**
 * Requests whose rate window is shared with other processes: it is asked by the head, and the
 * handler is called when it has answered. Where windows are this process's own nothing is asked,
 * and a request costs one comparison more.
 */
import type { Asking, Request } from './reply.js';

/** The head of a request, while it may be asked. */
type Head = Asking & Pick<Request, 'client'>;

/**
 * Asks about a request, by its head: what `take` or `remaining` would say, at once or later; null
 * where nobody is to be asked.
 */
export type AskWindow = (head: Head) => Promise<number> | number | null;

/** Asks where there is somebody to ask; what fails is found again by the handler. */
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
