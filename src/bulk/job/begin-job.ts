/** A job from its head: refused before its body is read, or begun. */
import { faultOf } from '../../log.js';
import type { Caller } from '../../http/gate.js';
import type { Request } from '../../http/reply.js';
import type { DuplexExchange } from '../../http/duplex-exchange.js';
import { type CreationServices, JobCreation, spentReply } from './create.js';
import { type BulkProblem, refused } from '../run/request.js';
import { isProblem, problem, type Problem } from '../../base/problem.js';
import { headRefusal, noJob, parseUpload } from './job-request.js';
import { diskRefusal } from './stored-body.js';
import { IDEMPOTENCY_HEADER, takenKey, unusableKey } from '../../http/idempotency-key.js';

/** Stands in for the kind of rows until the body has named it. */
const ANY_KIND = 'lookup';

/** Why an Idempotency-Key cannot be used for one more body; null where it can. */
function unfitToken(
  { underWay }: CreationServices,
  account: string,
  token: string,
): Problem | null {
  const isUnderWay = underWay.has(`${account}\n${token}`);
  return unusableKey(token) ?? (isUnderWay ? takenKey('running', 'body') : null);
}

/** Begins a job, or refuses it before its body is read. */
export function openJob(
  services: CreationServices,
  caller: Caller,
  request: Request,
  exchange: DuplexExchange,
): void {
  const { jobs, releases } = services;
  const { key, query } = caller;
  const { limits, kinds } = jobs.options;
  const refuse = (why: BulkProblem): void => {
    const kind = asked === null || isProblem(asked) ? ANY_KIND : asked.kind;
    exchange.send(noJob(caller, limits, kind, why));
  };
  const isReference = /^\s*application\/json\s*(?:;|$)/i.test(request.header('content-type'));
  const asked = isReference
    ? null
    : parseUpload(
        (name) => request.header(name),
        query,
        kinds.map(({ kind }) => kind),
      );
  const [stray] = asked === null ? new URLSearchParams(query).keys() : [];
  if (stray !== undefined) {
    const detail = 'The options of a job that names a file are members of its body.';
    return refuse(refused(422, detail, `query.${stray}`));
  }
  if (asked !== null && isProblem(asked)) return refuse(asked);
  const refusal = headRefusal(services, key, request, asked);
  if (refusal !== null) return refuse(refusal);
  const token = request.header(IDEMPOTENCY_HEADER);
  const unfitKey = token === '' ? null : unfitToken(services, key.account, token);
  if (unfitKey !== null) return refuse(unfitKey);
  const limit = jobs.full(key.account);
  if (limit !== null) {
    const detail = `The account has ${limit} jobs; remove one or wait.`;
    return refuse({ ...problem(429, detail), members: { limit } });
  }
  const spent = asked === null ? null : spentReply(services, caller, asked.bulk);
  if (spent !== null) return exchange.send(spent);
  const release = releases.pin();
  if (release === null) return refuse(problem(503, 'No rates are loaded now; try again later.'));
  releases.unpin(release);
  begin(services, caller, request, exchange, asked, release.id);
}

/** A disk that does not take the folder of a job refuses it as one that does not take its body. */
function begin(...job: ConstructorParameters<typeof JobCreation>): void {
  const [{ jobs, log }, caller, , exchange, asked] = job;
  try {
    void new JobCreation(...job);
  } catch (error) {
    log.error('job not made', { fault: faultOf(error) });
    const kind = asked?.kind ?? ANY_KIND;
    exchange.send(noJob(caller, jobs.options.limits, kind, diskRefusal(error)));
  }
}
