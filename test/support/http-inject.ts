/** Runs a request through a table of routes without a socket. */
import { fieldsOf, type Reply, type RefusalFields } from '../../src/http/reply.js';
import { runHandle } from '../../src/http/handling.js';
import { findRoute, type RouteTable } from '../../src/http/router.js';
import { SILENT } from '../../src/log.js';

export interface InjectedReply {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** The answer to a request whose handler answers at once. */
export function inject(
  table: RouteTable,
  method: string,
  target: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
  refusal: RefusalFields = () => ({}),
): InjectedReply {
  const [path = '', query = ''] = target.split('?');
  const replies: Reply[] = [];
  const answer = {
    send: (reply: Reply): void => {
      replies.push(reply);
    },
  };
  const request = {
    method,
    path,
    query,
    header: (name: string) => headers[name] ?? '',
    client: () => headers['test-client'] ?? '127.0.0.1',
    body: Buffer.from(body),
  };
  const route = findRoute(table, method, request, answer, refusal);
  if (route !== null) runHandle(route, request, answer, SILENT, refusal);
  const [reply] = replies;
  if (reply === undefined) throw new Error(`${method} ${target} was not answered`);
  return {
    status: reply.status,
    headers: fieldsOf(reply.head),
    body: Buffer.from(reply.body).toString(),
  };
}
