/** The beginning of a request for a job: what can be refused before its body is read. */
import { JOBS_PATH } from '../row/job-body.js';
import type { WireObject } from '../../wire/tree.js';
import { limitsOf } from '../run/uploads.js';
import { admitRows, merchantRefusal, type RowsAsked } from '../run/kind.js';
import { isProblem } from '../../base/problem.js';
import { errorsOf, parseUpload } from './request.js';
import { rowsRefusal, type Caller } from '../../http/gate.js';
import { IDEMPOTENCY_HEADER, takenKey, unusableKey } from '../../http/idempotency.js';
import { codedProblem } from '../../http/problem.js';
import type { Request } from '../../http/reply.js';
import type { Status } from '../../http/status.js';
import type { DuplexExchange } from '../../http/duplex-exchange.js';
import { usedUp } from '../run/handler.js';
import { JobCreation, type CreationServices } from './create.js';

/** Stands in for the kind of rows until the body has named it. */
const ANY_ROWS: RowsAsked = { kind: 'lookup', defaults: {} };

/** Begins a job, or refuses it before its body is read. */
export function openJob(
  services: CreationServices, caller: Caller, request: Request, exchange: DuplexExchange,
): void {
  const { jobs, releases, baseUrl, underWay } = services;
  const { key, fields, query } = caller;
  const { limits, kinds, usage } = jobs.options;
  const refuse = (status: Status, detail: string, members: WireObject = {}): void => {
    const kind = asked === null || isProblem(asked) ? ANY_ROWS.kind : asked.kind;
    exchange.send(caller.problem(
      status, detail, undefined, { limits: limitsOf(limits, kind), ...members },
    ));
  };
  const isReference = /^\s*application\/json\s*(?:;|$)/i.test(request.header('content-type'));
  const asked = isReference ? null
    : parseUpload((name) => request.header(name), query, kinds.map(({ kind }) => kind));
  const [stray] = asked === null ? new URLSearchParams(query).keys() : [];
  if (stray !== undefined) {
    const detail = 'The options of a job that names a file are members of its body.';
    return refuse(422, detail, { errors: [{ location: `query.${stray}`, message: detail }] });
  }
  if (asked !== null && isProblem(asked)) {
    return refuse(asked.status, asked.detail, errorsOf(asked));
  }
  const unscoped = asked === null ? null : rowsRefusal(key, asked.kind);
  if (unscoped !== null) return refuse(403, unscoped);
  if (Number(request.header('content-length') || 0) > limits.bytesMax) {
    return refuse(413, `A body may have ${limits.bytesMax} bytes.`, { limit: limits.bytesMax });
  }
  const unfit = asked === null
    ? null : merchantRefusal(jobs.options.findMerchant, key.account, asked.bulk);
  if (unfit !== null) {
    return refuse(403, unfit, { errors: [{ location: 'query.merchantId', message: unfit }] });
  }
  const token = request.header(IDEMPOTENCY_HEADER);
  const unfitKey = token === '' ? null : unusableKey(token)
    ?? (underWay.has(`${key.account}\n${token}`) ? takenKey('running', 'body') : null);
  if (unfitKey !== null) {
    const { status, detail, errors } = unfitKey;
    return refuse(status, detail, { errors });
  }
  const limit = jobs.full(key.account);
  if (limit !== null) {
    return refuse(429, `The account has ${limit} jobs; remove one or wait.`, { limit });
  }
  const spent = usedUp((rows) => admitRows(usage, key, asked?.bulk ?? ANY_ROWS, rows));
  if (spent) {
    return exchange.send(codedProblem('feature-not-enabled', JOBS_PATH, baseUrl, fields,
      'The quota of this month is used up.'));
  }
  const release = releases.pin();
  if (release === null) return refuse(503, 'No rates are loaded now; try again later.');
  releases.unpin(release);
  void new JobCreation(services, caller, request, exchange, asked, release.id);
}
