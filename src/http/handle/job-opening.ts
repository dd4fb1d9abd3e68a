/** The beginning of a request for a job: what can be refused before its body is read. */
import { IDEMPOTENCY_KEY_CHARS_MAX } from '../../store/idempotency.js';
import { JOBS_PATH } from '../../wire/bulk/job-body.js';
import type { WireObject } from '../../wire/tree.js';
import { limitsOf } from '../bulk/desk.js';
import { admitRows, merchantRefusal, type RowsAsked } from '../bulk/kind.js';
import { codedProblem } from '../coded-problem.js';
import { isJobProblem, parseUpload } from '../jobs/request.js';
import { IDEMPOTENCY_HEADER, IDEMPOTENCY_KEY } from '../merchant-gate.js';
import { problemReply } from '../problem.js';
import type { Request } from '../reply.js';
import type { Status } from '../status.js';
import type { StreamExchange } from '../stream-exchange.js';
import { usedUp, type Caller } from './bulk.js';
import { IN_USE, Making, RUNNING, type JobMaking } from './job-making.js';

/** Of a body that is still to name its kind. */
const ANY_ROWS: RowsAsked = { kind: 'lookup', defaults: {} };

/** Begins a job, or refuses it before its body is read. */
export function openJob(
  making: JobMaking, caller: Caller, request: Request, exchange: StreamExchange,
): void {
  const { jobs, releases, baseUrl, underWay } = making;
  const { key, fields, query } = caller;
  const { limits, kinds, usage } = jobs.options;
  const refuse = (status: Status, detail: string, members: WireObject = {}): void => {
    const kind = asked === null || isJobProblem(asked) ? ANY_ROWS.kind : asked.kind;
    exchange.send(problemReply({
      status, detail, instance: JOBS_PATH, members: { limits: limitsOf(limits, kind), ...members },
    }, fields));
  };
  const isReference = /^\s*application\/json\s*(?:;|$)/i.test(request.header('content-type'));
  const asked = isReference ? null
    : parseUpload((name) => request.header(name), query, kinds.map(({ kind }) => kind));
  const [stray] = asked === null ? new URLSearchParams(query).keys() : [];
  if (stray !== undefined) {
    const detail = 'The options of a job that names a file are members of its body.';
    return refuse(422, detail, { errors: [{ location: `query.${stray}`, message: detail }] });
  }
  if (asked !== null && isJobProblem(asked)) {
    const { status, detail, location } = asked;
    return refuse(status, detail, { errors: [{ location, message: detail }] });
  }
  if (Number(request.header('content-length') || 0) > limits.bytesMax) {
    return refuse(413, `A body may have ${limits.bytesMax} bytes.`, { limit: limits.bytesMax });
  }
  const unfit = asked === null
    ? null : merchantRefusal(jobs.options.findMerchant, key.account, asked.bulk);
  if (unfit !== null) {
    return refuse(403, unfit, { errors: [{ location: 'query.merchantId', message: unfit }] });
  }
  const token = request.header(IDEMPOTENCY_HEADER);
  if (token !== '' && (token.length > IDEMPOTENCY_KEY_CHARS_MAX || !IDEMPOTENCY_KEY.test(token))) {
    return refuse(400, 'The Idempotency-Key cannot be used.', {
      errors: [{
        location: 'header.Idempotency-Key',
        message: `expected 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} printable ASCII characters`,
      }],
    });
  }
  if (token !== '' && underWay.has(`${key.account}\n${token}`)) return refuse(409, RUNNING, IN_USE);
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
  if (release === null) return refuse(503, 'No dataset is active.');
  releases.unpin(release);
  void new Making(making, caller, request, exchange, asked, release.id);
}
