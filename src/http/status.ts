/** Status lines of every status that the service answers with. */
import type { ProblemStatus } from '../base/problem.js';

const TITLES = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No Content',
  206: 'Partial Content',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  416: 'Range Not Satisfiable',
  422: 'Unprocessable Entity',
  426: 'Upgrade Required',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  505: 'HTTP Version Not Supported',
  507: 'Insufficient Storage',
} as const;

const LINES: ReadonlyMap<number, string> = new Map(
  Object.entries(TITLES).map(([status, title]) => [Number(status), `${status} ${title}`]),
);

/** For example "404 Not Found". */
export function statusLine(status: number): string {
  return LINES.get(status) ?? `${status} Status`;
}

/** For example "Not Found". */
export function statusTitle(status: ProblemStatus): string {
  return TITLES[status];
}
